//! Starts a daemon where none answers: one daemon, however many clients ask at once.
//!
//! The client that makes `daemon.spawn.lock` starts the daemon and holds the lock until the daemon answers or has failed;
//! the others only wait for the socket. A lock that was left behind counts for nothing once its maker is dead, or after
//! 30 seconds.

mod lock;
mod log;

use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::client::connect;
use crate::{ClientError, StateDir, pid_file};

pub(crate) use lock::SpawnLock;

/// How long a daemon whose process lives while its socket does not answer is given to come up or to go.
const HANDOVER: Duration = Duration::from_secs(2);

/// How often at most a daemon is started again because another one still had the state directory.
const MAX_STARTS: u32 = 10;

/// Why a daemon that was to be started does not answer.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The lock cannot be made.
    #[error("cannot make the lock {}: {source}", path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The log cannot be opened.
    #[error("cannot open the daemon's log {}: {source}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("cannot run {} to start the daemon: {source}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended before it answered.
    #[error("the daemon did not start ({status}): {}; its log is {}", reason(output), log.display())]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// The last lines that it printed, the last one last; control characters are taken out.
        output: Vec<String>,
        /// Where it printed them.
        log: PathBuf,
    },
    /// It did not answer in time.
    #[error(
        "no daemon answered at {} within {:.3} s{}; its log is {}",
        socket.display(), after.as_secs_f64(), still_locked(spawn_lock.as_deref()), log.display()
    )]
    NotReady {
        /// How long it had.
        after: Duration,
        /// Where it should listen.
        socket: PathBuf,
        /// The lock of another client, if it is still there.
        spawn_lock: Option<PathBuf>,
        /// Where a daemon prints.
        log: PathBuf,
    },
}

fn reason(output: &[String]) -> &str {
    output.last().map_or("it printed nothing", String::as_str)
}

fn still_locked(lock: Option<&Path>) -> String {
    lock.map_or_else(String::new, |lock| {
        format!("; another client holds {} (remove it if no appduct command is running)", lock.display())
    })
}

/// A connection to a daemon that may just have been started.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) stream: UnixStream,
    pub(crate) warnings: Vec<String>,
}

/// Connects; starts a daemon first unless somebody else does.
pub(crate) fn connect_or_spawn(
    state_dir: &StateDir,
    program: &Path,
    ready_timeout: Duration,
) -> Result<Spawned, ClientError> {
    state_dir.create()?;
    let mut wait = Wait::new(ready_timeout);
    loop {
        if let Some(lock) = SpawnLock::take(state_dir)? {
            return start(state_dir, program, &lock, wait);
        }
        if let Some(stream) = wait_for_spawner(state_dir, &mut wait)? {
            return Ok(Spawned { stream, warnings: Vec::new() });
        }
    }
}

/// Waits for the daemon that another client starts; `None` when that client has given up.
fn wait_for_spawner(state_dir: &StateDir, wait: &mut Wait) -> Result<Option<UnixStream>, ClientError> {
    let socket = state_dir.socket();
    let mut held_until_ready = false;
    loop {
        if let Some(stream) = connect(&socket)? {
            return Ok(Some(stream));
        }
        // Other implementations leave their lock empty and remove it as soon as the daemon is spawned.
        match lock::holder(state_dir) {
            lock::Holder::Nobody if held_until_ready => return Ok(None),
            lock::Holder::Left => return Ok(None),
            lock::Holder::Nobody | lock::Holder::Unknown => {}
            lock::Holder::Process => held_until_ready = true,
        }
        if !wait.pause() {
            return Err(wait.not_ready_for_others(state_dir).into());
        }
    }
}

