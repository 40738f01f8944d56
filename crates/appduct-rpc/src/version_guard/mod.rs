//! Keeps a newer client from working with an older daemon.
//!
//! A client checks once per process, on its first connection: [`check`] asks the daemon for its version. The same version
//! passes. A newer daemon, or one whose version cannot be ordered, passes with a notice. An older one is replaced where
//! nothing is lost by it or where that was asked for; otherwise the error says what is at stake.

mod order;

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::time::Duration;

use appduct_proto::wire::{Fields, RawJson};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::client::{connect, decode};
use crate::methods::{DaemonShutdown, DaemonStatus, Method};
use crate::spawn::{self, SpawnLock, Wait};
use crate::stop::{self, StopError};
use crate::{Client, ClientError, DaemonLauncher, StateDir, pid_file};

pub use order::compare;

/// How long the daemon that is to be replaced may take for each answer.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long another client's replacement is waited for: it may take this long to end the old daemon and to start a new one.
const OTHERS_TIMEOUT: Duration = Duration::from_secs(15);

/// Who checks, and how resolute.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The client's own version.
    pub client_version: &'a str,
    /// Whether an older daemon is replaced even if something is lost by it; see [`force`].
    pub force: bool,
}

/// A connection that passed.
#[derive(Debug)]
pub struct Guarded {
    /// The connection, to the new daemon where one was started.
    pub client: Client,
    /// How it passed.
    pub outcome: Outcome,
}

/// How a connection passed. `Display` has the words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both are of the same version.
    Same,
    /// The daemon is newer, or the two cannot be ordered; people should hear of it.
    NotOlder {
        /// The daemon's version.
        daemon_version: String,
        /// The client's.
        client_version: String,
    },
    /// An older daemon was replaced.
    Replaced {
        /// The version of the old one.
        daemon_version: String,
        /// The version of the new one.
        client_version: String,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("the daemon is of the same version"),
            Self::NotOlder { daemon_version, client_version } => write!(
                f,
                "the daemon is version {daemon_version} and this command is version {client_version}; update the command, \
                 or run `appduct daemon stop` to let the next command start its own"
            ),
            Self::Replaced { daemon_version, client_version } => {
                write!(f, "replaced the daemon of version {daemon_version} by version {client_version}")
            }
        }
    }
}

/// An older daemon, and what its end would cost. Serialises to the details of the error report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The daemon's version.
    pub daemon_version: String,
    /// The client's.
    pub client_version: String,
    /// Its live sessions.
    pub session_count: u64,
    /// Its links that may still be claimed.
    pub pending_link_count: u64,
    /// Whether its sessions outlive it, so that only calls in flight and links are lost.
    #[serde(skip)]
    pub sessions_persist: bool,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { daemon_version, client_version, session_count, pending_link_count, sessions_persist } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let sessions = if *sessions_persist { "interrupt the calls of" } else { "end" };
        write!(
            f,
            "the running daemon is version {daemon_version}, older than this command ({client_version}); replacing it would \
             {sessions} {session_count} session{} and void {pending_link_count} pending link{}; run `appduct daemon stop` \
             when that does no harm, or repeat the command with --daemon-restart",
            plural(*session_count),
            plural(*pending_link_count),
        )
    }
}

