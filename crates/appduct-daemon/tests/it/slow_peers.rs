//! Peers that do not read.

use serde_json::{Value, json};

use crate::harness::{Control, Daemon};

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

/// Fills everything between here and an app that reads nothing, until a call is refused. Returns a call that waits.
fn fill(daemon: &Daemon, control: &mut Control) -> Value {
    let mut events = daemon.control();
    events.call("events.subscribe", json!({"kinds": ["tool_call_started"]})).unwrap();
    let args = json!({"filler": "x".repeat(200_000)});
    // The system's own buffers take some megabytes before anything waits in the daemon.
    for _ in 0..250 {
        let id =
            control.request("tools.call", json!({"selector": "x", "name": "a", "args": args, "timeoutMs": 300_000}));
        // A call that is sent is answered later; a listing is answered at once, after what was refused before it.
        let listing = control.request("sessions.list", json!({}));
        loop {
            let value = control.value();
            if value["id"] == id {
                let error = &value["error"];
                assert_eq!(error["data"]["type"], "tool_serialization_error", "{value}");
                assert!(error["message"].as_str().unwrap().contains("bounds.deviceQueueBytes"), "{value}");
                return events.event("tool_call_started")["data"]["callId"].clone();
            }
            if value["id"] == listing {
                break;
            }
        }
    }
    panic!("no call was refused");
}

fn slow_daemon() -> Daemon {
    Daemon::with_config(r#"{"wssPort":0,"bounds":{"deviceQueueBytes":400000}}"#)
}

#[test]
fn a_call_that_does_not_fit_behind_what_waits_fails_and_nothing_else_does() {
    let daemon = slow_daemon();
    let app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut other = daemon.app_with_tools("y", json!([{"name": "a", "description": "d"}]));
    let mut control = daemon.control();
    fill(&daemon, &mut control);
    assert_eq!(daemon.session(&app.session_id).unwrap()["state"], "active");
    let id = control.request("tools.call", json!({"selector": "y", "name": "a", "args": {}}));
    let call = other.frame();
    other.send(json!({"type": "tool_result", "session_id": other.session_id, "id": call["id"], "result": "fine"}));
    loop {
        let value = control.value();
        if value["id"] == id {
            assert_eq!(value["result"]["result"], "fine");
            break;
        }
    }
}

#[test]
fn an_app_that_reads_not_even_what_cannot_be_refused_is_suspended() {
    let daemon = slow_daemon();
    let app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut control = daemon.control();
    let call = fill(&daemon, &mut control);
    let reason = "r".repeat(4_000);
    let mut canceller = daemon.control();
    // What was refused may have waited for a busy writer only, and the system's buffers take some megabytes more.
    for _ in 0..5_000 {
        canceller.call("tools.cancel", json!({"selector": "x", "callId": call, "reason": reason})).unwrap();
        if daemon.session(&app.session_id).unwrap()["state"] == "suspended" {
            break;
        }
    }
    let session = daemon.session(&app.session_id).unwrap();
    assert_eq!((&session["state"], &session["suspendReason"]), (&json!("suspended"), &json!("connection_lost")));
    loop {
        let value = control.value();
        if let Some(error) = value.get("error").filter(|error| error["data"]["type"] == "session_suspended") {
            assert!(error["message"].as_str().unwrap().contains("connection"), "{error}");
            break;
        }
    }
}

#[test]
fn an_app_is_told_why_its_connection_ends_where_nothing_more_fits() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"bounds":{"deviceQueueBytes":2000}}"#);
    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut caller = daemon.control();
    caller.request("tools.call", json!({"name": "a", "args": {}}));
    let (id, call) = (app.session_id.clone(), app.frame());
    let reason = "r".repeat(2_000);
    daemon.call("tools.cancel", json!({"selector": "x", "callId": call["id"], "reason": reason})).unwrap();
    app.expect_close(1011, "send_failed");
    assert_eq!(daemon.session(&id).unwrap()["suspendReason"], "connection_lost");
}
