//! Daemons that come late, go in between, or are of another version.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::agent::{Agent, Era, refusal};
use super::app::App;
use super::cancel::cancel;
use crate::fake_daemon::{Answer, FakeDaemon, error, plain_status, result, status};
use crate::transcripts::start_daemon;

const SESSION: &str = r#"{"sessionId":"s1","alias":"pixel-8","state":"active","device":{"model":"Pixel 8"},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":1}"#;

#[test]
fn a_server_goes_on_with_a_daemon_that_was_restarted() {
    let mut app = App::start();
    let mut agents = Era::BOTH.map(|era| Agent::start(&app.place, &[], era));
    for agent in &mut agents {
        assert_eq!(agent.call("sum", json!({"a": 1, "b": 1})), json!({"total": 2}));
    }
    app.place.run(&["daemon", "stop"]).ok();
    drop(app.daemon.take());
    app.daemon = Some(start_daemon(&app.place));
    app.place.run(&["wait", "playground", "--tool", "sum", "--timeout", "60"]).ok();
    for agent in &mut agents {
        assert_eq!(agent.call("sum", json!({"a": 2, "b": 2})), json!({"total": 4}));
    }
}

#[test]
fn an_app_that_did_not_come_back_has_not_lost_its_tools() {
    let App { playground, daemon, place } = App::start();
    let mut agent = Agent::start(&place, &[], Era::Handshake);
    assert_eq!(agent.answer("appduct_list_tools", json!({}))["total"], 5);
    drop(daemon);
    drop(playground);
    let _daemon = start_daemon(&place);
    for (tool, arguments) in [
        ("appduct_list_tools", json!({})),
        ("appduct_describe_tool", json!({"name": "sum"})),
        ("appduct_call_tool", json!({"name": "sum"})),
        ("appduct_list_events", json!({})),
    ] {
        let result = agent.tool(tool, arguments);
        assert!(refusal(&result).starts_with("session_suspended: the app has not come back"), "{tool}: {result}");
        assert_eq!(result["_meta"]["appduct/session"]["alias"], "playground");
    }
}

#[test]
fn an_app_that_has_just_connected_is_waited_for_until_it_has_told_its_tools() {
    let told = AtomicBool::new(false);
    let daemon = FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        "sessions.describe" if told.load(Ordering::SeqCst) => result(SESSION),
        "sessions.describe" => result(SESSION.replace("\"toolCount\":1", "\"toolCount\":0,\"toolsPending\":true")),
        "events.subscribe" => {
            told.store(true, Ordering::SeqCst);
            result(r#"{"ok":true}"#)
        }
        "tools.list" => {
            let tools = if told.load(Ordering::SeqCst) { r#"[{"name":"pay","policy":"allow"}]"# } else { "[]" };
            result(format!(r#"{{"tools":{tools},"total":1,"groups":[]}}"#))
        }
        _ => error("invalid_request", "not in the script"),
    });
    let mut agent = Agent::start(&daemon.place, &[], Era::Inline);
    assert_eq!(agent.answer("appduct_list_tools", json!({}))["tools"][0]["name"], "pay");
    assert!(
        daemon.seen().iter().any(|(method, params)| method == "events.subscribe" && params["sessionSelector"] == "s1")
    );
}

#[test]
fn a_wait_ends_with_the_daemon() {
    let mut app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let id = agent.ask_tool("appduct_call_tool", json!({"name": "slow_task"}));
    app.playground.says("slow_task started");
    drop(app.daemon.take());
    let result = agent.result(id);
    assert_eq!(result["isError"], true, "{result}");
}

#[test]
fn an_older_daemon_that_must_stay_is_a_failed_call_and_no_dead_server() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => status(&json!({"version": "0.0.1", "sessions": [{}]})),
        _ => error("invalid_request", "not in the script"),
    });
    let mut agent = Agent::start(&daemon.place, &[], Era::Handshake);
    for _ in 0..2 {
        let said = agent.refusal("appduct_sessions", json!({}));
        assert!(said.starts_with("connection_error: ") && said.contains("0.0.1"), "{said}");
    }
    assert!(agent.request("tools/list", json!({}))["result"].is_object());
    assert!(daemon.seen().is_empty());
}

