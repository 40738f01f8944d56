//! Sessions and links that outlive the daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use appduct_daemon::Seams;
use serde_json::json;

use crate::harness::{App, Daemon, WebApp, eventually, state_dir, web_upgrade};

fn restart(daemon: Daemon) -> Daemon {
    Daemon::in_directory(daemon.stop()).unwrap()
}

/// The same with a clock that goes on.
fn restart_after(daemon: Daemon, pause: Duration) -> Daemon {
    let clock = daemon.clock.clone();
    let directory = daemon.stop();
    clock.advance(pause);
    Daemon::with_seams(directory, Seams { clock, ..Seams::default() }).unwrap()
}

#[test]
fn an_app_resumes_with_the_next_daemon_as_if_nothing_had_happened() {
    let daemon = Daemon::start();
    let app = daemon.app_with_tools("Pixel 8", json!([{"name": "pay", "description": "d"}]));
    let (port, before) = (daemon.port, daemon.session(&app.session_id).unwrap());
    let (id, token) = (app.session_id.clone(), app.resume_token.clone());
    assert_eq!(daemon.call("daemon.status", json!({})).unwrap()["persistSessions"], true);

    let daemon = restart(daemon);
    app.expect_close(1001, "daemon_shutdown");
    assert_eq!(daemon.port, port, "the app looks for it there");
    let after = daemon.session(&id).unwrap();
    for key in ["alias", "device", "createdAt", "claimedAt"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert_eq!((&after["state"], &after["suspendReason"]), (&json!("suspended"), &json!("connection_lost")));
    assert_eq!(after["toolCount"], 0, "what the app registers comes from the app");

    let mut app = daemon.socket();
    app.resume(&id, &token);
    app.expect_ack();
    assert_eq!(app.alias, "pixel-8");
    assert_ne!(app.resume_token, token);
    app.send_snapshot(json!([{"name": "pay", "description": "d"}]));
    eventually("the tools are registered", || daemon.session(&id).unwrap()["toolCount"] == 1);
    assert_eq!(daemon.app("Pixel 8").alias, "pixel-8-2", "the alias was not given away");

    // Once more, with the token of the second daemon.
    let token = app.resume_token.clone();
    let daemon = restart(daemon);
    let mut app = daemon.socket();
    app.resume(&id, &token);
    app.expect_ack();
}

#[test]
fn a_used_up_token_stays_dead() {
    let daemon = Daemon::start();
    let first = daemon.app("x");
    let (id, old) = (first.session_id.clone(), first.resume_token.clone());
    let mut second = daemon.socket();
    second.resume(&id, &old);
    second.expect_ack();
    // The first frame proves that the app has the new token.
    second.send_snapshot(json!([{"name": "a", "description": "d"}]));
    eventually("the frame is in", || daemon.session(&id).unwrap()["toolCount"] == 1);
    let daemon = restart(daemon);
    let mut third = daemon.socket();
    third.resume(&id, &old);
    third.expect_close(1008, "invalid_resume_token");
}

#[test]
fn a_page_resumes_on_the_same_port() {
    let daemon = Daemon::start();
    let port = daemon.web_port;
    let mut page = web_upgrade(port, Some("http://localhost:3000")).unwrap();
    page.claim(&daemon.web_link(), "Chrome");
    page.expect_ack();
    let (id, token) = (page.session_id.clone(), page.resume_token.clone());
    let daemon = restart(daemon);
    assert_eq!(daemon.web_port, port);
    let mut wrong = daemon.socket();
    wrong.resume(&id, &token);
    wrong.expect_close(1008, "wrong_transport");
    let mut page = WebApp::connect_to_web(port);
    page.resume(&id, &token);
    page.expect_ack();
}

#[test]
fn a_link_can_be_claimed_from_the_next_daemon() {
    let daemon = Daemon::start();
    let link = daemon.link();
    let daemon = restart(daemon);
    assert_eq!(daemon.call("daemon.status", json!({})).unwrap()["pendingLinks"], 1);
    let mut app = daemon.socket();
    app.claim(&link, "x");
    app.expect_ack();
    assert_eq!(app.session_id, link["sessionId"]);
}

#[test]
fn grace_goes_on_while_no_daemon_runs() {
    let daemon = Daemon::start();
    let app = daemon.app("x");
    let (id, token) = (app.session_id.clone(), app.resume_token.clone());
    let daemon = restart_after(daemon, Duration::from_secs(580));
    assert!(daemon.session(&id).is_some());
    daemon.clock.advance(Duration::from_secs(20));
    assert!(daemon.sessions().is_empty());
    let mut app = daemon.socket();
    app.resume(&id, &token);
    app.expect_close(1008, "unknown_session");
    let daemon = restart(daemon);
    assert!(daemon.sessions().is_empty(), "what has expired stays so");
}

#[test]
fn a_revoked_session_does_not_come_back() {
    let daemon = Daemon::start();
    let app = daemon.app("x");
    daemon.call("sessions.revoke", json!({"selector": "x"})).unwrap();
    app.expect_close(1000, "revoked");
    assert!(restart(daemon).sessions().is_empty());
}

#[test]
fn the_file_is_private_and_holds_no_token() {
    let daemon = Daemon::start();
    let link = daemon.link();
    let app = daemon.app("x");
    let directory = daemon.stop();
    let path = directory.path().join("sessions.json");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(&app.session_id) && text.contains(link["sessionId"].as_str().unwrap()));
    let payload = link["deepLinkPayload"].as_str().unwrap();
    let token = appduct_proto::wire::Bootstrap::decode(payload).unwrap().token_text();
    assert!(!text.contains(&app.resume_token) && !text.contains(&token));
    assert!(!directory.path().join("sessions.json.tmp").exists());
}

