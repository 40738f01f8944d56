//! What takes a process of its own: signals and sudden death. The process is this test binary, run anew for one test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use appduct_daemon::{Options, Seams, run, run_with};
use appduct_rpc::StateDir;
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{App, Control, Process, STATE_DIR, WAIT_FOR_START, state_dir};

/// Run by the tests below in a process of its own; by itself it starts a daemon and stops it.
#[test]
fn a_daemon_runs_until_it_is_told_to_stop() {
    let told = std::env::var_os(STATE_DIR);
    let own = told.is_none().then(|| state_dir(r#"{"wssPort":0}"#));
    let root = told.map(Into::into).or_else(|| own.as_ref().map(|own| own.path().to_owned())).unwrap();
    if std::env::var_os(WAIT_FOR_START).is_some() {
        // The end of the input is heard by every process that waits for it at once.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }
    // Over a limit of its file sizes a process hears this signal and, if it lives on, that the file cannot grow.
    signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::<AtomicBool>::default()).unwrap();
    let options = Options { state_dir: StateDir::new(root), version: "1".to_owned() };
    let ended = if own.is_some() {
        run_with(&options, Seams::default(), |started| {
            assert_eq!(Control::connect(&started.socket).call("daemon.shutdown", json!({})), Ok(json!({"ok": true})));
        })
    } else {
        run(&options, |started| {
            // Either may lead nowhere.
            writeln!(std::io::stdout(), "up on {}", started.wss_port).ok();
            writeln!(std::io::stderr(), "up on {}", started.wss_port).ok();
        })
    };
    ended.unwrap();
}

#[test]
fn either_signal_ends_the_daemon_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let directory = state_dir(r#"{"wssPort":0}"#);
        let paths = StateDir::new(directory.path().to_owned());
        let mut process = Process::start(directory.path());
        assert_eq!(std::fs::read_to_string(paths.pid_file()).unwrap(), process.id().to_string());
        let app = App::connect(process.port);
        // The reply shows that the socket has been seen.
        Control::connect(&paths.socket()).call("daemon.status", json!({})).unwrap();
        process.signal(signal);
        app.expect_close(1001, "daemon_shutdown");
        assert_eq!(process.wait().code(), Some(0));
        assert!(!paths.socket().exists() && !paths.pid_file().exists());
    }
}

#[test]
fn the_second_signal_ends_the_daemon_at_once() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let mut process = Process::start(directory.path());
    // An app that does not hang up keeps the farewell going for a while.
    let _app = App::connect(process.port);
    process.signal(Signal::TERM);
    process.log_line("the daemon goes");
    process.signal(Signal::TERM);
    assert_eq!(process.wait().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn a_log_that_cannot_be_written_costs_the_daemon_nothing() {
    let (reader, closed_pipe) = std::io::pipe().unwrap();
    drop(reader);
    let mut places = vec![Stdio::from(closed_pipe)];
    if cfg!(target_os = "linux") {
        places.push(File::options().write(true).open("/dev/full").unwrap().into());
    }
    for stderr in places {
        let directory = state_dir(r#"{"wssPort":0}"#);
        let paths = StateDir::new(directory.path().to_owned());
        let mut process = Process::start_logging_to(directory.path(), stderr);
        let mut control = Control::connect(&paths.socket());
        let mut app = App::connect(process.port);
        app.claim(&control.call("link.create", json!({})).unwrap(), "Pixel 8");
        app.expect_ack();
        assert_eq!(control.call("daemon.shutdown", json!({})), Ok(json!({"ok": true})));
        assert_eq!(process.wait().code(), Some(0));
        assert!(!paths.socket().exists() && !paths.pid_file().exists());
    }
}

#[test]
fn the_log_tells_of_sessions_and_calls_and_keeps_what_they_carry_to_itself() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let mut process = Process::start(directory.path());
    let mut control = Control::connect(&StateDir::new(directory.path()).socket());
    let mut app = App::connect(process.port);
    app.claim(&control.call("link.create", json!({})).unwrap(), "Pixel 8");
    app.expect_ack();
    app.send_snapshot(json!([{"name": "pay", "description": "d"}]));
    crate::harness::eventually("the tool is there", || {
        control.call("sessions.list", json!({})).unwrap()[0]["toolCount"] == 1
    });
    control.request("tools.call", json!({"name": "pay", "args": {"card": "hunter2"}}));
    let call = app.frame();
    let id = call["id"].as_str().unwrap();
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": id, "result": "hunter3"}));
    control.value();
    assert_eq!(control.call("sessions.revoke", json!({"selector": "pixel-8"})), Ok(json!({"ok": true})));
    for (what, parts) in [
        ("paired", vec!["pixel-8"]),
        ("call started", vec!["pixel-8", "pay", id]),
        ("call ended", vec!["pixel-8", "pay", id, "result"]),
        ("revoked", vec!["pixel-8"]),
    ] {
        let line = process.log_line(what);
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        assert!(!line.contains("hunter"), "{line}");
    }
}

#[test]
fn a_killed_daemon_leaves_nothing_in_the_way_of_the_next() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let paths = StateDir::new(directory.path().to_owned());
    let mut first = Process::start(directory.path());
    first.signal(Signal::KILL);
    first.wait();
    assert!(paths.socket().exists() && paths.pid_file().exists());
    let second = Process::start(directory.path());
    let mut control = Control::connect(&paths.socket());
    assert_eq!(control.call("sessions.list", json!({})).unwrap(), json!([]));
    let mut app = App::connect(second.port);
    app.claim(&control.call("link.create", json!({})).unwrap(), "Pixel 8");
    app.expect_ack();
    assert_eq!(app.alias, "pixel-8");
}

#[test]
fn of_two_daemons_that_start_at_the_same_instant_exactly_one_lives() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let paths = StateDir::new(directory.path().to_owned());
    for round in 0..50 {
        let (starters, go) = Process::prepare_many(2, directory.path());
        drop(go);
        let outcomes: Vec<_> = starters
            .into_iter()
            .map(|mut process| {
                // Whoever does not come up has ended by itself.
                std::thread::spawn(move || process.comes_up().then_some(process))
            })
            .collect();
        let mut living: Vec<_> = outcomes.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(living.len(), 1, "round {round}");
        let mut survivor = living.remove(0);
        let status = Control::connect(&paths.socket()).call("daemon.status", json!({})).unwrap();
        assert_eq!(status["pid"], survivor.id());
        assert_eq!(std::fs::read_to_string(paths.pid_file()).unwrap(), survivor.id().to_string());
        drop(App::connect(survivor.port));
        // The next two find what an orderly end leaves, or what a sudden one does.
        survivor.signal(if round % 2 == 0 { Signal::TERM } else { Signal::KILL });
        survivor.wait();
    }
}
