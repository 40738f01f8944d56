//! Starting a daemon: once, with what it needs, and with the reason when it does not come up.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use appduct_rpc::methods::{DaemonStatus, SessionsList};
use appduct_rpc::spawn::SpawnError;
use appduct_rpc::{Client, ClientError, DaemonLauncher, pid_file};

use crate::fake::{PATIENCE, State, launcher, no_program, until};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_daemon_is_started_where_none_answers_and_leaves_no_lock() {
    let state = State::new();
    let leash = state.leash();
    fs::set_permissions(state.dir.root(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    let status = client.request(&DaemonStatus, PATIENCE).unwrap();
    assert_eq!(pid_file::live(&state.dir.pid_file()), Some(status.pid));
    assert_eq!(client.take_warnings(), [""; 0]);
    assert!(!state.dir.spawn_lock().exists());
    assert_eq!((mode(state.dir.root()), mode(&state.dir.log())), (0o700, 0o600));
    // The second client finds it.
    Client::connect(&state.dir, &no_program()).unwrap().request(&SessionsList, PATIENCE).unwrap();
    assert_eq!(state.starts(), 1);
    drop(daemon);
}

#[test]
fn many_clients_at_once_start_one_daemon() {
    let state = State::new();
    let leash = state.leash();
    let barrier = std::sync::Barrier::new(16);
    let pids: Vec<_> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
                    client.request(&DaemonStatus, PATIENCE).unwrap().pid
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let daemon = leash.catch();
    assert_eq!(state.starts(), 1);
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert!(!state.dir.spawn_lock().exists());
    drop(daemon);
}

#[test]
fn a_stale_file_in_the_place_of_the_socket_is_replaced() {
    let state = State::new();
    let leash = state.leash();
    state.write("daemon.sock", "not a socket");
    state.write("daemon.pid", "2147483647");
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    client.request(&SessionsList, PATIENCE).unwrap();
    drop(daemon);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pid_file_that_names_somebody_else_by_now_is_stale() {
    let state = State::new();
    let leash = state.leash();
    state.write("daemon.sock", "not a socket");
    state.write("daemon.pid", &std::process::id().to_string());
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    client.request(&SessionsList, PATIENCE).unwrap();
    drop(daemon);
}

#[test]
fn a_daemon_that_was_killed_is_replaced_by_a_fresh_one() {
    let state = State::new();
    let leash = state.leash();
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    let first = client.request(&DaemonStatus, PATIENCE).unwrap().pid;
    drop(leash.catch());
    // Its pid file and its socket are still there, and it is a zombie of this process.
    until(|| !pid_file::is_alive(first));
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    assert_ne!(client.request(&DaemonStatus, PATIENCE).unwrap().pid, first);
    let daemon = leash.catch();
    drop(daemon);
}

#[cfg(target_os = "linux")]
#[test]
fn a_request_that_a_dying_daemon_never_read_goes_to_the_next_one() {
    let state = State::new();
    let leash = state.leash();
    let dying = UnixListener::bind(state.dir.socket()).unwrap();
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    drop(dying);
    client.request(&SessionsList, PATIENCE).unwrap();
    let daemon = leash.catch();
    assert_eq!(state.starts(), 1);
    drop(daemon);
}

#[test]
fn a_request_that_was_read_is_not_repeated() {
    let state = State::new();
    let daemon = crate::fake::daemon(&state, vec![Box::new(|mut peer| drop(peer.receive()))]);
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    assert!(matches!(client.request(&SessionsList, PATIENCE), Err(ClientError::Closed)));
    assert_eq!(state.starts(), 0);
    daemon.join().unwrap();
}

#[test]
fn a_daemon_that_ends_at_once_is_reported_with_its_last_words() {
    let state = State::new();
    state.write("daemon.log", "from an earlier one\n");
    state.write("fail", "port 8443 is in use");
    let error = Client::connect(&state.dir, &launcher()).unwrap_err();
    let ClientError::Spawn(SpawnError::Exited { status, output, .. }) = &error else { panic!("{error}") };
    assert_eq!(status.code(), Some(70));
    assert_eq!(*output, ["fake-daemon: starting", "port 8443 is in use"]);
    let text = error.to_string();
    assert!(text.contains("port 8443 is in use") && text.contains("daemon.log"), "{text}");
    assert!(!state.dir.spawn_lock().exists());
    assert_eq!((state.starts(), error.exit_code()), (1, 70));
}

#[test]
fn a_daemon_that_loses_to_one_which_then_goes_is_started_again() {
    let state = State::new();
    let leash = state.leash();
    state.write("fail", "an appduct daemon is already running (pid 1)");
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    client.request(&SessionsList, PATIENCE).unwrap();
    assert_eq!(state.starts(), 2);
    drop(daemon);
}

#[test]
fn a_daemon_that_never_listens_is_given_up() {
    let state = State::new();
    let leash = state.leash();
    state.write("mute", "");
    let launcher = DaemonLauncher { ready_timeout: Duration::from_millis(300), ..launcher() };
    let error = Client::connect(&state.dir, &launcher).unwrap_err();
    let daemon = leash.catch();
    let ClientError::Spawn(SpawnError::NotReady { spawn_lock: None, .. }) = &error else { panic!("{error}") };
    assert!(error.to_string().contains("daemon.sock"), "{error}");
    drop(daemon);
}

#[test]
fn a_lock_of_somebody_else_is_waited_for_and_named() {
    let state = State::new();
    state.write("daemon.spawn.lock", "");
    let launcher = DaemonLauncher { ready_timeout: Duration::from_millis(50), ..launcher() };
    let error = Client::connect(&state.dir, &launcher).unwrap_err();
    assert!(error.to_string().contains(&state.dir.spawn_lock().display().to_string()), "{error}");
    assert_eq!(state.starts(), 0);
    assert!(state.dir.spawn_lock().exists());
}

#[test]
fn the_daemon_that_somebody_else_starts_is_used() {
    let state = State::new();
    state.write("daemon.spawn.lock", "");
    let waiting = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut client = Client::connect(&state.dir, &DaemonLauncher { ready_timeout: PATIENCE, ..no_program() })?;
            client.request(&SessionsList, PATIENCE)
        });
        let daemon = crate::fake::daemon(
            &state,
            vec![Box::new(|mut peer| {
                peer.answer("[]");
            })],
        );
        let reply = client.join().unwrap();
        daemon.join().unwrap();
        reply
    });
    assert_eq!(waiting.unwrap(), []);
}

#[test]
fn the_lock_of_a_dead_client_does_not_stop_anybody() {
    let state = State::new();
    let leash = state.leash();
    state.write("daemon.spawn.lock", "2147483647");
    let mut client = Client::connect(&state.dir, &launcher()).unwrap();
    let daemon = leash.catch();
    client.request(&SessionsList, PATIENCE).unwrap();
    assert!(!state.dir.spawn_lock().exists());
    drop(daemon);
}

#[test]
fn a_program_that_cannot_be_run_is_named() {
    let state = State::new();
    let error = Client::connect(&state.dir, &no_program()).unwrap_err();
    assert!(matches!(error, ClientError::Spawn(SpawnError::Program { .. })), "{error}");
    assert!(error.to_string().contains("/nonexistent/appduct"), "{error}");
    assert!(!state.dir.spawn_lock().exists());
}
