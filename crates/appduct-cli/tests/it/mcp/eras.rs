//! What a client sees first, in both eras.

use serde_json::{Value, json};

use super::agent::{Agent, Era};
use super::app::App;
use crate::run::Place;

const NAMES: [&str; 9] = [
    "appduct_sessions",
    "appduct_list_tools",
    "appduct_describe_tool",
    "appduct_call_tool",
    "appduct_connect",
    "appduct_wait_for_session",
    "appduct_list_events",
    "appduct_events",
    "appduct_wait_for_event",
];

#[test]
fn a_server_needs_no_daemon_and_touches_nothing_to_say_what_it_can() {
    for era in Era::BOTH {
        let place = Place::new();
        let mut agent = Agent::start(&place, &[], era);
        let listed = agent.request("tools/list", json!({}));
        assert!(listed.to_string().len() < 8192, "{} bytes", listed.to_string().len());
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, NAMES);
        let resources = agent.request("resources/list", json!({}));
        assert_eq!(resources["result"]["resources"][0]["uri"], "appduct://sessions");
        assert_eq!(agent.finish(), Some(0));
        assert!(!place.state_dir().exists(), "{era:?}");
    }
}

#[test]
fn both_openings_say_what_the_server_is_for() {
    let place = Place::new();
    let mut agent = Agent::bare(&place, &[], Era::Inline, json!({}));
    let discovered = agent.request("server/discover", json!({}))["result"].clone();
    assert!(discovered["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{discovered}");
    let mut agent = Agent::bare(&place, &[], Era::Handshake, json!({}));
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let opened = agent.request("initialize", params)["result"].clone();
    for said in [discovered, opened] {
        assert!(said["instructions"].as_str().unwrap().starts_with("Use these tools to inspect and drive"), "{said}");
        assert_eq!(said["capabilities"], json!({"tools": {}, "resources": {}}));
    }
}

#[test]
fn what_comes_before_the_opening_does_no_harm() {
    let place = Place::new();
    let mut agent = Agent::bare(&place, &[], Era::Inline, json!({}));
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}));
    agent.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    assert!(agent.request("server/discover", json!({}))["result"].is_object());
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(agent.request("tools/list", json!({}))["result"].is_object());
    assert_eq!(agent.finish(), Some(0));
}

#[test]
fn tools_are_listed_by_group_described_and_called() {
    let app = App::start();
    for era in Era::BOTH {
        let mut agent = Agent::start(&app.place, &[], era);
        let sessions = agent.answer("appduct_sessions", json!({}));
        assert_eq!(sessions["sessions"][0]["alias"], "playground", "{sessions}");

        let all = agent.answer("appduct_list_tools", json!({"limit": 1}));
        assert_eq!((&all["total"], all["tools"].as_array().unwrap().len()), (&json!(5), 1));
        let groups = json!([
            {"group": "counter", "total": 2},
            {"group": "diagnostics", "total": 2},
            {"group": "diagnostics/progress", "total": 1},
            {"group": null, "total": 1},
        ]);
        assert_eq!(all["groups"], groups);
        let some = agent.answer("appduct_list_tools", json!({"group": "diagnostics"}));
        let listed: Vec<_> =
            some["tools"].as_array().unwrap().iter().map(|tool| (&tool["name"], &tool["group"])).collect();
        let (progress, plain) = (json!("diagnostics/progress"), json!("diagnostics"));
        assert_eq!(listed, [(&json!("slow_task"), &progress), (&json!("throwing_tool"), &plain)]);
        assert_eq!((&some["group"], &some["groups"]), (&plain, &groups));
        let wrong = agent.refusal("appduct_list_tools", json!({"group": "no group"}));
        assert!(wrong.starts_with("invalid_request: "), "{wrong}");

        let slow = agent.answer("appduct_describe_tool", json!({"name": "slow_task"}));
        assert_eq!((&slow["group"], &slow["timeout_ms"], &slow["policy"]), (&progress, &json!(5000), &json!("allow")));

        let result = agent.tool("appduct_call_tool", json!({"name": "sum", "args": {"a": 2, "b": 3}}));
        assert_eq!(result["structuredContent"], json!({"total": 5}));
        assert_eq!(result["content"], json!([{"type": "text", "text": "{\"total\":5}"}]));
        let about = &result["_meta"]["appduct/session"];
        assert_eq!((&about["alias"], &about["device"]["model"]), (&json!("playground"), &json!("Playground")));
        assert_eq!(about["sessionId"], sessions["sessions"][0]["sessionId"]);

        let read = agent.request("resources/read", json!({"uri": "appduct://sessions"}));
        let text: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, sessions["sessions"]);
        let missing = agent.request("resources/read", json!({"uri": "appduct://other"}));
        assert!(missing["error"]["message"].as_str().unwrap().contains("appduct://sessions"), "{missing}");
        assert_eq!(missing["error"]["data"], json!({"uri": "appduct://other"}));
        assert_eq!(agent.finish(), Some(0));
    }
}

#[test]
fn several_servers_share_a_daemon() {
    let app = App::start();
    let mut agents: Vec<_> =
        Era::BOTH.iter().chain(&Era::BOTH).map(|era| Agent::start(&app.place, &[], *era)).collect();
    let args = |at: usize| json!({"name": "sum", "args": {"a": at, "b": 100}});
    let ids: Vec<_> =
        agents.iter_mut().enumerate().map(|(at, agent)| agent.ask_tool("appduct_call_tool", args(at))).collect();
    for (at, (agent, id)) in agents.iter_mut().zip(ids).enumerate().rev() {
        assert_eq!(agent.result(id)["structuredContent"], json!({"total": at + 100}));
    }
}