#[test]
fn a_newer_daemon_is_told_once_and_works() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => status(&json!({"version": "99.0.0"})),
        "sessions.list" => result("[]"),
        _ => error("invalid_request", "not in the script"),
    });
    let mut agent = Agent::noticing(&daemon.place);
    for _ in 0..2 {
        assert_eq!(agent.answer("appduct_sessions", json!({})), json!({"sessions": []}));
    }
    let notices = agent.notices();
    assert_eq!(notices.lines().count(), 1, "{notices}");
    assert!(notices.contains("99.0.0") && notices.contains(env!("CARGO_PKG_VERSION")), "{notices}");
}

/// A daemon that knows no groups.
fn without_groups() -> FakeDaemon {
    FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "sessions.describe" => result(SESSION),
        "tools.list" => result(r#"{"tools":[{"name":"pay","description":"Pays.","policy":"allow"}],"total":1}"#),
        "tools.call" => result(r#"{"result":null,"callId":"call_1"}"#),
        _ => error("invalid_request", "not in the script"),
    })
}

#[test]
fn a_daemon_without_groups_fails_what_needs_them_only() {
    let daemon = without_groups();
    let mut agent = Agent::start(&daemon.place, &[], Era::Handshake);
    let said = agent.refusal("appduct_list_tools", json!({"group": "checkout"}));
    assert!(said.starts_with("connection_error: ") && said.contains("too old to know groups"), "{said}");
    let listed = agent.answer("appduct_list_tools", json!({}));
    assert!(listed.get("groups").is_none(), "{listed}");
    assert_eq!(listed["tools"][0]["group"], Value::Null);
    assert_eq!(agent.tool("appduct_call_tool", json!({"name": "pay"}))["content"][0]["text"], "null");

    let mut bounded = Agent::start(&daemon.place, &["--group", "checkout"], Era::Handshake);
    for (tool, arguments) in [
        ("appduct_list_tools", json!({})),
        ("appduct_describe_tool", json!({"name": "pay"})),
        ("appduct_call_tool", json!({"name": "pay"})),
    ] {
        let said = bounded.refusal(tool, arguments);
        assert!(said.starts_with("connection_error: "), "{tool}: {said}");
    }
    let calls = daemon.seen().iter().filter(|(method, _)| method == "tools.call").count();
    assert_eq!(calls, 1);
}

#[test]
fn a_call_says_who_calls_and_follows_itself() {
    let daemon = without_groups();
    let mut agent = Agent::start(&daemon.place, &[], Era::Inline);
    agent.tool("appduct_call_tool", json!({"name": "pay", "args": {"n": 1}, "timeoutMs": 2000}));
    let expected = json!({
        "selector": "s1", "name": "pay", "args": {"n": 1}, "timeoutMs": 2000, "caller": "mcp", "follow": true,
    });
    assert_eq!(daemon.seen().last().unwrap().1, expected);
}

