//! Calls: from a client through the daemon to an app, and back.

use std::time::Duration;

use appduct_proto::wire::{Fields, Length};
use serde_json::{Value, json};

use crate::harness::{App, Control, Daemon, eventually};

fn daemon_and_app() -> (Daemon, App) {
    let daemon = Daemon::start();
    let tools = json!([
        {"name": "pay", "description": "Pays.", "group": "checkout", "timeout_ms": 600_000},
        {"name": "wipe", "description": "Wipes.", "annotations": {"destructiveHint": true}},
    ]);
    let app = daemon.app_with_tools("x", tools);
    (daemon, app)
}

fn answer(app: &mut App, id: &Value, kind: &str, rest: Value) {
    let mut frame = json!({"type": kind, "session_id": app.session_id, "id": id});
    frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    app.send(frame);
}

fn tool_call(app: &mut App) -> Value {
    let frame = app.frame();
    assert_eq!(frame["type"], "tool_call", "{frame}");
    frame
}

fn reply(control: &mut Control, id: u64) -> Value {
    loop {
        let value = control.value();
        if value["id"] == id {
            return value;
        }
    }
}

#[test]
fn args_and_result_pass_byte_for_byte() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let args = r#"{"amount" : 1.0,"note":"\ud800 é","huge":123456789012345678901234567890}"#;
    control.send(&format!(r#"{{"id":"a","method":"tools.call","params":{{"name":"pay","args":{args}}}}}"#));
    let text = app.text();
    assert!(text.contains(args), "{text}");
    let id = Fields::parse(&text).unwrap().text("id", Length::ID).unwrap().into_owned();
    assert!(id.starts_with("call_") && id.len() == 27, "{id}");
    let result = r#"[ 1.0, "\udfff", {"k" :-0}]"#;
    app.send_text(&format!(
        r#"{{"type":"tool_result","session_id":"{}","id":"{id}","result":{result}}}"#,
        app.session_id
    ));
    let expected =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{{\"result\":{result},\"callId\":\"{id}\"}}}}\n");
    assert_eq!(control.line().unwrap(), expected);
}

#[test]
fn an_error_of_the_app_passes_word_for_word() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = tool_call(&mut app);
    let error = json!({"type": "tool_execution_error", "message": "No stock.", "details": {"sku": 7}});
    answer(&mut app, &call["id"], "tool_error", json!({"error": error}));
    let error = reply(&mut control, id)["error"].clone();
    assert_eq!(error["code"], -32000);
    assert_eq!(error["message"], "No stock.");
    assert_eq!(error["data"], json!({"type": "tool_execution_error", "details": {"sku": 7}}));
}

#[test]
fn events_and_reply_of_a_call_come_in_order() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    control.call("events.subscribe", json!({})).unwrap();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = tool_call(&mut app);
    answer(&mut app, &call["id"], "tool_call_progress", json!({"progress": 0.5, "message": "half"}));
    answer(&mut app, &call["id"], "tool_result", json!({"result": null}));
    let mut seen = Vec::new();
    loop {
        let value = control.value();
        if value["id"] == id {
            assert_eq!(value["result"], json!({"result": null, "callId": call["id"]}));
            break;
        }
        seen.push(value["params"].clone());
    }
    let kinds: Vec<_> = seen.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call_started", "tool_call_progress", "tool_call_finished"]);
    assert_eq!(seen[1]["data"], json!({"callId": call["id"], "progress": 0.5, "message": "half"}));
    let finished = &seen[2]["data"];
    assert_eq!((&finished["name"], &finished["outcome"]), (&json!("pay"), &json!("ok")));
    assert!(finished["durationMs"].is_u64() && finished.get("errorType").is_none());
    assert_eq!((&seen[2]["alias"], &seen[2]["seq"]), (&json!("x"), &json!(0)));
}

fn kinds_until_reply(control: &mut Control, id: u64) -> Vec<(String, Value)> {
    let mut seen = Vec::new();
    loop {
        let value = control.value();
        if value["id"] == id {
            return seen;
        }
        let params = &value["params"];
        seen.push((params["kind"].as_str().unwrap().to_owned(), params["data"]["callId"].clone()));
    }
}

#[test]
fn a_followed_call_tells_its_own_events_and_no_others() {
    let (daemon, mut app) = daemon_and_app();
    let (mut follower, mut other) = (daemon.control(), daemon.control());
    let params = json!({"name": "pay", "args": {}, "follow": true});
    let first = follower.request("tools.call", params);
    let followed = tool_call(&mut app);
    let second = other.request("tools.call", json!({"name": "pay", "args": {}}));
    let unfollowed = tool_call(&mut app);
    for call in [&unfollowed, &followed] {
        answer(&mut app, &call["id"], "tool_call_progress", json!({"progress": 0.5}));
        answer(&mut app, &call["id"], "tool_result", json!({"result": null}));
    }
    let kinds = ["tool_call_started", "tool_call_progress", "tool_call_finished"];
    let expected = kinds.map(|kind| (kind.to_owned(), followed["id"].clone()));
    assert_eq!(kinds_until_reply(&mut follower, first), expected);
    assert_eq!(kinds_until_reply(&mut other, second), []);
}

