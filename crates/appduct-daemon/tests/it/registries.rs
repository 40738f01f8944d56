//! Frames after the claim, and the registries that they fill.

use serde_json::{Value, json};

use crate::harness::{Daemon, eventually};

#[test]
fn a_frame_that_breaks_its_rule_closes_the_socket_and_suspends_the_session() {
    let daemon = Daemon::start();
    let frame = |kind: &'static str, rest: Value| {
        move |id: &str| {
            let mut frame = json!({"type": kind, "session_id": id});
            frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            frame.to_string()
        }
    };
    type Compose = Box<dyn Fn(&str) -> String>;
    let cases: Vec<(Compose, &str)> = vec![
        (Box::new(|_| "nonsense".to_owned()), "invalid_json"),
        (Box::new(frame("session_claim", json!({"protocol_version": 2, "token": "x"}))), "unknown_message_type"),
        (Box::new(frame("tool_call", json!({"id": "1", "name": "a", "args": {}}))), "unknown_message_type"),
        (Box::new(frame("hello", json!({}))), "unknown_message_type"),
        (Box::new(|_| r#"{"type":"event","session_id":"other","name":"a","ts":1}"#.to_owned()), "session_mismatch"),
        (Box::new(|_| r#"{"type":"event","name":"a","ts":1}"#.to_owned()), "session_mismatch"),
        (Box::new(frame("tool_registry_snapshot", json!({"tools": [null]}))), "invalid_registry"),
        (Box::new(frame("tool_registry_delta", json!({"operation": "add", "tool": {}}))), "invalid_registry"),
        (Box::new(frame("event_registry_snapshot", json!({"events": {}}))), "invalid_registry"),
        (Box::new(frame("event_registry_delta", json!({"operation": "remove"}))), "invalid_registry"),
        (Box::new(frame("tool_result", json!({"id": "1"}))), "invalid_message"),
        (
            Box::new(frame("tool_error", json!({"id": "1", "error": {"type": "nope", "message": "m"}}))),
            "invalid_message",
        ),
        (Box::new(frame("event", json!({"name": "a"}))), "invalid_message"),
    ];
    for (compose, reason) in cases {
        let mut app = daemon.app("x");
        let (id, token) = (app.session_id.clone(), app.resume_token.clone());
        let text = compose(&id);
        app.send_text(&text);
        assert_eq!(app.closed(), (1008, reason.to_owned()), "{text}");
        assert_eq!(daemon.session(&id).unwrap()["state"], "suspended", "{text}");
        // A broken frame does not revoke.
        let mut again = daemon.socket();
        again.resume(&id, &token);
        again.expect_ack();
        daemon.call("sessions.revoke", json!({"selector": id})).unwrap();
    }
}

#[test]
fn tools_are_listed_by_name_with_their_groups() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"policy":{"tools":{"x/wipe":"deny"}}}"#);
    let tools = json!([
        {"name": "wipe", "description": "Wipes.", "group": "admin"},
        {"name": "pay", "description": "Pays.", "group": "checkout/payment", "extra": {"kept": true}},
        {"name": "add", "description": "Adds."},
    ]);
    let mut app = daemon.app_with_tools("x", tools);
    let listed = daemon.call("tools.list", json!({})).unwrap();
    assert_eq!(listed["total"], 3);
    assert_eq!(
        listed["tools"],
        json!([
            {"name": "add", "description": "Adds.", "group": null, "policy": "allow"},
            {"name": "pay", "description": "Pays.", "extra": {"kept": true}, "group": "checkout/payment", "policy": "allow"},
            {"name": "wipe", "description": "Wipes.", "group": "admin", "policy": "deny"},
        ])
    );
    assert_eq!(
        listed["groups"],
        json!([
            {"group": "admin", "total": 1}, {"group": "checkout", "total": 1}, {"group": "checkout/payment", "total": 1},
            {"group": null, "total": 1},
        ])
    );
    let narrowed = daemon.call("tools.list", json!({"group": "checkout", "filter": "PAY", "limit": 1})).unwrap();
    assert_eq!((&narrowed["total"], &narrowed["tools"][0]["name"]), (&json!(1), &json!("pay")));
    let error = daemon.call("tools.list", json!({"group": "a//b"})).unwrap_err();
    assert_eq!(error["data"]["type"], "invalid_request");

    let remove =
        json!({"type": "tool_registry_delta", "session_id": app.session_id, "operation": "remove", "name": "add"});
    app.send(remove);
    eventually("the tool is gone", || daemon.call("tools.list", json!({})).unwrap()["total"] == 2);
}

#[test]
fn declared_events_are_listed() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    app.send(json!({
        "type": "event_registry_snapshot", "session_id": app.session_id,
        "events": [{"name": "cart.paid", "description": "Paid."}, {"name": "cart.added", "description": "Added."}],
    }));
    eventually("the events are declared", || daemon.call("events.list", json!({})).unwrap()["total"] == 2);
    let listed = daemon.call("events.list", json!({"name": "*.p*"})).unwrap();
    assert_eq!(listed, json!({"events": [{"name": "cart.paid", "description": "Paid."}], "total": 1}));
}
