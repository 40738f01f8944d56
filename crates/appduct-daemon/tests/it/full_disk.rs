//! A disk that takes no more bytes. The process is held to a file size, which fails its writes half way as a full disk does.

#![cfg(target_os = "linux")]

use appduct_rpc::StateDir;
use serde_json::json;

use crate::harness::{App, Control, Process, eventually, state_dir};
use rustix::process::Signal;

#[test]
fn a_full_disk_stops_no_call_is_told_and_loses_nothing_that_was_saved_before_or_after() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let paths = StateDir::new(directory.path().to_owned());
    let mut process = Process::start(directory.path());
    let mut control = Control::connect(&paths.socket());
    let app = |control: &mut Control, port| {
        let mut app = App::connect(port);
        app.claim(&control.call("link.create", json!({})).unwrap(), "x");
        app.expect_ack();
        app
    };
    let before = app(&mut control, process.port);
    let saved = std::fs::read(paths.sessions()).unwrap();

    process.limit_files(Some(100));
    let mut during = app(&mut control, process.port);
    during.send_snapshot(json!([{"name": "ping", "description": "d"}]));
    eventually("the tool is registered", || {
        control.call("daemon.status", json!({})).unwrap()["sessions"][1]["toolCount"] == 1
    });
    control.request("tools.call", json!({"selector": during.session_id, "name": "ping", "args": {}}));
    let call = during.frame();
    during.send(json!({"type": "tool_result", "session_id": during.session_id, "id": call["id"], "result": "pong"}));
    assert_eq!(control.value()["result"]["result"], "pong");
    eventually("the audit log's failure is told", || {
        control.call("daemon.status", json!({})).unwrap()["audit"]["failedWrites"] == 1
    });
    let status = control.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["persistSessions"], &status["sessions"][1]["state"]), (&json!(false), &json!("active")));
    assert!(status["failedSaves"].as_u64().unwrap() >= 1, "{status}");
    assert_eq!(std::fs::read(paths.sessions()).unwrap(), saved, "the last good file is whole");
    assert!(!paths.root().join("sessions.json.tmp").exists(), "half a file does not stay on a full disk");

    process.limit_files(None);
    eventually("the save is tried again by itself", || {
        control.call("daemon.status", json!({})).unwrap()["persistSessions"] == true
    });
    process.signal(Signal::KILL);
    process.wait();
    let process = Process::start(directory.path());
    for app in [before, during] {
        let mut again = App::connect(process.port);
        again.resume(&app.session_id, &app.resume_token);
        again.expect_ack();
    }
}
