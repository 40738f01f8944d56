//! `events.log`: everything that happened, in its order, but not what apps posted.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Daemon;

#[test]
fn the_log_has_every_event_but_those_of_apps() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    control.call("events.subscribe", json!({})).unwrap();
    let mut app = daemon.app_with_tools("x", json!([{"name": "pay", "description": "d"}]));
    app.send(json!({"type": "event", "session_id": app.session_id, "name": "cart", "ts": 1}));
    control.event("app_event");
    control.request("tools.call", json!({"name": "pay", "args": {}}));
    let call = app.frame();
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": call["id"], "result": 1}));
    let finished = control.event("tool_call_finished");
    let directory = daemon.stop();

    let text = fs::read_to_string(directory.path().join("events.log")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "daemon_started",
            "link_created",
            "session_claimed",
            "tools_changed",
            "tool_call_started",
            "tool_call_finished"
        ]
    );
    assert_eq!(lines[5], finished, "as it was emitted");
}

#[test]
fn the_log_never_grows_over_its_bound() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"127.0.0.1","eventsLogMaxBytes":1000}"#);
    for _ in 0..50 {
        daemon.link();
    }
    let directory = daemon.stop();
    let size = |name: &str| fs::metadata(directory.path().join(name)).map_or(0, |metadata| metadata.len());
    assert!(size("events.log") <= 1000, "{}", size("events.log"));
    assert!(size("events.log.1") > 1000, "{}", size("events.log.1"));
}