/// Why a connection did not pass.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The daemon is older, and something would be lost with it.
    #[error("{0}")]
    Older(Drift),
    /// The daemon that came in place of an older one is older too.
    #[error(
        "the daemon was restarted and is still version {}, older than this command ({}); another appduct is installed that \
         starts daemons", .0.daemon_version, .0.client_version
    )]
    StillOlder(Drift),
    /// The older daemon does not go.
    #[error(transparent)]
    NotGone(#[from] StopError),
    /// A daemon did not answer, or the new one did not start.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// Whether an older daemon is to be replaced whatever is lost: the flag decides; without one, `1` or `true` in `env`, the
/// value of `APPDUCT_DAEMON_RESTART`, says yes; otherwise the configuration's `restartDaemonOnVersionMismatch`.
#[must_use]
pub fn force(flag: Option<bool>, env: Option<&OsStr>, state_dir: &StateDir) -> bool {
    flag.unwrap_or_else(|| {
        let env = env.and_then(OsStr::to_str).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"));
        env || configured(state_dir)
    })
}

fn configured(state_dir: &StateDir) -> bool {
    let config = fs::read_to_string(state_dir.config()).ok();
    let fields = config.as_deref().and_then(Fields::parse);
    fields.and_then(|fields| fields.optional_boolean("restartDaemonOnVersionMismatch").ok().flatten()).unwrap_or(false)
}

/// Checks the daemon at the other end of `client`, and replaces it where that is right. Call it once per process. Without
/// a program in `launcher` nothing is replaced.
pub fn check(
    mut client: Client,
    state_dir: &StateDir,
    launcher: &DaemonLauncher,
    terms: Terms<'_>,
) -> Result<Guarded, GuardError> {
    let facts = Facts::ask(&mut client, Client::REQUEST_TIMEOUT)?;
    match (facts.verdict(terms), &launcher.program) {
        (Verdict::Pass(outcome), _) => Ok(Guarded { client, outcome }),
        (Verdict::Refuse, _) | (Verdict::Replace, None) => Err(GuardError::Older(facts.drift(terms))),
        (Verdict::Replace, Some(program)) => {
            drop(client);
            let (mut client, replaced) = replace(state_dir, program, launcher.ready_timeout, terms)?;
            let facts = Facts::ask(&mut client, Client::REQUEST_TIMEOUT)?;
            match (facts.verdict(terms), replaced) {
                (Verdict::Pass(Outcome::Same), Some(daemon_version)) => {
                    let client_version = facts.version;
                    Ok(Guarded { client, outcome: Outcome::Replaced { daemon_version, client_version } })
                }
                (Verdict::Pass(outcome), _) => Ok(Guarded { client, outcome }),
                (Verdict::Replace | Verdict::Refuse, _) => Err(GuardError::StillOlder(facts.drift(terms))),
            }
        }
    }
}

/// Ends the older daemon and starts one, alone among all clients. Gives the version of the daemon that was ended; none if
/// another client has replaced it meanwhile.
fn replace(
    state_dir: &StateDir,
    program: &std::path::Path,
    ready_timeout: Duration,
    terms: Terms<'_>,
) -> Result<(Client, Option<String>), GuardError> {
    state_dir.create().map_err(ClientError::from)?;
    let mut others = Wait::new(OTHERS_TIMEOUT);
    let lock = loop {
        match SpawnLock::take(state_dir).map_err(ClientError::from)? {
            Some(lock) => break lock,
            None if others.pause() => {}
            None => return Err(ClientError::from(others.not_ready_for_others(state_dir)).into()),
        }
    };

    let mut ended = None;
    if let Some(stream) = connect(&state_dir.socket())? {
        // What was true before the lock was taken may not be now: an app may have come.
        let mut client = Client::new(stream);
        let facts = Facts::ask(&mut client, REPLACE_TIMEOUT)?;
        match facts.verdict(terms) {
            Verdict::Pass(_) => return Ok((client, None)),
            Verdict::Refuse => return Err(GuardError::Older(facts.drift(terms))),
            Verdict::Replace => {}
        }
        let pid = facts.pid.or_else(|| pid_file::live(&state_dir.pid_file()));
        match client.request(&DaemonShutdown, REPLACE_TIMEOUT) {
            Ok(_) | Err(ClientError::Closed) => {}
            Err(error) => return Err(error.into()),
        }
        stop::wait_until_gone(state_dir, pid)?;
        ended = Some(facts.version);
    }
    let spawned = spawn::start(state_dir, program, &lock, Wait::new(ready_timeout))?;
    Ok((Client::spawned(spawned), ended))
}

/// What `daemon.status` says that matters here. Whatever an older daemon does not say is as good as zero: it is all that
/// there is to go by.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    #[serde(default)]
    version: String,
    pid: Option<u32>,
    #[serde(default)]
    sessions: Vec<IgnoredAny>,
    pending_links: Option<u64>,
    calls_in_flight: Option<u64>,
    persist_sessions: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Pass(Outcome),
    Replace,
    Refuse,
}

impl Facts {
    fn ask(client: &mut Client, timeout: Duration) -> Result<Self, ClientError> {
        let reply = client.call(DaemonStatus::NAME, &RawJson::empty_object(), timeout)?;
        decode(DaemonStatus::NAME, &reply)
    }

    fn verdict(&self, terms: Terms<'_>) -> Verdict {
        match compare(&self.version, terms.client_version) {
            Some(Ordering::Equal) => Verdict::Pass(Outcome::Same),
            Some(Ordering::Greater) | None => Verdict::Pass(Outcome::NotOlder {
                daemon_version: self.version.clone(),
                client_version: terms.client_version.to_owned(),
            }),
            Some(Ordering::Less) if terms.force || !self.loses_something() => Verdict::Replace,
            Some(Ordering::Less) => Verdict::Refuse,
        }
    }

    /// Whether an app, a call or a person who holds a link would notice that the daemon ends.
    fn loses_something(&self) -> bool {
        let sessions_go_on = self.sessions.is_empty() || (self.persists() && self.calls_in_flight == Some(0));
        !sessions_go_on || self.pending_links.unwrap_or(0) > 0
    }

    fn persists(&self) -> bool {
        self.persist_sessions.unwrap_or(false)
    }

    fn drift(&self, terms: Terms<'_>) -> Drift {
        Drift {
            daemon_version: self.version.clone(),
            client_version: terms.client_version.to_owned(),
            session_count: self.sessions.len() as u64,
            pending_link_count: self.pending_links.unwrap_or(0),
            sessions_persist: self.persists(),
        }
    }
}

#[cfg(test)]
mod tests;