/// Starts a daemon under the lock and connects to it.
pub(crate) fn start(
    state_dir: &StateDir,
    program: &Path,
    _lock: &SpawnLock,
    mut wait: Wait,
) -> Result<Spawned, ClientError> {
    let socket = state_dir.socket();
    let handover = Instant::now() + HANDOVER;
    loop {
        if let Some(stream) = connect(&socket)? {
            return Ok(Spawned { stream, warnings: Vec::new() });
        }
        if pid_file::live_daemon(&state_dir.pid_file()).is_none() || Instant::now() >= handover || !wait.pause() {
            break;
        }
    }

    let mut warnings = log::rotate(state_dir);
    let mut starts = 0;
    let mut running: Option<Running> = None;
    loop {
        let other = pid_file::live_daemon(&state_dir.pid_file());
        if running.is_none() && (starts == 0 || other.is_none()) {
            if other.is_none() {
                remove_stale_socket(&socket, &mut warnings);
            }
            running = Some(Running::spawn(state_dir, program)?);
            starts += 1;
        }
        if let Some(stream) = connect(&socket)? {
            return Ok(Spawned { stream, warnings });
        }
        if let Some(status) = running.as_mut().and_then(Running::ended) {
            let output = running.take().map_or_else(Vec::new, |running| running.output());
            // Whoever has the directory comes up, or goes and leaves it to us.
            let taken = output.iter().any(|line| line.contains("already running"));
            if !taken || starts >= MAX_STARTS {
                return Err(SpawnError::Exited { status, output, log: state_dir.log() }.into());
            }
        }
        if !wait.pause() {
            return Err(wait.not_ready(state_dir, None).into());
        }
    }
}

/// Whatever lies there belongs to no daemon that lives.
fn remove_stale_socket(socket: &Path, warnings: &mut Vec<String>) {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            warnings.push(format!("cannot remove the stale {}: {error}", socket.display()));
        }
        Ok(()) | Err(_) => {}
    }
}

/// A daemon that was spawned.
#[derive(Debug)]
struct Running {
    child: Child,
    log: log::Tail,
}

impl Running {
    fn spawn(state_dir: &StateDir, program: &Path) -> Result<Self, SpawnError> {
        let log = log::open(state_dir).map_err(|source| SpawnError::Log { path: state_dir.log(), source })?;
        let failed = |source| SpawnError::Program { program: program.to_owned(), source };
        let root = std::path::absolute(state_dir.root()).map_err(failed)?;
        let child = command(program, &root)
            .stdout(log.writer().map_err(failed)?)
            .stderr(log.writer().map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        Ok(Self { child, log })
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    fn output(self) -> Vec<String> {
        self.log.read()
    }
}

fn command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["daemon", "run"])
        .env("APPDUCT_STATE_DIR", root)
        .env_remove("APPDUCT_DAEMON_VERSION_OVERRIDE")
        .stdin(Stdio::null())
        // A group of its own: the terminal's Ctrl-C is not for the daemon.
        .process_group(0);
    command
}

/// Pauses that start short and grow, up to a deadline.
#[derive(Debug)]
pub(crate) struct Wait {
    deadline: Option<Instant>,
    after: Duration,
    pause: Duration,
}

impl Wait {
    const SHORTEST: Duration = Duration::from_millis(2);
    const LONGEST: Duration = Duration::from_millis(25);

    pub(crate) fn new(after: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(after), after, pause: Self::SHORTEST }
    }

    /// Waits a little; `false` when the time is over.
    pub(crate) fn pause(&mut self) -> bool {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return false;
        }
        std::thread::sleep(left.map_or(self.pause, |left| left.min(self.pause)));
        self.pause = (self.pause * 2).min(Self::LONGEST);
        true
    }

    fn not_ready(&self, state_dir: &StateDir, spawn_lock: Option<PathBuf>) -> SpawnError {
        SpawnError::NotReady { after: self.after, socket: state_dir.socket(), spawn_lock, log: state_dir.log() }
    }

    /// The time is over, and somebody else had the lock.
    pub(crate) fn not_ready_for_others(&self, state_dir: &StateDir) -> SpawnError {
        self.not_ready(state_dir, Some(state_dir.spawn_lock()).filter(|lock| lock.exists()))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_daemon_gets_its_directory_and_reports_its_own_version() {
        let command = command(Path::new("/bin/appduct"), Path::new("/state"));
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["daemon", "run"]);
        let envs: Vec<_> = command.get_envs().collect();
        assert!(envs.contains(&(OsStr::new("APPDUCT_STATE_DIR"), Some(OsStr::new("/state")))));
        assert!(envs.contains(&(OsStr::new("APPDUCT_DAEMON_VERSION_OVERRIDE"), None)));
    }
}
