//! Servers that are for one session, or for some groups.

use serde_json::json;

use super::agent::{Agent, Era};
use super::app::App;

#[test]
fn a_server_for_groups_shows_and_calls_nothing_else() {
    let app = App::start();
    let args = ["--group", "counter", "--group", "diagnostics/progress"];
    let mut agent = Agent::start(&app.place, &args, Era::Handshake);
    let listed = agent.answer("appduct_list_tools", json!({"limit": 2, "offset": 1}));
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!((names, &listed["total"]), (vec![&json!("reset_counter"), &json!("slow_task")], &json!(3)));
    let groups = json!([{"group": "counter", "total": 2}, {"group": "diagnostics/progress", "total": 1}]);
    assert_eq!(listed["groups"], groups);
    let parent = agent.answer("appduct_list_tools", json!({"group": "diagnostics"}));
    assert_eq!((&parent["total"], &parent["tools"][0]["name"]), (&json!(1), &json!("slow_task")));

    assert_eq!(agent.answer("appduct_describe_tool", json!({"name": "call_count"}))["group"], "counter");
    assert_eq!(agent.call("call_count", json!({})), json!({"count": 0}));
    for (tool, name) in
        [("appduct_describe_tool", "sum"), ("appduct_call_tool", "sum"), ("appduct_call_tool", "throwing_tool")]
    {
        let said = agent.refusal(tool, json!({"name": name}));
        assert!(said.starts_with("tool_not_found: ") && said.contains("counter, diagnostics/progress"), "{said}");
    }
}

#[test]
fn a_server_for_a_session_reaches_no_other() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &["--session", "playground"], Era::Inline);
    assert_eq!(agent.call("sum", json!({"a": 1, "b": 1})), json!({"total": 2}));
    assert_eq!(agent.answer("appduct_events", json!({"selector": "playground"}))["cursor"], 0);
    let said = agent.refusal("appduct_list_tools", json!({"selector": "pixel-8"}));
    assert!(said.starts_with("invalid_request: ") && said.contains("only for the session \"playground\""), "{said}");

    let mut other = Agent::start(&app.place, &["--session", "pixel-8"], Era::Inline);
    assert_eq!(other.answer("appduct_sessions", json!({})), json!({"sessions": []}));
    let said = other.refusal("appduct_call_tool", json!({"name": "sum"}));
    assert!(said.starts_with("unknown_session: "), "{said}");
}
