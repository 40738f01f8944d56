//! What takes a process of its own: signals and sudden death. The process is this test binary, run anew for one test.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use appduct_daemon::{Options, Seams, run, run_with};
use appduct_rpc::StateDir;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::harness::{App, Control, state_dir};

const STATE_DIR: &str = "APPDUCT_TEST_STATE_DIR";

/// Run by the tests below in a process of its own; by itself it starts a daemon and stops it.
#[test]
fn a_daemon_runs_until_it_is_told_to_stop() {
    let told = std::env::var_os(STATE_DIR);
    let own = told.is_none().then(|| state_dir(r#"{"wssPort":0}"#));
    let root = told.map(Into::into).or_else(|| own.as_ref().map(|own| own.path().to_owned())).unwrap();
    let options = Options { state_dir: StateDir::new(root), version: "1".to_owned() };
    let ended = if own.is_some() {
        run_with(&options, Seams::default(), |started| {
            assert_eq!(Control::connect(&started.socket).call("daemon.shutdown", json!({})), Ok(json!({"ok": true})));
        })
    } else {
        run(&options, |started| eprintln!("up on {}", started.wss_port))
    };
    ended.unwrap();
}

/// Killed when the test lets go of it.
struct Process {
    child: Child,
    log: BufReader<ChildStderr>,
    port: u16,
}

impl Process {
    fn start(root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process::a_daemon_runs_until_it_is_told_to_stop", "--nocapture"])
            .env(STATE_DIR, root)
            .env("APPDUCT_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut process = Self { child, log, port: 0 };
        let line = process.log_line("up on ");
        process.port = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        process
    }

    /// Waits for a line of the log that holds `part`.
    fn log_line(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "the daemon ended before it said {part:?}");
            if line.contains(part) {
                return line;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn either_signal_ends_the_daemon_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let directory = state_dir(r#"{"wssPort":0}"#);
        let paths = StateDir::new(directory.path().to_owned());
        let mut process = Process::start(directory.path());
        assert_eq!(std::fs::read_to_string(paths.pid_file()).unwrap(), process.child.id().to_string());
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
