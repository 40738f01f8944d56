//! `daemon status|start|stop` against a scripted daemon, and without any.

use serde_json::json;

use crate::fake_daemon::{FakeDaemon, result, status};
use crate::run::Place;

fn full() -> FakeDaemon {
    FakeDaemon::new(|method, _| match method {
        "daemon.status" => status(&json!({
            "uptimeSeconds": 93_784,
            "callsServed": 7,
            "residentBytes": 9_437_184,
            "openSockets": 2,
            "policy": { "default": "allow", "destructive": "prompt", "tools": { "x/reset": "deny" } },
            "audit": { "path": "/state/audit", "failedWrites": 0, "failedPrunes": 0, "retentionDays": 30, "files": 12,
                "bytes": 1_572_864 },
        })),
        _ => result("{\"ok\":true}"),
    })
}

#[test]
fn a_status_in_both_forms() {
    let daemon = full();
    insta::assert_snapshot!("daemon_status", daemon.place.run(&["daemon", "status"]));
    insta::assert_snapshot!("daemon_status_json", daemon.place.run(&["daemon", "status", "--json", "--pretty"]));
}

#[test]
fn start_answers_for_a_daemon_that_is_up() {
    let daemon = full();
    assert_eq!(
        daemon.place.run(&["daemon", "start"]).ok(),
        "Daemon Started\nDaemon\n  PID         4242\n  WSS port    8443\n  Started at  2026-03-17T10:00:00.000Z\n"
    );
    assert_eq!(
        daemon.place.run(&["daemon", "start", "--json"]).ok(),
        "{\"ok\":true,\"data\":{\"daemon\":{\"pid\":4242,\"wss_port\":8443,\"started_at\":\"2026-03-17T10:00:00.000Z\"}}}\n"
    );
}

/// A daemon of another version, with one live session.
fn of_version(version: &'static str) -> FakeDaemon {
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => status(&json!({
            "version": version,
            "pendingLinks": 2,
            "sessions": [{
                "sessionId": "s1",
                "alias": "x",
                "state": "active",
                "device": {},
                "createdAt": "2026-03-17T10:00:00.000Z",
                "toolCount": 0,
            }],
        })),
        _ => result("[]"),
    })
}

#[test]
fn an_older_daemon_with_something_to_lose_is_not_replaced() {
    let daemon = of_version("0.7.0");
    let document = daemon.place.run(&["ls", "--json"]).json();
    assert_eq!(document["error"]["type"], "connection_error");
    assert_eq!(
        document["error"]["details"],
        json!({
            "daemon_version": "0.7.0",
            "client_version": env!("CARGO_PKG_VERSION"),
            "session_count": 1,
            "pending_link_count": 2,
        })
    );
    let message = document["error"]["message"].as_str().unwrap();
    for words in ["0.7.0", env!("CARGO_PKG_VERSION"), "appduct daemon stop", "--daemon-restart"] {
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(daemon.seen(), []);
}

#[test]
fn a_newer_daemon_is_told_once_and_only_to_people() {
    let daemon = of_version("99.0.0");
    let ran = daemon.place.run(&["ls"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Sessions\n  No Appduct sessions are registered.\n"));
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    assert!(ran.stderr.contains("99.0.0") && ran.stderr.contains(env!("CARGO_PKG_VERSION")), "{ran}");
    assert_eq!(daemon.place.run(&["ls", "--json"]).ok(), "{\"ok\":true,\"data\":[]}\n");
}

#[test]
fn a_status_only_warns_of_another_version() {
    let daemon = of_version("0.7.0");
    let ran = daemon.place.run(&["daemon", "status"]);
    let warning = ran.ok().lines().last().unwrap();
    assert!(warning.starts_with("Warning: "), "{ran}");
    for words in
        ["0.7.0", env!("CARGO_PKG_VERSION"), "1 session", "2 pending links", "appduct daemon stop", "--daemon-restart"]
    {
        assert!(warning.contains(words), "{warning}");
    }
    let document = daemon.place.run(&["daemon", "status", "--json"]).json();
    assert_eq!(format!("Warning: {}", document["data"]["warning"].as_str().unwrap()), warning);
    assert_eq!(document["data"]["daemon"]["session_count"], 1);
    let document = full().place.run(&["daemon", "status", "--json"]).json();
    assert!(document["data"].get("warning").is_none());
}

#[test]
fn stopping_nothing_starts_nothing() {
    let place = Place::new();
    let ran = place.run(&["daemon", "stop", "--json"]);
    assert_eq!(ran.failure(), (70, "connection_error".to_owned(), "No Appduct daemon is running.".to_owned()));
    assert!(!place.state_dir().exists());
}

#[test]
fn a_file_as_state_directory_is_named_with_what_to_do() {
    let place = Place::new();
    std::fs::write(place.work().join("file"), "").unwrap();
    for (args, code) in [(&["ls"][..], 70), (&["daemon", "run"], 64)] {
        let ran = place.run(&[args, &["--state-dir", "file", "--json"]].concat());
        let (ended, _, message) = ran.failure();
        assert_eq!(ended, code, "{ran}");
        assert!(message.contains("/file is not a directory; choose another with --state-dir"), "{message}");
    }
}
