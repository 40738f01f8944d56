//! File systems that are full or cannot be written: real ones.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{App, Control, Process, Secluded, eventually};

/// A folder for a state directory, which has the configuration beside it.
fn folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("ad").tempdir().unwrap();
    fs::create_dir(folder.path().join("state")).unwrap();
    fs::write(folder.path().join("state/config.json"), r#"{"wssPort":0,"advertisedIp":"127.0.0.1"}"#).unwrap();
    folder
}

/// An app with one tool.
fn app(control: &mut Control, port: u16) -> App {
    let mut app = App::connect(port);
    app.claim(&control.call("link.create", json!({})).unwrap(), "x");
    app.expect_ack();
    app.send_snapshot(json!([{"name": "ping", "description": "d"}]));
    let id = app.session_id.clone();
    eventually("the tool is registered", || {
        control.call("sessions.describe", json!({"selector": id})).unwrap()["toolCount"] == 1
    });
    app
}

/// A call that is answered.
fn ping(control: &mut Control, app: &mut App) {
    let id = control.request("tools.call", json!({"selector": app.session_id, "name": "ping", "args": {}}));
    let call = app.frame();
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": call["id"], "result": "pong"}));
    let reply = control.value();
    assert_eq!((&reply["id"], &reply["result"]["result"]), (&json!(id), &json!("pong")));
}

fn status(control: &mut Control) -> Value {
    control.call("daemon.status", json!({})).unwrap()
}

fn failed_writes(control: &mut Control) -> u64 {
    status(control)["audit"]["failedWrites"].as_u64().unwrap()
}

/// Takes all the room that is left.
fn fill(path: &Path) {
    let mut filler = File::create(path).unwrap();
    // Down to the last byte, so that not even a short line fits.
    for size in [4096, 1] {
        let error = loop {
            if let Err(error) = filler.write_all(&vec![b'x'; size]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}

/// Every line of the audit log.
fn audit_lines(directory: &Path) -> Vec<Value> {
    let days = fs::read_dir(directory).unwrap().map(|day| fs::read_to_string(day.unwrap().path()).unwrap());
    days.collect::<String>().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_disk_that_fills_up_and_has_room_again_costs_lines_that_are_counted_and_no_session() {
    if !Secluded::is_possible() {
        return;
    }
    let folder = folder();
    // As the first to write, the daemon finds room; a page is the least that a file takes.
    let daemon = Secluded::start(
        folder.path(),
        "config=$(cat \"$STATE/config.json\")
         mount -t tmpfs -o size=256k,mode=700 tmpfs \"$STATE\"
         echo \"$config\" > \"$STATE/config.json\"",
    );
    let mut control = daemon.control();
    let mut before = app(&mut control, daemon.process.port);
    ping(&mut control, &mut before);
    eventually("the first line is written", || audit_lines(&daemon.path("audit")).len() == 1);
    let saved = fs::read(daemon.path("sessions.json")).unwrap();

    fill(&daemon.path("filler"));
    let mut during = app(&mut control, daemon.process.port);
    // What is left of the page of the audit file takes some lines yet.
    let mut calls = 1;
    while failed_writes(&mut control) == 0 {
        ping(&mut control, &mut during);
        calls += 1;
        assert!(calls < 1000, "no line fails on a full disk");
    }
    let full = status(&mut control);
    assert!(full["failedSaves"].as_u64().unwrap() >= 1, "{full}");
    assert_eq!((&full["persistSessions"], &full["sessions"][1]["state"]), (&json!(false), &json!("active")));
    assert_eq!(fs::read(daemon.path("sessions.json")).unwrap(), saved, "the last good file is whole");

    fs::remove_file(daemon.path("filler")).unwrap();
    eventually("the save is tried again by itself", || status(&mut control)["persistSessions"] == true);
    ping(&mut control, &mut before);
    calls += 1;
    // Each line is there, or counted; those on their way are neither for a moment.
    eventually("every call is accounted for", || {
        audit_lines(&daemon.path("audit")).len() as u64 + failed_writes(&mut control) == calls
    });

    // What lies on that disk is all that the next daemon needs.
    let next = tempfile::Builder::new().prefix("ad").tempdir().unwrap();
    for name in ["config.json", "key.pem", "sessions.json"] {
        fs::copy(daemon.path(name), next.path().join(name)).unwrap();
    }
    drop(daemon);
    let process = Process::start(next.path());
    for app in [before, during] {
        let mut again = App::connect(process.port);
        again.resume(&app.session_id, &app.resume_token);
        again.expect_ack();
    }
}

#[test]
fn a_state_directory_that_becomes_read_only_stops_no_session_and_no_call() {
    if !Secluded::is_possible() {
        return;
    }
    let folder = folder();
    let daemon = Secluded::start(folder.path(), "");
    let mut control = daemon.control();
    let mut before = app(&mut control, daemon.process.port);
    daemon.remount("mount --bind \"$STATE\" \"$STATE\"; mount -o remount,bind,ro \"$STATE\"");
    let refused = File::create(daemon.path("probe")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnlyFilesystem);

    let mut during = app(&mut control, daemon.process.port);
    ping(&mut control, &mut before);
    ping(&mut control, &mut during);
    eventually("both lines are counted", || failed_writes(&mut control) == 2);
    let told = status(&mut control);
    assert!(told["failedSaves"].as_u64().unwrap() >= 1, "{told}");
    assert_eq!(told["persistSessions"], false);
    drop(daemon.control());

    daemon.remount("umount \"$STATE\"");
    eventually("the save is tried again by itself", || status(&mut control)["persistSessions"] == true);
    ping(&mut control, &mut during);
    eventually("lines are written again", || {
        daemon.path("audit").exists() && audit_lines(&daemon.path("audit")).len() == 1
    });
    let sessions = fs::read_to_string(daemon.path("sessions.json")).unwrap();
    assert!(sessions.contains(&before.session_id) && sessions.contains(&during.session_id));
}

#[test]
fn an_audit_directory_that_is_read_only_from_the_start_costs_lines_and_nothing_else() {
    if !Secluded::is_possible() {
        return;
    }
    let folder = folder();
    fs::create_dir(folder.path().join("state/audit")).unwrap();
    let read_only = "mount --bind \"$STATE/audit\" \"$STATE/audit\"; mount -o remount,bind,ro \"$STATE/audit\"";
    let daemon = Secluded::start(folder.path(), read_only);
    let mut control = daemon.control();
    let mut app = app(&mut control, daemon.process.port);
    for calls in 1..=3 {
        ping(&mut control, &mut app);
        eventually("the line is counted", || failed_writes(&mut control) == calls);
    }
    let status = status(&mut control);
    assert_eq!((&status["persistSessions"], &status["failedSaves"]), (&json!(true), &json!(0)));
    assert_eq!((&status["audit"]["files"], &status["audit"]["bytes"]), (&json!(0), &json!(0)));
}

#[test]
fn a_daemon_does_not_start_on_a_directory_that_it_cannot_write() {
    if !Secluded::is_possible() {
        return;
    }
    let folder = folder();
    let read_only = "mount --bind \"$STATE\" \"$STATE\"; mount -o remount,bind,ro \"$STATE\"";
    let mut daemon = Secluded::begin(folder.path(), read_only);
    assert!(!daemon.process.comes_up());
    assert!(!daemon.process.wait().success());
    let left: Vec<_> =
        fs::read_dir(folder.path().join("state")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["config.json"]);
}
