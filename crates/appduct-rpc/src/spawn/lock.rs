//! `daemon.spawn.lock`: who starts the daemon.
//!
//! The lock is the file: whoever makes it has it. Other implementations make it empty; ours holds the maker's process id,
//! so that the lock of a client that was killed need not be waited out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use super::SpawnError;
use crate::{StateDir, pid_file};

/// From this age on a lock was left behind.
const STALE_AFTER: Duration = Duration::from_secs(30);

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct SpawnLock {
    path: PathBuf,
    file: File,
}

/// Who holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// It is not there.
    Nobody,
    /// A process that lives and that keeps the lock until its daemon answers.
    Process,
    /// Somebody who does not say who.
    Unknown,
    /// Nobody who will come back for it.
    Left,
}

/// Who holds the lock.
pub(super) fn holder(state_dir: &StateDir) -> Holder {
    holder_of(&state_dir.spawn_lock(), SystemTime::now())
}

fn holder_of(path: &Path, now: SystemTime) -> Holder {
    let modified = match fs::metadata(path).and_then(|metadata| metadata.modified()) {
        Ok(modified) => modified,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Holder::Nobody,
        Err(_) => return Holder::Unknown,
    };
    if now.duration_since(modified).is_ok_and(|age| age >= STALE_AFTER) {
        return Holder::Left;
    }
    match pid_file::read(path) {
        Some(pid) if pid_file::is_alive(pid) => Holder::Process,
        Some(_) => Holder::Left,
        None => Holder::Unknown,
    }
}

impl SpawnLock {
    /// Takes the lock; `None` if somebody else holds it.
    pub(crate) fn take(state_dir: &StateDir) -> Result<Option<Self>, SpawnError> {
        let path = state_dir.spawn_lock();
        Self::take_at(&path).map_err(|source| SpawnError::Lock { path, source })
    }

    fn take_at(path: &Path) -> io::Result<Option<Self>> {
        if let Some(lock) = Self::make(path)? {
            return Ok(Some(lock));
        }
        if holder_of(path, SystemTime::now()) != Holder::Left || !remove_left_behind(path)? {
            return Ok(None);
        }
        Self::make(path)
    }

    fn make(path: &Path) -> io::Result<Option<Self>> {
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => {
                file.write_all(std::process::id().to_string().as_bytes())?;
                Ok(Some(Self { path: path.to_owned(), file }))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for SpawnLock {
    fn drop(&mut self) {
        // One that was taken away for its age is somebody else's by now.
        if is_same_file(&self.file, &self.path) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Removes a lock that was left behind; `false` if somebody was faster. An OS lock on the file keeps two clients from
/// removing one after the other, which would remove the lock that the first has made meanwhile.
fn remove_left_behind(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !is_same_file(&file, path) {
        return Ok(false);
    }
    fs::remove_file(path)?;
    Ok(true)
}

fn is_same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => ours.ino() == there.ino() && ours.dev() == there.dev(),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("daemon.spawn.lock");
        (temp, path)
    }

    fn aged(path: &Path, age: Duration) {
        File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    /// The id of a process that has ended and was waited for.
    fn dead_pid() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn one_client_has_the_lock_and_leaves_nothing_behind() {
        let (_temp, path) = temp();
        let lock = SpawnLock::take_at(&path).unwrap().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Process);
        assert!(SpawnLock::take_at(&path).unwrap().is_none());
        drop(lock);
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Nobody);
        assert!(SpawnLock::take_at(&path).unwrap().is_some());
    }

    #[test]
    fn an_empty_lock_counts_for_thirty_seconds() {
        let (_temp, path) = temp();
        File::create(&path).unwrap();
        aged(&path, Duration::from_secs(29));
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Unknown);
        assert!(SpawnLock::take_at(&path).unwrap().is_none());
        aged(&path, Duration::from_secs(30));
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Left);
        assert!(SpawnLock::take_at(&path).unwrap().is_some());
    }

    #[test]
    fn the_lock_of_a_client_that_died_counts_for_nothing() {
        let (_temp, path) = temp();
        fs::write(&path, dead_pid().to_string()).unwrap();
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Left);
        assert!(SpawnLock::take_at(&path).unwrap().is_some());
    }

    #[test]
    fn dropping_a_lock_that_was_taken_away_leaves_the_new_one() {
        let (_temp, path) = temp();
        let old = SpawnLock::take_at(&path).unwrap().unwrap();
        aged(&path, STALE_AFTER);
        let new = SpawnLock::take_at(&path).unwrap().unwrap();
        drop(old);
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Process);
        drop(new);
        assert_eq!(holder_of(&path, SystemTime::now()), Holder::Nobody);
    }

    #[test]
    fn a_lock_that_somebody_else_is_removing_is_left_to_them() {
        let (_temp, path) = temp();
        File::create(&path).unwrap();
        aged(&path, STALE_AFTER);
        let other = File::open(&path).unwrap();
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(SpawnLock::take_at(&path).unwrap().is_none());
    }

    #[test]
    fn of_many_clients_that_find_a_stale_lock_one_gets_it() {
        let (_temp, path) = temp();
        File::create(&path).unwrap();
        aged(&path, STALE_AFTER);
        let barrier = std::sync::Barrier::new(8);
        let taken = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        SpawnLock::take_at(&path).unwrap()
                    })
                })
                .collect();
            clients.into_iter().filter_map(|client| client.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(taken.len(), 1);
    }
}