/// It says nothing of a call before its end. What ends a call there is the end of its connection.
#[test]
fn a_call_is_taken_back_from_a_daemon_that_does_not_follow_calls() {
    for (era, meta) in [(Era::Handshake, json!({})), (Era::Inline, json!({"progressToken": 7}))] {
        let daemon = FakeDaemon::new(|method, _| match method {
            "daemon.status" => plain_status(),
            "sessions.describe" => result(SESSION),
            "tools.list" => result(r#"{"tools":[{"name":"pay","policy":"allow"}],"total":1}"#),
            "tools.call" => Answer::Silence,
            _ => error("invalid_request", "not in the script"),
        });
        let mut agent = Agent::start(&daemon.place, &[], era);
        let params = json!({"name": "appduct_call_tool", "arguments": {"name": "pay"}, "_meta": meta});
        let id = agent.ask("tools/call", params);
        daemon.is_asked("tools.call");
        cancel(&mut agent, id);
        daemon.is_left_after("tools.call");
        assert!(agent.request("tools/list", json!({}))["result"].is_object());
        assert!(agent.aside.is_empty(), "{:?}", agent.aside);
        assert!(daemon.seen().iter().all(|(method, _)| method != "tools.cancel"));
    }
}

#[test]
fn a_daemon_that_goes_during_a_wait_fails_it_at_once() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "sessions.describe" => result(SESSION),
        "events.subscribe" => Answer::Farewell(Vec::new()),
        _ => error("invalid_request", "not in the script"),
    });
    let mut agent = Agent::start(&daemon.place, &[], Era::Handshake);
    let said = agent.refusal("appduct_wait_for_event", json!({"name": "*", "timeoutMs": 1_500_000}));
    assert!(said.starts_with("tool_execution_error: the daemon went away"), "{said}");
}

#[test]
fn events_are_flat_and_a_wait_takes_the_next_one() {
    let event = |seq: u64| {
        format!(
            r#"{{"kind":"app_event","sessionId":"s1","alias":"pixel-8","data":{{"name":"order","payload":{{"n":{seq}}},"ts":1}},"ts":5,"seq":{seq}}}"#
        )
    };
    let daemon = FakeDaemon::new(move |method, params| match method {
        "daemon.status" => plain_status(),
        "sessions.describe" => result(SESSION),
        "events.subscribe" => Answer::Stream(vec![event(9)]),
        "events.since" if params["since"] == 3 => {
            result(format!(r#"{{"events":[{}],"cursor":4,"dropped":2,"remaining":0}}"#, event(4)))
        }
        "events.since" => result(r#"{"events":[],"cursor":0,"dropped":0,"remaining":0}"#),
        _ => error("invalid_request", "not in the script"),
    });
    let flat = |seq: u64| json!({"name": "order", "payload": {"n": seq}, "ts": 5, "seq": seq, "sessionId": "s1", "alias": "pixel-8"});
    let mut agent = Agent::start(&daemon.place, &[], Era::Handshake);
    let page = agent.answer("appduct_events", json!({"since": 3}));
    assert_eq!(page, json!({"events": [flat(4)], "cursor": 4, "dropped": 2, "remaining": 0}));
    let (mut before, mut after) = (flat(4), flat(9));
    before["dropped"] = json!(2);
    after["dropped"] = json!(0);
    assert_eq!(agent.answer("appduct_wait_for_event", json!({"name": "order", "since": 3})), before);
    assert_eq!(agent.answer("appduct_wait_for_event", json!({"name": "order"})), after);
    assert_eq!(agent.answer("appduct_wait_for_event", json!({"name": "order", "since": 8})), after);
}

#[test]
fn a_page_is_attached_through_its_browser() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "web.attach" => {
            result(r#"{"sessionId":"s2","url":"http://localhost/shop","targetId":"T1","expiresAt":1773741600}"#)
        }
        _ => error("invalid_request", "not in the script"),
    });
    let mut agent = Agent::start(&daemon.place, &[], Era::Handshake);
    let page =
        json!({"target": "web", "url": "http://localhost/", "browserUrl": "http://127.0.0.1:9222", "targetId": "T1"});
    let attached = agent.answer("appduct_connect", page);
    let expected = json!({"sessionId": "s2", "url": "http://localhost/shop", "targetId": "T1", "expiresAt": 1_773_741_600, "attached": true});
    assert_eq!(attached, expected);
    let asked = json!({"url": "http://localhost/", "browserUrl": "http://127.0.0.1:9222", "targetId": "T1"});
    assert_eq!(daemon.seen(), [("web.attach".to_owned(), asked)]);
    let said = agent.refusal("appduct_connect", json!({"target": "none", "browserUrl": "http://127.0.0.1:9222"}));
    assert!(said.contains("\"browserUrl\" is only for the target web"), "{said}");
}
