//! Ending a daemon.

use std::fs;

use appduct_rpc::stop::{StopError, StopMethod, stop};
use appduct_rpc::{Client, pid_file};

use crate::fake::{State, launcher};

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
