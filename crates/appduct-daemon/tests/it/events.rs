//! Events, live and afterwards.

use serde_json::{Value, json};

use crate::harness::{App, Daemon};

fn post(app: &mut App, name: &str, payload: Value) {
    app.send(json!({"type": "event", "session_id": app.session_id, "name": name, "ts": 5, "payload": payload}));
}

#[test]
fn a_subscriber_sees_a_session_from_link_to_revoke() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    assert_eq!(control.call("events.subscribe", json!({})).unwrap(), json!({"ok": true}));
    let mut app = daemon.app("Pixel 8");
    app.send_snapshot(json!([{"name": "a", "description": "d"}]));
    post(&mut app, "cart", json!({"n": 1}));
    let mut seen = Vec::new();
    while seen.last().is_none_or(|event: &Value| event["kind"] != "app_event") {
        seen.push(control.value()["params"].clone());
    }
    daemon.call("sessions.revoke", json!({})).unwrap();
    let revoked = control.event("session_revoked");

    let kinds: Vec<_> = seen.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["link_created", "session_claimed", "tools_changed", "app_event"]);
    assert!(seen[0].get("alias").is_none() && seen[0]["sessionId"] == json!(app.session_id));
    assert_eq!(seen[1]["data"], json!({"device": {"model": "Pixel 8"}}));
    assert_eq!(seen[2]["data"], json!({"toolCount": 1}));
    assert_eq!(
        (&seen[3]["seq"], &seen[3]["data"]),
        (&json!(1), &json!({"name": "cart", "payload": {"n": 1}, "ts": 5}))
    );
    assert_eq!((&revoked["alias"], &revoked["data"]), (&json!("pixel-8"), &json!({})));
}

#[test]
fn a_subscription_narrows_what_comes() {
    let daemon = Daemon::start();
    let (mut first, mut second) = (daemon.app("x"), daemon.app("x"));
    let mut control = daemon.control();
    // Replaces the first one.
    control.call("events.subscribe", json!({})).unwrap();
    let params = json!({"kinds": ["app_event"], "sessionSelector": "x-2", "name": "cart.*", "payloadMaxBytes": 10});
    control.call("events.subscribe", params).unwrap();
    post(&mut first, "cart.added", json!(1));
    post(&mut second, "user.left", json!(2));
    post(&mut second, "cart.added", json!("a longer payload"));
    post(&mut second, "cart.done", json!(3));
    let preview = control.value()["params"].clone();
    let data = json!({"name": "cart.added", "payloadPreview": "\"a longer ", "truncated": true, "payloadBytes": 18});
    assert_eq!((&preview["data"], &preview["seq"]), (&data, &json!(2)));
    assert_eq!(control.value()["params"]["data"]["name"], "cart.done");
}

#[test]
fn a_bad_subscription_is_refused() {
    let daemon = Daemon::start();
    for params in [json!({"kinds": ["nope"]}), json!({"kinds": "app_event"}), json!({"payloadMaxBytes": 0})] {
        let error = daemon.call("events.subscribe", params).unwrap_err();
        assert_eq!(error["data"]["type"], "invalid_request");
    }
}

#[test]
fn kept_events_are_read_from_a_cursor() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"eventBufferSize":3}"#);
    let mut app = daemon.app("x");
    let mut control = daemon.control();
    control.call("events.subscribe", json!({"kinds": ["app_event"]})).unwrap();
    for n in 1..=5 {
        post(&mut app, "tick", json!(n));
        control.event("app_event");
    }
    let page = daemon.call("events.since", json!({"limit": 2})).unwrap();
    let payloads: Vec<_> =
        page["events"].as_array().unwrap().iter().map(|event| event["data"]["payload"].clone()).collect();
    assert_eq!(payloads, [json!(3), json!(4)]);
    assert_eq!((&page["cursor"], &page["dropped"], &page["remaining"]), (&json!(4), &json!(2), &json!(1)));
    let rest = daemon.call("events.since", json!({"since": 4})).unwrap();
    assert_eq!((&rest["cursor"], rest["events"].as_array().unwrap().len()), (&json!(5), 1));
}