#[test]
fn a_follower_that_has_subscribed_hears_everything_once() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    control.call("events.subscribe", json!({"kinds": ["tool_call_started"]})).unwrap();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}, "follow": true}));
    let call = tool_call(&mut app);
    answer(&mut app, &call["id"], "tool_result", json!({"result": null}));
    let expected = ["tool_call_started", "tool_call_finished"].map(|kind| (kind.to_owned(), call["id"].clone()));
    assert_eq!(kinds_until_reply(&mut control, id), expected);
}

#[test]
fn calls_reach_the_app_that_they_name() {
    let daemon = Daemon::start();
    let tool = json!([{"name": "who", "description": "Says who."}]);
    let mut first = daemon.app_with_tools("x", tool.clone());
    let mut second = daemon.app_with_tools("x", tool);
    let error = daemon.call("tools.call", json!({"name": "who", "args": {}})).unwrap_err();
    assert_eq!(error["data"]["type"], "ambiguous_session");
    assert!(error["message"].as_str().unwrap().contains("x, x-2"), "{error}");

    let mut control = daemon.control();
    let to_second = control.request("tools.call", json!({"selector": "x-2", "name": "who", "args": {}}));
    let to_first = control.request("tools.call", json!({"selector": "x", "name": "who", "args": {}}));
    for (app, name) in [(&mut first, "first"), (&mut second, "second")] {
        let call = tool_call(app);
        answer(app, &call["id"], "tool_result", json!({"result": name}));
    }
    let mut replies = [control.value(), control.value()];
    replies.sort_by_key(|reply| reply["id"].as_u64());
    assert_eq!((&replies[0]["id"], &replies[0]["result"]["result"]), (&json!(to_second), &json!("second")));
    assert_eq!((&replies[1]["id"], &replies[1]["result"]["result"]), (&json!(to_first), &json!("first")));
}

#[test]
fn an_unknown_tool_and_a_bad_request_send_no_frame() {
    let (daemon, mut app) = daemon_and_app();
    for (params, kind) in [
        (json!({"name": "nope", "args": {}}), "tool_not_found"),
        (json!({"name": "pay", "args": []}), "invalid_request"),
        (json!({"name": "pay"}), "invalid_request"),
        (json!({"name": "", "args": {}}), "invalid_request"),
        (json!({"name": "pay", "args": {}, "consent": "yes"}), "invalid_request"),
        (json!({"name": "pay", "args": {}, "selector": "nobody"}), "unknown_session"),
    ] {
        let error = daemon.call("tools.call", params.clone()).unwrap_err();
        assert_eq!(error["data"]["type"], kind, "{params}");
    }
    // The next frame that the app sees is this ping's answer.
    app.ws.send(tokio_tungstenite::tungstenite::Message::Ping(b"1".to_vec().into())).unwrap();
    assert!(app.ws.read().unwrap().is_pong());
}

#[test]
fn arguments_that_fit_into_no_frame_fail_that_call_only() {
    let (daemon, mut app) = daemon_and_app();
    let error = daemon.call("tools.call", json!({"name": "pay", "args": {"a": "x".repeat(262_144)}})).unwrap_err();
    assert_eq!(error["data"]["type"], "tool_serialization_error");
    assert!(error["message"].as_str().unwrap().contains("262144"), "{error}");
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = tool_call(&mut app);
    answer(&mut app, &call["id"], "tool_result", json!({"result": 1}));
    assert_eq!(reply(&mut control, id)["result"]["result"], 1);
}

#[test]
fn a_result_over_the_limit_ends_the_call_and_not_the_session() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = tool_call(&mut app);
    answer(&mut app, &call["id"], "tool_result", json!({"result": "x".repeat(262_144)}));
    assert_eq!(reply(&mut control, id)["error"]["data"]["type"], "session_suspended");
    let (session, token) = (app.session_id.clone(), app.resume_token.clone());
    app.expect_close(1009, "");
    let mut again = daemon.socket();
    again.resume(&session, &token);
    again.expect_ack();
    assert_eq!(daemon.session(&session).unwrap()["toolCount"], 2);
}

#[test]
fn a_call_times_out_at_the_callers_deadline() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}, "timeoutMs": 1}));
    let call = tool_call(&mut app);
    daemon.clock.advance(Duration::from_millis(1000));
    daemon.sessions();
    let error = reply(&mut control, id)["error"].clone();
    assert_eq!(error["data"]["type"], "tool_timeout");
    assert!(error["message"].as_str().unwrap().contains("1000 ms"), "{error}");
    // The late answer is dropped and the session unharmed.
    answer(&mut app, &call["id"], "tool_result", json!({"result": 1}));
    app.send_snapshot(json!([]));
    eventually("the session goes on", || daemon.sessions()[0]["toolCount"] == 0);
}

#[test]
fn a_call_times_out_by_itself() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}, "timeoutMs": 1000}));
    tool_call(&mut app);
    assert_eq!(reply(&mut control, id)["error"]["data"]["type"], "tool_timeout");
}

