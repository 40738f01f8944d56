//! `ls` and `revoke`.

use serde_json::json;

use crate::fake_daemon::{FakeDaemon, error, plain_status, result};
use crate::run::Place;

const SESSION: &str = r#"{"sessionId":"s1","alias":"pixel-8","state":"active","device":{"manufacturer":"Google","model":"Pixel 8","os":"Android 14"},"createdAt":"2020-01-01T00:00:00.000Z","claimedAt":"2020-01-01T00:00:01.000Z","toolCount":3}"#;

#[test]
fn sessions_are_listed_in_both_forms() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(format!("[{SESSION}]")),
    });
    let ran = daemon.place.run(&["ls"]);
    let lines: Vec<_> = ran.ok().lines().collect();
    assert_eq!(lines[0], "Sessions");
    assert!(lines[1].starts_with("  Alias    State   Device                       Tools  Age"), "{ran}");
    assert!(lines[2].starts_with("  pixel-8  active  Google Pixel 8 (Android 14)  3      "), "{ran}");
    assert!(lines[2].ends_with('d'), "{ran}");
    assert_eq!(daemon.place.run(&["ls", "--json"]).ok(), format!("{{\"ok\":true,\"data\":[{SESSION}]}}\n"));
    assert_eq!(daemon.place.run(&["sessions", "ls"]).ok(), ran.ok());
}

#[test]
fn what_a_newer_daemon_says_more_is_kept() {
    let newer = SESSION.replace("\"toolCount\":3", "\"toolCount\":3,\"battery\":{ \"level\":1.0}");
    let daemon = FakeDaemon::new({
        let newer = newer.clone();
        move |method, _| match method {
            "daemon.status" => plain_status(),
            "events.subscribe" => result("{\"ok\":true}"),
            _ => result(format!("[{newer}]")),
        }
    });
    assert_eq!(daemon.place.run(&["ls", "--json"]).ok(), format!("{{\"ok\":true,\"data\":[{newer}]}}\n"));
    assert_eq!(daemon.place.run(&["wait", "--json"]).ok(), format!("{{\"ok\":true,\"data\":{newer}}}\n"));
}

#[test]
fn a_lone_surrogate_does_not_hide_the_list() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(format!("[{}]", SESSION.replace("Pixel 8", "Pixel\\ud800"))),
    });
    let ran = daemon.place.run(&["ls"]);
    assert!(ran.ok().contains("Google Pixel\u{FFFD} (Android 14)"), "{ran}");
}

#[test]
fn no_session_is_no_failure() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result("[]"),
    });
    assert_eq!(daemon.place.run(&["ls"]).ok(), "Sessions\n  No Appduct sessions are registered.\n");
    assert_eq!(daemon.place.run(&["ls", "--json"]).ok(), "{\"ok\":true,\"data\":[]}\n");
}

#[test]
fn a_session_is_revoked_by_its_selector() {
    let daemon = FakeDaemon::new(|method, params| match (method, params["selector"].as_str()) {
        ("daemon.status", _) => plain_status(),
        ("sessions.describe", Some("x")) => result(SESSION),
        ("sessions.revoke", Some("s1" | "pending")) => result("{\"ok\":true}"),
        _ => error("no_session", "no session is live"),
    });
    for args in [&["revoke", "x"][..], &["revoke", "--session", "x"], &["sessions", "revoke", "x"]] {
        assert_eq!(daemon.place.run(args).ok(), "Session Revoked\nSession\n  Alias  pixel-8\n  Id     s1\n");
        assert_eq!(daemon.seen().last().unwrap(), &("sessions.revoke".to_owned(), json!({ "selector": "s1" })));
    }
    let document = daemon.place.run(&["revoke", "x", "--json"]).json();
    assert_eq!(document["data"], json!({ "ok": true, "sessionId": "s1", "alias": "pixel-8" }));
    assert_eq!(daemon.place.run(&["revoke", "pending"]).ok(), "Session Revoked\nSession\n  Id  pending\n");
    let ran = daemon.place.run(&["revoke"]);
    insta::assert_snapshot!("revoke_no_session", ran);
}

#[test]
fn what_the_daemon_says_is_passed_on() {
    for (kind, code) in [
        ("ambiguous_session", 71),
        ("unknown_session", 71),
        ("session_not_active", 71),
        ("session_suspended", 71),
        ("tool_not_found", 72),
        ("tool_input_validation_error", 72),
        ("tool_output_validation_error", 72),
        ("tool_execution_error", 72),
        ("tool_serialization_error", 72),
        ("tool_timeout", 72),
        ("tool_cancelled", 72),
        ("policy_denied", 77),
        ("invalid_request", 65),
        ("from_the_future", 1),
    ] {
        let daemon = FakeDaemon::new(move |method, _| match method {
            "daemon.status" => plain_status(),
            _ => error(kind, "why not"),
        });
        assert_eq!(daemon.place.run(&["ls", "--json"]).failure(), (code, kind.to_owned(), "why not".to_owned()));
    }
}

#[test]
fn an_error_without_a_type_is_internal() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => crate::fake_daemon::Answer::Error("{\"code\":-32601,\"message\":\"unknown method\"}".to_owned()),
    });
    let (code, kind, message) = daemon.place.run(&["ls", "--json"]).failure();
    assert_eq!((code, kind.as_str(), message.as_str()), (1, "internal_error", "unknown method"));
}

#[test]
fn a_daemon_that_hangs_up_is_a_connection_error() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => crate::fake_daemon::Answer::Hangup,
    });
    let (code, kind, _) = daemon.place.run(&["ls", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (70, "connection_error"));
}

#[test]
fn without_a_home_a_state_directory_must_be_named() {
    let place = Place::new();
    let mut command = place.command(&["ls", "--json"]);
    command.env_remove("HOME").env_remove("APPDUCT_STATE_DIR");
    let ran = place.ended(command.spawn().unwrap());
    let (code, kind, message) = ran.failure();
    assert_eq!((code, kind.as_str()), (64, "usage_error"));
    assert!(message.contains("HOME") && message.contains("--state-dir"), "{message}");
}
