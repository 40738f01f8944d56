//! Ends a daemon: over its socket where it answers, by a signal where it does not.

use std::io;
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::client::connect;
use crate::methods::DaemonShutdown;
use crate::spawn::Wait;
use crate::{Client, ClientError, StateDir, pid_file};

/// How long a daemon may take to go.
const GONE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a stop waits.
#[derive(Clone, Copy, Debug)]
pub struct StopPatience {
    /// For the answer to the request.
    pub answer: Duration,
    /// For the end of the process, after the answer and after the signal.
    pub gone: Duration,
}

impl Default for StopPatience {
    fn default() -> Self {
        Self { answer: Client::REQUEST_TIMEOUT, gone: GONE_TIMEOUT }
    }
}

/// How a daemon was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMethod {
    /// It was asked to shut down.
    Rpc,
    /// It did not listen, or did not answer; its process got SIGTERM.
    Sigterm,
}

impl StopMethod {
    /// The name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rpc => "rpc",
            Self::Sigterm => "sigterm",
        }
    }
}

/// Why a daemon was not ended.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// There is none.
    #[error("No Appduct daemon is running.")]
    NotRunning,
    /// The pid file names a process that is something else: the daemon is gone and its number was given away.
    #[error("no Appduct daemon is running; {} names process {pid}, which is no daemon", path.display())]
    NotADaemon {
        /// The process.
        pid: u32,
        /// The pid file.
        path: std::path::PathBuf,
    },
    /// It was told to go and is still there.
    #[error("the daemon{} was told to stop and is still there after {} s{}", of(*pid), after.as_secs(), last_resort(*pid))]
    StillThere {
        /// Its process, where it is known.
        pid: Option<u32>,
        /// How long it had.
        after: Duration,
    },
    /// The signal could not be sent.
    #[error("cannot end process {pid}: {source}")]
    Signal {
        /// The process.
        pid: u32,
        /// Why.
        source: io::Error,
    },
    /// It could not be asked.
    #[error(transparent)]
    Client(#[from] ClientError),
}

fn of(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

fn last_resort(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "; end its process by hand, daemon.pid in the state directory does not name it".to_owned(),
        |pid| format!("; `kill -9 {pid}` ends it at once"),
    )
}

/// Ends the daemon of `state_dir` and waits until it is gone. Starts none. A daemon that listens and does not answer as it
/// should gets SIGTERM.
pub fn stop(state_dir: &StateDir) -> Result<StopMethod, StopError> {
    stop_within(state_dir, StopPatience::default())
}

/// [`stop`], with another patience.
pub fn stop_within(state_dir: &StateDir, patience: StopPatience) -> Result<StopMethod, StopError> {
    state_dir.check_owner().map_err(ClientError::from)?;
    let pid = pid_file::live(&state_dir.pid_file());
    let method = match (connect(&state_dir.socket())?, pid) {
        (Some(stream), _) => {
            match (Client::new(stream).request(&DaemonShutdown, patience.answer), pid) {
                // Somebody else may have told it too, and it is going.
                (Ok(_) | Err(ClientError::Closed), _) => StopMethod::Rpc,
                (Err(_), Some(pid)) => {
                    terminate(state_dir, pid)?;
                    StopMethod::Sigterm
                }
                (Err(ClientError::Timeout { after }), None) => return Err(StopError::StillThere { pid, after }),
                (Err(error), None) => return Err(error.into()),
            }
        }
        (None, Some(pid)) => {
            terminate(state_dir, pid)?;
            StopMethod::Sigterm
        }
        (None, None) => return Err(StopError::NotRunning),
    };
    wait_within(state_dir, pid, patience.gone)?;
    Ok(method)
}

fn terminate(state_dir: &StateDir, pid: u32) -> Result<(), StopError> {
    if !pid_file::may_be_a_daemon(pid) {
        return Err(StopError::NotADaemon { pid, path: state_dir.pid_file() });
    }
    let Some(target) = pid_file::to_pid(pid) else { return Err(StopError::NotRunning) };
    kill_process(target, Signal::TERM).map_err(|errno| StopError::Signal { pid, source: errno.into() })
}

/// Waits until nothing listens and the process is dead.
pub(crate) fn wait_until_gone(state_dir: &StateDir, pid: Option<u32>) -> Result<(), StopError> {
    wait_within(state_dir, pid, GONE_TIMEOUT)
}

fn wait_within(state_dir: &StateDir, pid: Option<u32>, after: Duration) -> Result<(), StopError> {
    let mut wait = Wait::new(after);
    while connect(&state_dir.socket())?.is_some() || pid.is_some_and(pid_file::is_alive) {
        if !wait.pause() {
            return Err(StopError::StillThere { pid, after });
        }
    }
    Ok(())
}