#[test]
fn the_file_of_a_newer_daemon_is_never_overwritten() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let path = directory.path().join("sessions.json");
    let newer = r#"{"version":99,"sessions":"elsewhere"}"#;
    fs::write(&path, newer).unwrap();
    let daemon = Daemon::in_directory(directory).unwrap();
    let status = daemon.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["persistSessions"], &status["failedSaves"]), (&json!(false), &json!(0)));
    daemon.app("x");
    let directory = daemon.stop();
    assert_eq!(fs::read_to_string(directory.path().join("sessions.json")).unwrap(), newer);
}

#[test]
fn a_broken_file_is_set_aside_and_a_new_one_begun() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    fs::write(directory.path().join("sessions.json"), "{\"version\":1,\"sess").unwrap();
    let daemon = Daemon::in_directory(directory).unwrap();
    let aside = daemon.paths().root().join("sessions.json.broken-1");
    assert_eq!(fs::read_to_string(aside).unwrap(), "{\"version\":1,\"sess");
    let app = daemon.app("x");
    let (id, token) = (app.session_id.clone(), app.resume_token.clone());
    let daemon = restart(daemon);
    let mut app = daemon.socket();
    app.resume(&id, &token);
    app.expect_ack();
}

#[test]
fn a_port_that_somebody_took_meanwhile_is_given_up() {
    let daemon = Daemon::start();
    let port = daemon.port;
    let app = daemon.app("x");
    let (id, token) = (app.session_id.clone(), app.resume_token.clone());
    let directory = daemon.stop();
    app.expect_close(1001, "daemon_shutdown");
    let taken = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port)).unwrap();
    let daemon = Daemon::in_directory(directory).unwrap();
    assert_ne!(daemon.port, port);
    drop(taken);
    let mut app = App::connect(daemon.port);
    app.resume(&id, &token);
    app.expect_ack();
}

#[test]
fn a_directory_that_takes_no_file_stops_nobody_and_is_told() {
    let daemon = Daemon::start();
    let status = || daemon.call("daemon.status", json!({})).unwrap();
    let kept = daemon.app("kept");
    let before = fs::read_to_string(daemon.paths().sessions()).unwrap();
    // The superuser may write everywhere, but not where a directory is in the way.
    fs::create_dir_all(daemon.paths().root().join("sessions.json.tmp/in the way")).unwrap();
    fs::set_permissions(daemon.paths().root(), fs::Permissions::from_mode(0o500)).unwrap();
    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    assert_ne!(status()["failedSaves"], 0);
    assert_eq!(status()["persistSessions"], false);
    let mut caller = daemon.control();
    caller.request("tools.call", json!({"name": "a", "args": {}, "selector": "x"}));
    let call = app.frame();
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": call["id"], "result": 1}));
    assert_eq!(caller.value()["result"]["result"], 1);
    assert_eq!(fs::read_to_string(daemon.paths().sessions()).unwrap(), before, "the old content is whole");

    fs::set_permissions(daemon.paths().root(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_dir_all(daemon.paths().root().join("sessions.json.tmp")).unwrap();
    daemon.app("y");
    eventually("saves succeed again", || status()["persistSessions"] == true);
    let tokens =
        [(kept.session_id.clone(), kept.resume_token.clone()), (app.session_id.clone(), app.resume_token.clone())];
    let daemon = restart(daemon);
    for (id, token) in tokens {
        let mut app = daemon.socket();
        app.resume(&id, &token);
        app.expect_ack();
    }
}
