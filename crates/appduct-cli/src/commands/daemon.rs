//! `daemon`

use std::cmp::Ordering;
use std::path::Path;

use appduct_daemon::{KeyError, KeyKind, Options, StartError, Started};
use appduct_proto::wire::RawJson;
use appduct_rpc::methods::{DaemonStatus as StatusRequest, Status};
use appduct_rpc::version_guard::{self, Drift, Outcome};

use super::control::Control;
use super::{Stage, VERSION};
use crate::args::{DaemonAction, KeyType};
use crate::error::{Failure, sentence};
use crate::report::{
    DaemonRunning, DaemonStarted, DaemonStatus, DaemonStopped, Report, RunningDaemon, StartedDaemon, StatusAudit,
    StatusDaemon, StoppedDaemon,
};
use crate::settings::Settings;

/// Runs, starts, stops or looks at the daemon.
pub(super) fn run(settings: &Settings, action: DaemonAction, stage: &mut dyn Stage) -> Result<Option<Report>, Failure> {
    match action {
        DaemonAction::Run => serve(settings, stage).map(|()| None),
        DaemonAction::Start => start(settings, stage).map(Some),
        DaemonAction::Stop => stop(settings).map(Some),
        DaemonAction::Status => status(settings, stage).map(Some),
    }
}

fn serve(settings: &Settings, stage: &mut dyn Stage) -> Result<(), Failure> {
    settings.state_dir.check_owner()?;
    let options = Options { state_dir: settings.state_dir.clone(), version: VERSION.to_owned() };
    // A daemon serves even where nobody can be told that it does.
    let mut announced = Ok(());
    let announce = |started: &Started| {
        announced = stage.announce(&Report::DaemonRunning(DaemonRunning {
            daemon: RunningDaemon {
                pid: started.pid,
                state_dir: settings.state_dir.root().display().to_string(),
                socket_path: started.socket.display().to_string(),
            },
        }));
    };
    appduct_daemon::run(&options, announce).map_err(start_failure)?;
    announced
}

fn start_failure(error: StartError) -> Failure {
    let message = sentence(&error.to_string());
    match error {
        StartError::AlreadyRunning { pid } => already_running(pid),
        // The daemon's own files: the state directory, its configuration, its key.
        StartError::Config(_) | StartError::Key(_) | StartError::Io { .. } | StartError::Certificate(_) => {
            Failure::internal(message)
        }
        StartError::PortInUse { .. } | StartError::ForeignStateDir { .. } => {
            Failure { hint: None, ..Failure::connection(message) }
        }
        _ => Failure::internal(message),
    }
}

fn already_running(pid: Option<u32>) -> Failure {
    let named = pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
    let failure = Failure::connection(format!("An Appduct daemon is already running{named}."))
        .with_hint("Run `appduct daemon status` to see it, or `appduct daemon stop` to end it.");
    match RawJson::of(&serde_json::json!({ "pid": pid })) {
        Ok(details) => failure.with_details(details),
        Err(_) => failure,
    }
}

fn start(settings: &Settings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let status = Control::open(settings, stage)?.request(&StatusRequest)?;
    Ok(Report::DaemonStarted(DaemonStarted {
        daemon: StartedDaemon { pid: status.pid, wss_port: status.wss_port, started_at: status.started_at },
    }))
}

fn stop(settings: &Settings) -> Result<Report, Failure> {
    let method = appduct_rpc::stop::stop(&settings.state_dir)?.as_str();
    Ok(Report::DaemonStopped(DaemonStopped { daemon: StoppedDaemon { ok: true, method } }))
}

fn status(settings: &Settings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let status = Control::open_unguarded(settings, stage)?.request(&StatusRequest)?;
    let warning = drift_warning(&status);
    Ok(Report::DaemonStatus(Box::new(report(status, warning))))
}

/// What there is to say of a daemon of another version.
fn drift_warning(status: &Status) -> Option<String> {
    let daemon_version = status.version.clone();
    let client_version = VERSION.to_owned();
    let text = match version_guard::compare(&daemon_version, VERSION) {
        Some(Ordering::Equal) => return None,
        Some(Ordering::Less) => Drift {
            daemon_version,
            client_version,
            session_count: status.sessions.len() as u64,
            pending_link_count: status.pending_links.unwrap_or(0),
            sessions_persist: status.persist_sessions.unwrap_or(false),
        }
        .to_string(),
        Some(Ordering::Greater) | None => Outcome::NotOlder { daemon_version, client_version }.to_string(),
    };
    Some(sentence(&text))
}

fn report(status: Status, warning: Option<String>) -> DaemonStatus {
    let Status { version, pid, started_at, wss_port, pinned_keys, sessions, policy, audit, .. } = status;
    DaemonStatus {
        warning,
        daemon: StatusDaemon {
            version,
            pid,
            started_at,
            wss_port,
            web_port: status.web_port,
            pinned_keys,
            session_count: sessions.len(),
            uptime_seconds: status.uptime_seconds,
            calls_served: status.calls_served,
            resident_bytes: status.resident_bytes,
            open_sockets: status.open_sockets,
            persist_sessions: status.persist_sessions,
            failed_saves: status.failed_saves,
            config_fault: status.config_fault,
        },
        policy,
        audit: StatusAudit {
            path: audit.path,
            failed_writes: audit.failed_writes,
            failed_prunes: audit.failed_prunes,
            retention_days: audit.retention_days,
            files: audit.files,
            bytes: audit.bytes,
        },
    }
}

/// Makes a host key and returns its pin.
pub(super) fn make_key(path: &Path, key_type: KeyType, force: bool) -> Result<String, Failure> {
    let kind = match key_type {
        KeyType::Ec => KeyKind::EcP256,
        KeyType::Rsa => KeyKind::Rsa2048,
    };
    match appduct_daemon::generate_key_of(kind, path, force) {
        Ok(pin) => Ok(pin.to_string()),
        Err(error @ KeyError::Exists { .. }) => Err(Failure::usage(sentence(&error.to_string()))
            .with_hint("Pass --force to replace it; apps that trust this key stop trusting this machine.")),
        Err(error) => Err(Failure::internal(sentence(&error.to_string()))),
    }
}
