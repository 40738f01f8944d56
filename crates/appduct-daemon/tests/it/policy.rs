//! Which calls may be made, while the configuration changes.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{App, Daemon};

fn shop(daemon: &Daemon) -> App {
    daemon.app_with_tools(
        "Pixel 8",
        json!([
            {"name": "total", "description": "d", "group": "checkout"},
            {"name": "refund", "description": "d", "group": "checkout", "annotations": {"destructiveHint": true}},
            {"name": "wipe", "description": "d", "annotations": {"destructiveHint": true}},
            {"name": "ping", "description": "d"},
        ]),
    )
}

fn set_policy(daemon: &Daemon, policy: &str) {
    write_config(daemon, &format!(r#"{{"wssPort":0,"policy":{policy}}}"#));
}

fn write_config(daemon: &Daemon, text: &str) {
    fs::write(daemon.paths().config(), text).unwrap();
}

/// Whether a call of the tool reaches the app, which answers it then.
fn reaches(daemon: &Daemon, app: &mut App, tool: &str, extra: Value) -> Result<(), Value> {
    let mut params = json!({"name": tool, "args": {}, "timeoutMs": 600_000});
    params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let mut caller = daemon.control();
    let id = caller.request("tools.call", params);
    // A refusal comes at once; the reply of an accepted call waits for the app.
    let status = caller.call("daemon.status", json!({}));
    if status.unwrap()["callsInFlight"] == 0 {
        return Err(daemon.call("tools.call", json!({"name": tool, "args": {}})).unwrap_err());
    }
    let call = app.frame();
    assert_eq!(call["name"], tool);
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": call["id"], "result": id}));
    assert_eq!(caller.value()["result"]["result"], id);
    Ok(())
}

fn decision_of(daemon: &Daemon, tool: &str) -> String {
    let tools = daemon.call("tools.list", json!({})).unwrap();
    let tool = tools["tools"].as_array().unwrap().iter().find(|listed| listed["name"] == tool).unwrap().clone();
    tool["policy"].as_str().unwrap().to_owned()
}

#[test]
fn a_changed_policy_counts_from_the_next_call_on() {
    let daemon = Daemon::start();
    let mut app = shop(&daemon);
    reaches(&daemon, &mut app, "ping", json!({})).unwrap();

    set_policy(&daemon, r#"{"default":"deny"}"#);
    let error = reaches(&daemon, &mut app, "ping", json!({})).unwrap_err();
    assert_eq!(error["data"]["type"], "policy_denied");
    let hint = error["data"]["details"]["hint"].as_str().unwrap();
    assert!(hint.contains(daemon.paths().config().to_str().unwrap()) && hint.contains("pixel-8/ping"), "{hint}");
    assert!(error["data"]["details"].get("reason").is_none());
    assert_eq!(decision_of(&daemon, "ping"), "deny");
    assert_eq!(daemon.call("daemon.status", json!({})).unwrap()["policy"]["default"], "deny");

    // What the hint says helps.
    set_policy(&daemon, r#"{"default":"deny","tools":{"pixel-8/ping":"allow"}}"#);
    reaches(&daemon, &mut app, "ping", json!({})).unwrap();

    set_policy(&daemon, r#"{"destructive":"prompt"}"#);
    let error = reaches(&daemon, &mut app, "wipe", json!({})).unwrap_err();
    assert_eq!(error["data"]["details"]["reason"], "no_consent_channel");
    assert!(error["data"]["details"]["hint"].as_str().unwrap().contains("config.json"));
    reaches(&daemon, &mut app, "wipe", json!({"consent": "elicitation"})).unwrap();
}

#[test]
fn a_denied_call_is_told_to_listeners_and_not_to_the_app() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"policy":{"default":"deny"}}"#);
    let mut app = shop(&daemon);
    let mut listener = daemon.control();
    listener.call("events.subscribe", json!({"kinds": ["tool_call_started", "tool_call_finished"]})).unwrap();
    daemon.call("tools.call", json!({"name": "ping", "args": {}})).unwrap_err();
    assert_eq!(listener.value()["params"]["data"], json!({"name": "ping", "outcome": "denied"}));
    set_policy(&daemon, "{}");
    // The first frame that the app gets is of the allowed call.
    reaches(&daemon, &mut app, "total", json!({})).unwrap();
}

#[test]
fn a_broken_file_keeps_the_last_good_policy() {
    let daemon = Daemon::start();
    let mut app = shop(&daemon);
    set_policy(&daemon, r#"{"default":"deny"}"#);
    assert_eq!(decision_of(&daemon, "ping"), "deny");
    for (text, word) in [
        ("{", "JSON"),
        (r#"{"policy":{"default":"alow"}}"#, "policy.default"),
        (r#"{"graceSeconds":0}"#, "graceSeconds"),
    ] {
        write_config(&daemon, text);
        reaches(&daemon, &mut app, "ping", json!({})).unwrap_err();
        let status = daemon.call("daemon.status", json!({})).unwrap();
        assert_eq!(status["policy"]["default"], "deny");
        assert!(status["configFault"].as_str().unwrap().contains(word), "{status}");
    }
    fs::remove_file(daemon.paths().config()).unwrap();
    assert_eq!(decision_of(&daemon, "ping"), "deny");

    write_config(&daemon, "{}");
    reaches(&daemon, &mut app, "ping", json!({})).unwrap();
    assert!(daemon.call("daemon.status", json!({})).unwrap().get("configFault").is_none());
}

#[test]
fn an_explanation_says_which_rule_decides() {
    let daemon = Daemon::start();
    let app = shop(&daemon);
    set_policy(
        &daemon,
        r#"{"default":"prompt","destructive":"deny","tools":{"pixel-8/ping":"allow"},"groups":{"checkout":"allow"}}"#,
    );
    let explain = |tool: &str| daemon.call("policy.explain", json!({"selector": "pixel-8", "name": tool})).unwrap();
    for (tool, decision, rule, word) in [
        ("ping", "allow", r#"policy.tools["pixel-8/ping"]"#, "names this tool"),
        ("total", "allow", r#"policy.groups["checkout"]"#, "group"),
        ("refund", "deny", "policy.destructive", r#"policy.groups["checkout"]"#),
        ("wipe", "deny", "policy.destructive", "destructive"),
    ] {
        let explained = explain(tool);
        assert_eq!((&explained["decision"], &explained["rule"]), (&json!(decision), &json!(rule)));
        assert!(explained["why"].as_str().unwrap().contains(word), "{explained}");
        assert_eq!(decision_of(&daemon, tool), decision, "the listing says the same");
    }
    let explained = explain("refund");
    assert_eq!((&explained["sessionId"], &explained["alias"]), (&json!(app.session_id), &json!("pixel-8")));
    assert_eq!((&explained["group"], &explained["destructive"]), (&json!("checkout"), &json!(true)));
    assert_eq!(explained["config"], daemon.paths().config().to_str().unwrap());

    set_policy(&daemon, r#"{"default":"prompt"}"#);
    assert_eq!(explain("ping")["rule"], "policy.default");
    let error = daemon.call("policy.explain", json!({"name": "none"})).unwrap_err();
    assert_eq!(error["data"]["type"], "tool_not_found");
    let error = daemon.call("policy.explain", json!({"selector": "nobody", "name": "ping"})).unwrap_err();
    assert_eq!(error["data"]["type"], "unknown_session");
}
