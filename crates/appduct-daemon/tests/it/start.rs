//! Starting and stopping.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use appduct_daemon::{KeyError, Seams, StartError};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Control, Daemon, state_dir};

fn refused(directory: TempDir) -> StartError {
    match Daemon::in_directory(directory) {
        Ok(_) => panic!("the daemon started"),
        Err(error) => error,
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn every_file_is_private() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let daemon = Daemon::in_directory(directory).unwrap();
    let paths = daemon.paths();
    assert_eq!(mode(paths.root()), 0o700);
    for path in [paths.socket(), paths.pid_file(), paths.lock(), paths.key(), paths.last_ports()] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!(fs::read_to_string(paths.pid_file()).unwrap(), std::process::id().to_string());
    assert!(fs::read_to_string(paths.key()).unwrap().contains("BEGIN PRIVATE KEY"));
}

#[test]
fn where_sessions_are_not_kept_the_key_alone_outlives_the_daemon() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"127.0.0.1","persistSessions":false}"#);
    assert_eq!(daemon.call("daemon.status", json!({})).unwrap()["persistSessions"], false);
    let pin = daemon.link()["pin"].clone();
    let app = daemon.app("x");
    let (id, token) = (app.session_id.clone(), app.resume_token.clone());
    let directory = daemon.stop();
    app.expect_close(1001, "daemon_shutdown");

    let daemon = Daemon::in_directory(directory).unwrap();
    assert_eq!(daemon.link()["pin"], pin);
    assert!(daemon.sessions().is_empty());
    let mut again = daemon.socket();
    again.resume(&id, &token);
    again.expect_close(1008, "unknown_session");
    assert_eq!(daemon.app("x").alias, "x");
    assert!(!daemon.paths().sessions().exists());
}

#[test]
fn shutdown_answers_first_ends_calls_and_leaves_no_file() {
    let mut daemon = Daemon::start();
    let paths = daemon.paths();
    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut caller = daemon.control();
    let call = caller.request("tools.call", json!({"name": "a", "args": {}}));
    app.frame();
    let mut stopper = daemon.control();
    assert_eq!(stopper.call("daemon.shutdown", json!({})).unwrap(), json!({"ok": true}));
    assert_eq!(stopper.line(), None);
    let reply = caller.value();
    assert_eq!((&reply["id"], &reply["error"]["data"]["type"]), (&json!(call), &json!("unknown_session")));
    assert_eq!(caller.line(), None);
    app.expect_close(1001, "daemon_shutdown");
    daemon.wait();
    assert!(!paths.socket().exists() && !paths.pid_file().exists());
    assert!(Control::try_connect(&paths.socket()).is_none());
}

#[test]
fn a_second_daemon_is_told_who_runs() {
    let daemon = Daemon::start();
    let options = appduct_daemon::Options { state_dir: daemon.paths(), version: "2".to_owned() };
    let error =
        appduct_daemon::run_with(&options, Seams::default(), |_| panic!("the second daemon started")).unwrap_err();
    assert!(matches!(error, StartError::AlreadyRunning { pid: Some(pid) } if pid == std::process::id()));
    assert!(error.to_string().contains("already running"), "{error}");
    assert_eq!(daemon.call("sessions.list", json!({})).unwrap(), json!([]), "the first one is unharmed");
}

#[test]
fn a_stale_file_at_the_sockets_path_is_replaced() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    fs::write(directory.path().join("daemon.sock"), "stale").unwrap();
    fs::write(directory.path().join("daemon.pid"), "999999999").unwrap();
    let daemon = Daemon::in_directory(directory).unwrap();
    let metadata = fs::metadata(daemon.paths().socket()).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(daemon.call("sessions.list", json!({})).unwrap(), json!([]));
}

#[test]
fn a_broken_configuration_is_named_and_nothing_is_left_behind() {
    for (config, key) in [
        ("{", "config.json"),
        ("[]", "config.json"),
        (r#"{"wssPort":"8443"}"#, "wssPort"),
        (r#"{"keyPath":1}"#, "keyPath"),
        (r#"{"graceSeconds":0}"#, "graceSeconds"),
        (r#"{"linkTtlSeconds":1.5}"#, "linkTtlSeconds"),
        (r#"{"keepaliveIntervalSeconds":"15"}"#, "keepaliveIntervalSeconds"),
        (r#"{"eventBufferSize":-1}"#, "eventBufferSize"),
        (r#"{"auditRetentionDays":0}"#, "auditRetentionDays"),
        (r#"{"daemonLogMaxBytes":0}"#, "daemonLogMaxBytes"),
        (r#"{"eventsLogMaxBytes":0}"#, "eventsLogMaxBytes"),
        (r#"{"policy":{"default":"ask"}}"#, "policy.default"),
        (r#"{"advertisedIp":""}"#, "advertisedIp"),
        (r#"{"scheme":""}"#, "scheme"),
        (r#"{"webOrigins":[1]}"#, "webOrigins"),
        (r#"{"restartDaemonOnVersionMismatch":"true"}"#, "restartDaemonOnVersionMismatch"),
        (r#"{"persistSessions":"yes"}"#, "persistSessions"),
        (r#"{"validateArgs":1}"#, "validateArgs"),
        (r#"{"validateResults":1}"#, "validateResults"),
        (r#"{"bounds":{"tools":0}}"#, "bounds.tools"),
    ] {
        let directory = state_dir(config);
        let path = directory.path().to_owned();
        let error = refused(directory);
        assert!(matches!(&error, StartError::Config(fault) if fault.key == key), "{config}: {error:?}");
        assert!(error.to_string().contains("config.json"), "{error}");
        assert!(!path.join("daemon.pid").exists() && !path.join("daemon.sock").exists());
    }
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let key = directory.path().join("key.pem");
    appduct_daemon::generate_key(&key, false).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    let error = refused(directory);
    assert!(matches!(error, StartError::Key(KeyError::Exposed { mode: 0o640, .. })), "{error:?}");
    assert!(error.to_string().contains("chmod 600"), "{error}");
}

#[test]
fn a_taken_port_is_named_and_what_was_acquired_is_given_back() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let directory = state_dir(&format!(r#"{{"wssPort":{port}}}"#));
    let path = directory.path().to_owned();
    let options =
        appduct_daemon::Options { state_dir: appduct_rpc::StateDir::new(path.clone()), version: "1".to_owned() };
    let error = appduct_daemon::run_with(&options, Seams::default(), |_| panic!("the daemon started")).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, StartError::PortInUse { port: named, .. } if named == port));
    assert!(message.contains(&format!("{port} is already in use")) && message.contains("wssPort"), "{message}");
    assert!(!path.join("daemon.pid").exists() && !path.join("daemon.sock").exists());

    fs::write(path.join("config.json"), r#"{"wssPort":0}"#).unwrap();
    drop(Daemon::in_directory(directory).unwrap());
}

#[test]
fn a_configured_port_is_used_and_can_be_used_again_at_once() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let daemon = Daemon::with_config(&format!(r#"{{"wssPort":{free}}}"#));
    assert_eq!(daemon.port, free);
    daemon.app("x");
    let directory = daemon.stop();
    assert_eq!(Daemon::in_directory(directory).unwrap().port, free);
}

#[test]
fn an_advertised_address_that_is_none_fails_the_link_and_says_where_to_correct_it() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"my-mac.local"}"#);
    let error = daemon.call("link.create", json!({})).unwrap_err();
    assert_eq!(error["data"]["type"], "invalid_request");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("advertisedIp") && message.contains("config.json"), "{message}");
}
