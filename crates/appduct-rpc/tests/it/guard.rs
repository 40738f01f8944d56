//! The version guard against a daemon that is older.

use appduct_rpc::version_guard::{GuardError, Outcome, Terms, check};
use appduct_rpc::{Client, ClientError, DaemonLauncher};

use crate::fake::{PATIENCE, State, daemon, launcher, no_program};

const TERMS: Terms<'_> = Terms { client_version: "1.1.0", force: false };

#[test]
fn an_older_daemon_with_nothing_to_lose_is_replaced() {
    let state = State::new();
    let leash = state.leash();
    let client = Client::connect(&state.dir, &launcher()).unwrap();
    let old = leash.catch();
    state.write("version", "1.1.0");
    let mut guarded = check(client, &state.dir, &launcher(), TERMS).unwrap();
    let new = leash.catch();
    old.wait();
    assert_eq!(guarded.outcome, Outcome::Replaced { daemon_version: "1.0.0".into(), client_version: "1.1.0".into() });
    let status = guarded.client.request(&appduct_rpc::methods::DaemonStatus, PATIENCE).unwrap();
    assert_eq!(status.version, "1.1.0");
    assert_eq!(state.starts(), 2);
    assert!(!state.dir.spawn_lock().exists());
    drop(new);
}

#[test]
fn a_replacement_that_is_older_too_is_not_replaced_again() {
    let state = State::new();
    let leash = state.leash();
    let client = Client::connect(&state.dir, &launcher()).unwrap();
    let old = leash.catch();
    state.write("version", "1.0.5");
    let error = check(client, &state.dir, &launcher(), TERMS).unwrap_err();
    let new = leash.catch();
    assert!(matches!(&error, GuardError::StillOlder(drift) if drift.daemon_version == "1.0.5"), "{error}");
    assert_eq!(state.starts(), 2);
    drop((old, new));
}

#[test]
fn a_daemon_with_a_session_is_refused_and_left_alone() {
    let state = State::new();
    let daemon = daemon(
        &state,
        vec![Box::new(|mut peer| {
            peer.answer(r#"{"version":"1.0.0","sessions":[{}],"pendingLinks":2}"#);
            assert_eq!(peer.receive(), None);
        })],
    );
    let client = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap();
    let GuardError::Older(drift) = check(client, &state.dir, &no_program(), TERMS).unwrap_err() else { panic!() };
    assert_eq!((drift.session_count, drift.pending_link_count), (1, 2));
    daemon.join().unwrap();
}

#[test]
fn a_session_that_comes_while_the_lock_is_taken_is_seen() {
    let state = State::new();
    let daemon = daemon(
        &state,
        vec![
            Box::new(|mut peer| {
                peer.answer(r#"{"version":"1.0.0","sessions":[]}"#);
            }),
            Box::new(|mut peer| {
                peer.answer(r#"{"version":"1.0.0","sessions":[{}]}"#);
                assert_eq!(peer.receive(), None, "no shutdown is sent");
            }),
        ],
    );
    let client = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap();
    assert!(matches!(check(client, &state.dir, &no_program(), TERMS), Err(GuardError::Older(_))));
    assert!(!state.dir.spawn_lock().exists());
    daemon.join().unwrap();
}

#[test]
fn a_daemon_that_another_client_has_replaced_meanwhile_is_used() {
    let state = State::new();
    let daemon = daemon(
        &state,
        vec![
            Box::new(|mut peer| {
                peer.answer(r#"{"version":"1.0.0"}"#);
            }),
            Box::new(|mut peer| {
                peer.answer(r#"{"version":"1.1.0"}"#);
                peer.answer(r#"{"version":"1.1.0"}"#);
            }),
        ],
    );
    let client = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap();
    let guarded = check(client, &state.dir, &no_program(), TERMS).unwrap();
    assert_eq!(guarded.outcome, Outcome::Same);
    daemon.join().unwrap();
}

#[test]
fn a_client_that_starts_no_daemon_replaces_none() {
    let state = State::new();
    let daemon = daemon(
        &state,
        vec![Box::new(|mut peer| {
            peer.answer(r#"{"version":"1.0.0"}"#);
            assert_eq!(peer.receive(), None);
        })],
    );
    let client = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap();
    let result = check(client, &state.dir, &DaemonLauncher::never(), Terms { force: true, ..TERMS });
    assert!(matches!(result, Err(GuardError::Older(_))));
    daemon.join().unwrap();
}

#[test]
fn a_daemon_that_hangs_up_on_the_question_is_not_replaced() {
    let state = State::new();
    let daemon = daemon(&state, vec![Box::new(|mut peer| drop(peer.receive()))]);
    let client = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap();
    let error = check(client, &state.dir, &no_program(), TERMS).unwrap_err();
    assert!(matches!(error, GuardError::Client(ClientError::Closed)), "{error}");
    daemon.join().unwrap();
}
