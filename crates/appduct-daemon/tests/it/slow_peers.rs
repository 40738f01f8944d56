//! Peers that do not read.

use serde_json::json;

use crate::harness::{Daemon, eventually};

#[test]
fn a_client_that_reads_no_notifications_is_dropped_and_others_are_not() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    let mut slow = daemon.control();
    slow.call("events.subscribe", json!({})).unwrap();
    let mut quick = daemon.control();
    quick.call("events.subscribe", json!({"kinds": ["app_event"], "payloadMaxBytes": 10})).unwrap();
    let payload = "x".repeat(200_000);
    for _ in 0..40 {
        app.send(json!({"type": "event", "session_id": app.session_id, "name": "big", "ts": 1, "payload": payload}));
        quick.event("app_event");
    }
    // Forty of them are well over what may wait; what was written before the drop can still be read.
    let received = slow.read_to_end();
    assert!(received.len() < 40 * payload.len(), "{} bytes", received.len());
    assert_eq!(quick.call("sessions.list", json!({})).unwrap()[0]["state"], "active");
}

#[test]
fn an_app_that_reads_no_frames_is_suspended() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"bounds":{"deviceQueueBytes":400000}}"#);
    let app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut other = daemon.app_with_tools("y", json!([{"name": "a", "description": "d"}]));
    let mut control = daemon.control();
    let args = json!({"filler": "x".repeat(200_000)});
    // The system's own buffers take some megabytes before anything waits in the daemon.
    for _ in 0..250 {
        control.request("tools.call", json!({"selector": "x", "name": "a", "args": args}));
        if daemon.session(&app.session_id).unwrap()["state"] == "suspended" {
            break;
        }
    }
    eventually("the session is suspended", || daemon.session(&app.session_id).unwrap()["state"] == "suspended");
    assert_eq!(daemon.session(&app.session_id).unwrap()["suspendReason"], "connection_lost");

    let id = control.request("tools.call", json!({"selector": "y", "name": "a", "args": {}}));
    let call = other.frame();
    other.send(json!({"type": "tool_result", "session_id": other.session_id, "id": call["id"], "result": "fine"}));
    loop {
        let value = control.value();
        if value["id"] == id {
            assert_eq!(value["result"]["result"], "fine");
            break;
        }
        assert_eq!(value["error"]["data"]["type"], "session_suspended");
    }
}
