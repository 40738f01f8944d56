//! Events, live and afterwards.

use std::collections::BTreeSet;
use std::time::Duration;

use appduct_rpc::methods::EventKind;
use serde_json::{Value, json};

use crate::harness::{App, Daemon, eventually};

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

/// From a link that nobody opens to a session that nobody resumes. A kind that is added to the list is missed here.
#[test]
fn every_kind_of_event_is_seen_by_a_subscriber_or_in_the_log() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    control.call("events.subscribe", json!({})).unwrap();
    daemon.link();
    daemon.clock.advance(Duration::from_secs(301));
    let mut seen = BTreeSet::new();
    let mut see = |last: &str| {
        loop {
            let kind = control.value()["params"]["kind"].as_str().unwrap().to_owned();
            let is_last = kind == last;
            seen.insert(kind);
            if is_last {
                break;
            }
        }
    };
    see("link_expired");

    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    app.send(json!({"type": "event_registry_snapshot", "session_id": app.session_id, "events": []}));
    see("events_changed");
    post(&mut app, "cart", json!(1));
    see("app_event");
    let mut caller = daemon.control();
    caller.request("tools.call", json!({"name": "a", "args": {}}));
    let id = app.frame()["id"].clone();
    app.send(json!({"type": "tool_call_progress", "session_id": app.session_id, "id": id, "progress": 0.5}));
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": id, "result": null}));
    see("tool_call_finished");
    let (id, token) = app.vanish();
    see("session_suspended");
    let mut app = daemon.socket();
    app.resume(&id, &token);
    app.expect_ack();
    see("session_resumed");
    daemon.call("sessions.revoke", json!({})).unwrap();
    see("session_revoked");
    daemon.app("x").vanish();
    see("session_suspended");
    daemon.clock.advance(Duration::from_secs(601));
    see("session_expired");

    eventually("the log has what came before anybody could listen", || {
        let log = std::fs::read_to_string(daemon.paths().events_log()).unwrap_or_default();
        let first = log.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
        first.is_some_and(|event| event["kind"] == "daemon_started" && seen.insert("daemon_started".to_owned()))
    });
    let known = EventKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(seen, known);
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
