//! Sessions that lose their socket, and how they go on or end.

use std::time::Duration;

use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::harness::{Daemon, eventually};

fn suspended(daemon: &Daemon, id: &str) -> bool {
    daemon.session(id).is_some_and(|session| session["state"] == "suspended")
}

#[test]
fn a_dropped_socket_resumes_with_the_same_session_and_registry() {
    let daemon = Daemon::start();
    let app = daemon.app_with_tools("Pixel 8", json!([{"name": "pay", "description": "Pays."}]));
    let (id, token) = app.vanish();
    eventually("the session is suspended", || suspended(&daemon, &id));
    let session = daemon.session(&id).unwrap();
    assert_eq!(session["suspendReason"], "connection_lost");
    assert_eq!(daemon.call("tools.list", json!({})).unwrap()["total"], 1, "the registry can be read meanwhile");

    let mut again = daemon.socket();
    again.resume(&id, &token);
    let ack = again.expect_ack();
    assert_eq!((&ack["session_id"], &ack["alias"]), (&json!(id), &json!("pixel-8")));
    assert_ne!(again.resume_token, token);
    assert_eq!(daemon.session(&id).unwrap()["state"], "active");

    // The first frame proves the new token; the old one is dead.
    again.send_snapshot(json!([]));
    eventually("the registry is new", || daemon.session(&id).unwrap()["toolCount"] == 0);
    let mut third = daemon.socket();
    third.resume(&id, &token);
    third.expect_close(1008, "invalid_resume_token");
    assert_eq!(daemon.session(&id).unwrap()["state"], "active");
}

#[test]
fn a_resume_takes_the_session_over_from_an_open_socket() {
    let daemon = Daemon::start();
    let old = daemon.app("x");
    let mut new = daemon.socket();
    new.resume(&old.session_id, &old.resume_token);
    new.expect_ack();
    old.expect_close(1000, "session_replaced");
    assert_eq!(daemon.session(&new.session_id).unwrap()["state"], "active");
}

#[test]
fn a_resume_of_nothing_is_refused() {
    let daemon = Daemon::start();
    let mut app = daemon.socket();
    app.resume("nobody", "token");
    app.expect_close(1008, "unknown_session");
}

#[test]
fn an_app_in_the_background_says_so() {
    let daemon = Daemon::start();
    let mut app = daemon.app("Pixel 8");
    let id = app.session_id.clone();
    app.ws.close(Some(CloseFrame { code: 1001.into(), reason: "app_backgrounded".into() })).unwrap();
    eventually("the session is suspended", || suspended(&daemon, &id));
    assert_eq!(daemon.session(&id).unwrap()["suspendReason"], "app_backgrounded");
    let error = daemon.call("tools.call", json!({"name": "pay", "args": {}})).unwrap_err();
    assert_eq!(error["data"]["type"], "session_suspended");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("\"pixel-8\"") && message.contains("foreground"), "{message}");
}

#[test]
fn a_suspended_session_expires_when_its_grace_ends() {
    let daemon = Daemon::start();
    let (id, token) = daemon.app("x").vanish();
    eventually("the session is suspended", || suspended(&daemon, &id));
    daemon.clock.advance(Duration::from_secs(600));
    assert!(daemon.sessions().is_empty());
    let mut app = daemon.socket();
    app.resume(&id, &token);
    app.expect_close(1008, "unknown_session");
}

#[test]
fn a_revoked_session_is_closed_and_gone() {
    let daemon = Daemon::start();
    let app = daemon.app("x");
    assert_eq!(daemon.call("sessions.revoke", json!({"selector": "x"})).unwrap(), json!({"ok": true}));
    let id = app.session_id.clone();
    app.expect_close(1000, "revoked");
    let error = daemon.call("events.since", json!({"selector": id})).unwrap_err();
    assert_eq!(error["data"]["type"], "unknown_session");
    assert_eq!(daemon.app("x").alias, "x", "the alias is free again");
}

#[test]
fn a_pending_link_is_revoked_by_its_id() {
    let daemon = Daemon::start();
    let link = daemon.link();
    daemon.call("sessions.revoke", json!({"selector": link["sessionId"]})).unwrap();
    let mut app = daemon.socket();
    app.claim(&link, "x");
    app.expect_close(1008, "unknown_session");
}

#[test]
fn a_peer_that_answers_no_ping_is_dropped() {
    let daemon = Daemon::start();
    // It reads nothing, so it answers nothing.
    let app = daemon.app("x");
    for _ in 0..3 {
        daemon.clock.advance(Duration::from_secs(15));
        daemon.sessions();
    }
    assert!(suspended(&daemon, &app.session_id));
    assert_eq!(daemon.session(&app.session_id).unwrap()["suspendReason"], "connection_lost");
}

#[test]
fn a_peer_that_answers_pings_stays() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    for round in 0..5 {
        daemon.clock.advance(Duration::from_secs(15));
        daemon.sessions();
        // Reading answers the ping; what comes after it proves that the answer has arrived.
        assert!(app.ws.read().unwrap().is_ping());
        app.send_snapshot(json!(
            (0..=round).map(|n| json!({"name": format!("t{n}"), "description": "d"})).collect::<Vec<_>>()
        ));
        eventually("the pong is in", || daemon.session(&app.session_id).unwrap()["toolCount"] == round + 1);
    }
    assert_eq!(daemon.session(&app.session_id).unwrap()["state"], "active");
}