#[test]
fn a_cancelled_call_ends_when_the_app_says_so() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = tool_call(&mut app);
    let cancel = |params| daemon.call("tools.cancel", params).unwrap();
    assert_eq!(cancel(json!({"callId": "call_nope"})), json!({"cancelled": false}));
    assert_eq!(cancel(json!({"callId": call["id"]})), json!({"cancelled": true}));
    let frame = app.frame();
    assert_eq!((&frame["type"], &frame["reason"]), (&json!("tool_cancel"), &json!("client_cancelled")));
    let error = json!({"type": "tool_cancelled", "message": "Stopped."});
    answer(&mut app, &call["id"], "tool_error", json!({"error": error}));
    assert_eq!(reply(&mut control, id)["error"]["data"]["type"], "tool_cancelled");
}

#[test]
fn a_client_that_vanishes_cancels_its_calls_and_nobody_elses() {
    let (daemon, mut app) = daemon_and_app();
    let mut staying = daemon.control();
    let kept = staying.request("tools.call", json!({"name": "pay", "args": {"n": 1}}));
    let kept_call = tool_call(&mut app);
    let mut leaving = daemon.control();
    leaving.request("tools.call", json!({"name": "pay", "args": {"n": 2}}));
    let left_call = tool_call(&mut app);
    drop(leaving);
    let frame = app.frame();
    assert_eq!((&frame["type"], &frame["id"]), (&json!("tool_cancel"), &left_call["id"]));
    assert_eq!(frame["reason"], "connection_closed");
    answer(&mut app, &kept_call["id"], "tool_result", json!({"result": "kept"}));
    assert_eq!(reply(&mut staying, kept)["result"]["result"], "kept");
}

#[test]
fn a_client_that_leaves_after_its_call_cancels_nothing() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = tool_call(&mut app);
    answer(&mut app, &call["id"], "tool_result", json!({"result": 1}));
    reply(&mut control, id);
    drop(control);
    app.ws.send(tokio_tungstenite::tungstenite::Message::Ping(b"1".to_vec().into())).unwrap();
    assert!(app.ws.read().unwrap().is_pong());
}

#[test]
fn a_call_whose_app_goes_or_comes_back_fails_with_the_reason() {
    let (daemon, mut app) = daemon_and_app();
    let mut control = daemon.control();
    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    tool_call(&mut app);
    let mut again = daemon.socket();
    again.resume(&app.session_id, &app.resume_token);
    again.expect_ack();
    let error = reply(&mut control, id)["error"].clone();
    assert_eq!(error["data"]["type"], "session_suspended");
    assert!(error["message"].as_str().unwrap().contains("reconnected"), "{error}");

    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    tool_call(&mut again);
    again.vanish();
    assert_eq!(reply(&mut control, id)["error"]["data"]["type"], "session_suspended");
}

#[test]
fn the_policy_decides_before_the_app_hears_anything() {
    let config = r#"{"wssPort":0,"policy":{"destructive":"prompt","groups":{"checkout":"deny"}}}"#;
    let daemon = Daemon::with_config(config);
    let tools = json!([
        {"name": "pay", "description": "Pays.", "group": "checkout"},
        {"name": "wipe", "description": "Wipes.", "annotations": {"destructiveHint": true}},
    ]);
    let mut app = daemon.app_with_tools("x", tools);
    let mut control = daemon.control();
    control.call("events.subscribe", json!({})).unwrap();
    let config_path = daemon.paths().config().display().to_string();

    let id = control.request("tools.call", json!({"name": "pay", "args": {}}));
    assert_eq!(control.event("tool_call_finished")["data"], json!({"name": "pay", "outcome": "denied"}));
    let error = reply(&mut control, id)["error"].clone();
    assert_eq!(error["data"]["type"], "policy_denied");
    assert!(error["data"]["details"]["hint"].as_str().unwrap().contains(&config_path), "{error}");

    let error = daemon.call("tools.call", json!({"name": "wipe", "args": {}})).unwrap_err();
    assert_eq!(error["data"]["details"]["reason"], "no_consent_channel");
    let agreed = json!({"name": "wipe", "args": {}, "consent": "elicitation", "caller": "mcp"});
    let id = control.request("tools.call", agreed);
    let call = tool_call(&mut app);
    assert_eq!(call["name"], "wipe");
    answer(&mut app, &call["id"], "tool_result", json!({"result": 1}));
    assert_eq!(reply(&mut control, id)["result"]["result"], 1);
}

#[test]
fn calls_in_flight_are_bounded() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"bounds":{"callsPerSession":1}}"#);
    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut control = daemon.control();
    control.request("tools.call", json!({"name": "a", "args": {}}));
    tool_call(&mut app);
    let error = daemon.call("tools.call", json!({"name": "a", "args": {}})).unwrap_err();
    assert_eq!(error["data"]["type"], "invalid_request");
    assert!(error["message"].as_str().unwrap().contains("bounds.callsPerSession"), "{error}");
}
