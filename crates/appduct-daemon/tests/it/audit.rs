//! The audit log: a line for every attempt that found its session, and a daemon that goes on when it cannot write one.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{App, Daemon, state_dir};

const CONFIG: &str = r#"{"wssPort":0,"advertisedIp":"127.0.0.1",
    "policy":{"tools":{"x/forbid":"deny","x/ask":"prompt"}}}"#;

fn tools() -> Value {
    let names = ["pay", "forbid", "ask"];
    names.iter().map(|name| json!({"name": name, "description": "d"})).collect()
}

/// Answers the next call with a frame of this kind.
fn answer(app: &mut App, kind: &str, key: &str, value: Value) {
    let call = app.frame();
    assert_eq!(call["type"], "tool_call", "{call}");
    app.send(json!({"type": kind, "session_id": app.session_id, "id": call["id"], key: value}));
}

fn lines(directory: &std::path::Path) -> Vec<Value> {
    let mut days: Vec<_> = fs::read_dir(directory.join("audit")).unwrap().map(|day| day.unwrap().path()).collect();
    days.sort();
    let texts = days.iter().map(|day| fs::read_to_string(day).unwrap()).collect::<String>();
    texts.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_attempt_is_written_down_with_its_end_before_the_daemon_is_gone() {
    let daemon = Daemon::with_config(CONFIG);
    let mut app = daemon.app_with_tools("x", tools());
    let session_id = app.session_id.clone();
    let mut control = daemon.control();
    let call = |params: Value| ("tools.call", params);
    let (method, params) =
        call(json!({"name": "pay", "args": {"b": 1, "a": [{"d": null, "c": true}]}, "caller": "mcp"}));
    control.request(method, params);
    answer(&mut app, "tool_result", "result", json!(1));
    control.value();
    let error = |kind: &str| json!({"type": kind, "message": "m"});
    for (kind, params) in [
        ("tool_execution_error", json!({"name": "ask", "args": {}, "consent": "elicitation"})),
        ("tool_cancelled", json!({"name": "pay", "args": {}, "consent": "elicitation"})),
    ] {
        control.request("tools.call", params);
        answer(&mut app, "tool_error", "error", error(kind));
        control.value();
    }
    for name in ["forbid", "ask", "missing"] {
        control.call("tools.call", json!({"name": name, "args": {}})).unwrap_err();
    }
    control.call("tools.call", json!({"selector": "nobody", "name": "pay", "args": {}})).unwrap_err();
    // Ends with the daemon.
    control.request("tools.call", json!({"name": "pay", "args": {}}));
    assert_eq!(app.frame()["type"], "tool_call");
    let status = daemon.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["audit"]["failedWrites"], &status["audit"]["retentionDays"]), (&json!(0), &json!(30)));
    let directory = daemon.stop();

    let lines = lines(directory.path());
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |key: &str| line.get(key).map_or("-", |value| value.as_str().unwrap()).to_owned();
            ["tool", "outcome", "errorType", "deniedReason", "caller", "consent"].map(text).join(" ")
        })
        .collect();
    assert_eq!(
        told,
        [
            "pay ok - - mcp -",
            "ask error tool_execution_error - cli elicitation",
            "pay cancelled tool_cancelled - cli -",
            "forbid denied - policy cli -",
            "ask denied - no_consent_channel cli -",
            "missing error tool_not_found - cli -",
            "pay error unknown_session - cli -",
        ]
    );
    assert_eq!(lines[0]["argsSha256"], "075de0079292144e5106daa41bf01626c98a301e7005b44957d31ce95b9f0bce");
    for line in &lines {
        assert_eq!((&line["sessionId"], &line["alias"]), (&json!(session_id), &json!("x")));
        assert!(line["durationMs"].is_u64() && line["ts"].as_str().unwrap().ends_with('Z'), "{line}");
    }
}

#[test]
fn a_suspended_session_is_an_attempt_too() {
    let daemon = Daemon::start();
    let app = daemon.app_with_tools("x", tools());
    let (session_id, _) = app.vanish();
    crate::harness::eventually("the session is suspended", || {
        daemon.session(&session_id).is_some_and(|session| session["state"] == "suspended")
    });
    daemon.call("tools.call", json!({"name": "pay", "args": {}})).unwrap_err();
    let lines = lines(daemon.stop().path());
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["errorType"], "session_suspended");
}

#[test]
fn calls_are_answered_while_no_line_can_be_written_and_the_status_says_so() {
    let directory = state_dir(r#"{"wssPort":0,"advertisedIp":"127.0.0.1"}"#);
    // Neither a directory nor a place for one.
    fs::write(directory.path().join("audit"), "").unwrap();
    let daemon = Daemon::in_directory(directory).unwrap_or_else(|error| panic!("{error}"));
    let mut app = daemon.app_with_tools("x", tools());
    let mut control = daemon.control();
    for _ in 0..3 {
        control.request("tools.call", json!({"name": "pay", "args": {}}));
        answer(&mut app, "tool_result", "result", json!(1));
        assert_eq!(control.value()["result"]["result"], 1);
    }
    crate::harness::eventually("three lines are lost", || {
        let audit = daemon.call("daemon.status", json!({})).unwrap()["audit"].clone();
        let lost = audit["failedWrites"] == 3;
        assert!(!lost || (audit["failedPrunes"] == 1 && audit.get("files").is_none()), "{audit}");
        lost
    });
}

#[test]
fn old_days_are_deleted_at_the_start_and_others_measured() {
    let directory = state_dir(r#"{"wssPort":0,"advertisedIp":"127.0.0.1","auditRetentionDays":1}"#);
    let audit = directory.path().join("audit");
    fs::create_dir(&audit).unwrap();
    for name in ["2020-01-01.jsonl", "9000-01-01.jsonl", "2020-01-01.txt"] {
        fs::write(audit.join(name), "{}\n").unwrap();
    }
    let daemon = Daemon::in_directory(directory).unwrap_or_else(|error| panic!("{error}"));
    crate::harness::eventually("the old day is gone", || !audit.join("2020-01-01.jsonl").exists());
    assert!(audit.join("2020-01-01.txt").exists());
    let status = daemon.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["audit"]["files"], &status["audit"]["bytes"]), (&json!(1), &json!(3)));
}
