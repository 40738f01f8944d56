//! Links and claims.

use std::time::Duration;

use appduct_proto::wire::Bootstrap;
use serde_json::json;

use crate::harness::Daemon;

#[test]
fn a_claim_gets_an_ack_with_everything_in_it() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"graceSeconds":77,"keepaliveIntervalSeconds":9}"#);
    let link = daemon.link();
    let mut app = daemon.socket();
    app.claim(&link, "Pixel 8");
    let ack = app.expect_ack();
    assert_eq!(ack["session_id"], link["sessionId"]);
    assert_eq!(ack["status"], "ok");
    assert_eq!(ack["alias"], "pixel-8");
    assert_eq!((&ack["keepalive_interval_s"], &ack["grace_s"]), (&json!(9), &json!(77)));
    assert_eq!(ack["event_registry"], true);
    assert!(!ack["resume_token"].as_str().unwrap().is_empty());

    let session = daemon.session(&app.session_id).unwrap();
    assert_eq!((&session["state"], &session["device"]["model"]), (&json!("active"), &json!("Pixel 8")));
    assert!(session.get("suspendedAt").is_none() && session.get("suspendReason").is_none());
    assert_eq!(session["claimedAt"].as_str().unwrap().len(), "2026-03-17T10:00:00.000Z".len());
}

#[test]
fn two_apps_of_one_model_have_two_aliases() {
    let daemon = Daemon::start();
    let (first, second) = (daemon.app("Pixel 8"), daemon.app("Pixel 8"));
    assert_eq!((&*first.alias, &*second.alias), ("pixel-8", "pixel-8-2"));
}

#[test]
fn a_link_says_where_the_daemon_is() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"192.0.2.7"}"#);
    let status = daemon.call("daemon.status", json!({})).unwrap();
    let link = daemon.call("link.create", json!({"ttlSeconds": 60})).unwrap();
    assert_eq!(link["endpoint"], json!({"family": 4, "address": "192.0.2.7", "port": daemon.port}));
    assert_eq!(link["pin"], status["pinnedKeys"][0]);
    let bootstrap = Bootstrap::decode(link["deepLinkPayload"].as_str().unwrap()).unwrap();
    assert_eq!((bootstrap.address.to_string(), bootstrap.port), ("192.0.2.7".to_owned(), daemon.port));
    assert_eq!(link["expiresAt"], bootstrap.expires_at);

    let overridden = daemon.call("link.create", json!({"addressOverride": "fd00::5"})).unwrap();
    assert_eq!(overridden["endpoint"], json!({"family": 6, "address": "fd00::5", "port": daemon.port}));
}

#[test]
fn a_link_that_cannot_be_made_leaves_nothing_behind() {
    let daemon = Daemon::start();
    for (params, word) in [
        (json!({"addressOverride": "my-mac.local"}), "addressOverride"),
        (json!({"addressOverride": "fe80::1%eth0"}), "addressOverride"),
        (json!({"addressOverride": ""}), "addressOverride"),
        (json!({"ttlSeconds": 0}), "ttlSeconds"),
        (json!({"ttlSeconds": 604_801}), "604800"),
        (json!({"ttlSeconds": null}), "ttlSeconds"),
        (json!({"transport": "tcp"}), "transport"),
    ] {
        let error = daemon.call("link.create", params.clone()).unwrap_err();
        assert_eq!(error["data"]["type"], "invalid_request", "{params}");
        assert!(error["message"].as_str().unwrap().contains(word), "{params}: {error}");
    }
    assert_eq!(daemon.call("daemon.status", json!({})).unwrap()["pendingLinks"], 0);
}

#[test]
fn a_first_frame_that_is_no_claim_closes_the_socket() {
    let daemon = Daemon::start();
    let link = daemon.link();
    let id = link["sessionId"].as_str().unwrap();
    let claim = |version: &str, extra: &str| {
        format!(r#"{{"type":"session_claim","protocol_version":{version},"session_id":"{id}","token":"x"{extra}}}"#)
    };
    for (text, reason) in [
        ("not json".to_owned(), "invalid_json"),
        ("[]".to_owned(), "invalid_json"),
        ("null".to_owned(), "invalid_json"),
        ("{}".to_owned(), "expected_claim_or_resume"),
        (claim("1", ""), "expected_claim_or_resume"),
        (claim("2", r#","device_model":null"#), "expected_claim_or_resume"),
        (format!(r#"{{"type":"event","session_id":"{id}","name":"a","ts":1}}"#), "expected_claim_or_resume"),
    ] {
        let mut app = daemon.socket();
        app.send_text(&text);
        app.expect_close(1008, reason);
    }
    // None of them cost the link an attempt.
    let mut app = daemon.socket();
    app.claim(&link, "x");
    app.expect_ack();
}

#[test]
fn the_fifth_wrong_token_burns_the_link() {
    let daemon = Daemon::start();
    let link = daemon.link();
    for reason in ["invalid_token", "invalid_token", "invalid_token", "invalid_token", "claim_attempts_exceeded"] {
        let mut app = daemon.socket();
        app.send(json!({
            "type": "session_claim", "protocol_version": 2, "session_id": link["sessionId"], "token": "wrong",
        }));
        app.expect_close(1008, reason);
    }
    let mut app = daemon.socket();
    app.claim(&link, "x");
    app.expect_close(1008, "unknown_session");
}

#[test]
fn a_link_is_claimed_once() {
    let daemon = Daemon::start();
    let link = daemon.link();
    let mut first = daemon.socket();
    first.claim(&link, "x");
    first.expect_ack();
    first.send_snapshot(json!([{"name": "a", "description": "d"}]));
    crate::harness::eventually("the ack is proven", || daemon.sessions()[0]["toolCount"] == 1);
    let mut second = daemon.socket();
    second.claim(&link, "x");
    second.expect_close(1008, "already_claimed");
}

#[test]
fn a_link_expires() {
    let daemon = Daemon::start();
    let link = daemon.link();
    daemon.clock.advance(Duration::from_secs(301));
    let mut app = daemon.socket();
    app.claim(&link, "x");
    app.expect_close(1008, "link_expired");
    let mut app = daemon.socket();
    app.claim(&link, "x");
    app.expect_close(1008, "unknown_session");
}

#[test]
fn a_socket_that_does_not_claim_is_closed() {
    let daemon = Daemon::start();
    let app = daemon.socket();
    crate::harness::eventually("the socket is open", || {
        daemon.call("daemon.status", json!({})).unwrap()["openSockets"] == 1
    });
    daemon.clock.advance(Duration::from_secs(10));
    // Any request turns the loop, which then sees the time.
    daemon.sessions();
    app.expect_close(1008, "pre_claim_timeout");
}

#[test]
fn too_many_unclaimed_sockets_are_turned_away() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"bounds":{"unclaimedSockets":1}}"#);
    let mut first = daemon.socket();
    crate::harness::eventually("the socket is open", || {
        daemon.call("daemon.status", json!({})).unwrap()["openSockets"] == 1
    });
    daemon.socket().expect_close(1013, "too_many_sockets");
    first.claim(&daemon.link(), "x");
    first.expect_ack();
    daemon.app("y");
}
