//! Ending a daemon.

use std::fs;
use std::time::Duration;

use appduct_rpc::stop::{StopError, StopMethod, StopPatience, stop, stop_within};
use appduct_rpc::{Client, pid_file};

use crate::fake::{PATIENCE, State, launcher, until};

#[test]
fn a_daemon_that_listens_is_asked_and_gone_afterwards() {
    let state = State::new();
    let leash = state.leash();
    Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    let pid = pid_file::live(&state.dir.pid_file()).unwrap();
    assert_eq!(stop(&state.dir).unwrap(), StopMethod::Rpc);
    assert!(!pid_file::is_alive(pid));
    assert!(!state.dir.socket().exists());
    daemon.wait();
    assert!(matches!(stop(&state.dir), Err(StopError::NotRunning)));
}

#[test]
fn a_daemon_without_its_socket_gets_the_signal() {
    let state = State::new();
    let leash = state.leash();
    Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    fs::remove_file(state.dir.socket()).unwrap();
    let pid = pid_file::live(&state.dir.pid_file()).unwrap();
    assert_eq!(stop(&state.dir).unwrap(), StopMethod::Sigterm);
    assert!(!pid_file::is_alive(pid));
    daemon.wait();
}

#[test]
fn where_nothing_runs_nothing_is_stopped() {
    let state = State::new();
    assert!(matches!(stop(&state.dir), Err(StopError::NotRunning)));
    for pid in ["", "nonsense", "2147483647"] {
        state.write("daemon.pid", pid);
        assert!(matches!(stop(&state.dir), Err(StopError::NotRunning)), "{pid:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_got_the_number_of_a_dead_daemon_is_spared() {
    let state = State::new();
    state.write("daemon.pid", &std::process::id().to_string());
    let error = stop(&state.dir).unwrap_err();
    assert!(matches!(error, StopError::NotADaemon { pid, .. } if pid == std::process::id()), "{error}");
}

/// Starts the fake daemon, which never answers.
fn deaf(state: &State) -> (crate::fake::Caught, u32) {
    let leash = state.leash();
    state.write("deaf", "");
    // It is there without an answer: the client that starts it gives up at once.
    let launcher = appduct_rpc::DaemonLauncher { ready_timeout: Duration::from_millis(1), ..launcher() };
    Client::connect(&state.dir, &launcher).ok();
    let daemon = leash.catch();
    until(|| std::os::unix::net::UnixStream::connect(state.dir.socket()).is_ok());
    (daemon, pid_file::live(&state.dir.pid_file()).unwrap())
}

#[test]
fn a_daemon_that_does_not_answer_gets_the_signal() {
    let state = State::new();
    let (daemon, pid) = deaf(&state);
    let patience = StopPatience { answer: Duration::from_millis(50), gone: PATIENCE };
    assert_eq!(stop_within(&state.dir, patience).unwrap(), StopMethod::Sigterm);
    assert!(!pid_file::is_alive(pid));
    daemon.wait();
}

#[test]
fn a_daemon_that_stays_is_named_with_the_last_resort() {
    let state = State::new();
    state.write("stubborn", "");
    let (_daemon, pid) = deaf(&state);
    let patience = StopPatience { answer: Duration::from_millis(50), gone: Duration::from_millis(50) };
    let error = stop_within(&state.dir, patience).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(&format!("(pid {pid})")) && message.contains(&format!("`kill -9 {pid}`")), "{message}");
    assert!(!message.contains("daemon stop"), "{message}");
    // Where nobody knows its process, no hint leads back here.
    fs::remove_file(state.dir.pid_file()).unwrap();
    let error = stop_within(&state.dir, patience).unwrap_err();
    assert!(matches!(error, StopError::StillThere { pid: None, .. }), "{error}");
    assert!(!error.to_string().contains("daemon stop"), "{error}");
}
