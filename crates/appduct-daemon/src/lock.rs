//! One daemon per state directory.
//!
//! The lock is `flock` on `daemon.lock`, held for life: the system gives it back however the process ends, so no lock is
//! ever stale. `daemon.pid` is for others to read and decides nothing. The lock file itself stays: removing it would let
//! two daemons lock two files of one name.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use appduct_rpc::{StateDir, pid_file};
use rustix::fs::{FlockOperation, flock};

use crate::StartError;

/// Owns a state directory. Dropped, it removes the pid file and gives the lock back.
#[derive(Debug)]
pub(crate) struct Lock {
    pid_file: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the directory, writes the pid file and clears away what a dead daemon left at the control socket's path.
    pub(crate) fn take(state_dir: &StateDir) -> Result<Self, StartError> {
        let path = state_dir.lock();
        let what = |verb| format!("{verb} {}", path.display());
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(StartError::io(what("open")))?;
        let running = || StartError::AlreadyRunning { pid: pid_file::read(&state_dir.pid_file()) };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(running()),
            Err(error) => return Err(StartError::Io { what: what("lock"), source: error.into() }),
        }
        file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(StartError::io(what("set the mode of")))?;
        // Other implementations of this protocol take no lock, but they do answer.
        let socket = state_dir.socket();
        if UnixStream::connect(&socket).is_ok() {
            return Err(running());
        }
        remove(&socket)?;
        let pid_file = state_dir.pid_file();
        write_pid(&pid_file).map_err(StartError::io(format!("write {}", pid_file.display())))?;
        Ok(Self { pid_file, _file: file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.pid_file) {
            tracing::warn!("{error}");
        }
    }
}

/// Removes a file; it may be gone.
pub(crate) fn remove(path: &Path) -> Result<(), StartError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StartError::Io { what: format!("remove {}", path.display()), source: error })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A reader sees either no file or a whole one.
fn write_pid(path: &Path) -> std::io::Result<()> {
    let pid = std::process::id();
    let temporary = path.with_extension(format!("pid.{pid}.tmp"));
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    write!(file, "{pid}")?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_taker_hears_who_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(directory.path());
        let lock = Lock::take(&state_dir).unwrap();
        let refused = Lock::take(&state_dir).unwrap_err();
        assert!(matches!(refused, StartError::AlreadyRunning { pid: Some(pid) } if pid == std::process::id()));
        assert!(refused.to_string().contains("already running"));
        drop(lock);
        assert!(!state_dir.pid_file().exists());
        drop(Lock::take(&state_dir).unwrap());
    }

    #[test]
    fn the_files_are_private_and_the_pid_has_no_newline() {
        let directory = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(directory.path());
        fs::write(state_dir.lock(), "").unwrap();
        fs::set_permissions(state_dir.lock(), fs::Permissions::from_mode(0o644)).unwrap();
        let _lock = Lock::take(&state_dir).unwrap();
        for path in [state_dir.lock(), state_dir.pid_file()] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_to_string(state_dir.pid_file()).unwrap(), std::process::id().to_string());
    }

    #[test]
    fn what_a_dead_daemon_left_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(directory.path());
        fs::write(state_dir.socket(), "stale").unwrap();
        fs::write(state_dir.pid_file(), "not a pid").unwrap();
        let _lock = Lock::take(&state_dir).unwrap();
        assert!(!state_dir.socket().exists());
    }

    #[test]
    fn a_socket_that_answers_is_a_running_daemon_even_without_a_lock() {
        let directory = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(directory.path());
        let _other = std::os::unix::net::UnixListener::bind(state_dir.socket()).unwrap();
        fs::write(state_dir.pid_file(), " 123abc").unwrap();
        let refused = Lock::take(&state_dir).unwrap_err();
        assert!(matches!(refused, StartError::AlreadyRunning { pid: Some(123) }));
        assert!(state_dir.socket().exists());
    }
}
