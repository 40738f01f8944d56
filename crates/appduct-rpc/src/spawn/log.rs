//! `daemon.log`: opened, and rotated, by whoever spawns the daemon; never by the daemon itself.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;

use appduct_proto::wire::{Fields, IntegerFrom};

use crate::{StateDir, pid_file};

/// The size over which the log is rotated where the configuration says nothing, or nothing that can be read.
const DEFAULT_MAX_BYTES: u64 = 10 * 1024 * 1024;

/// How much of a failed daemon's output is read, from its end.
const MAX_OUTPUT_BYTES: u64 = 64 * 1024;

/// How many lines of it are kept.
const MAX_OUTPUT_LINES: usize = 20;

/// Renames a log over the limit to the one backup. Gives warnings; never fails, since a daemon must start all the same.
pub(super) fn rotate(state_dir: &StateDir) -> Vec<String> {
    let log = state_dir.log();
    let over = fs::symlink_metadata(&log).is_ok_and(|found| found.is_file() && found.len() > max_bytes(state_dir));
    if !over {
        return Vec::new();
    }
    if pid_file::live(&state_dir.pid_file()).is_some() || UnixStream::connect(state_dir.socket()).is_ok() {
        return vec![format!("{} is over its limit and was not rotated: a daemon still has it open", log.display())];
    }
    let backup = state_dir.log_backup();
    if let Err(error) = fs::rename(&log, &backup) {
        return vec![format!("cannot rotate {}: {error}", log.display())];
    }
    match fs::set_permissions(&backup, Permissions::from_mode(0o600)) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!("cannot set the mode of {}: {error}", backup.display())],
    }
}

fn max_bytes(state_dir: &StateDir) -> u64 {
    let config = fs::read_to_string(state_dir.config()).ok();
    let fields = config.as_deref().and_then(Fields::parse);
    let stated =
        fields.and_then(|fields| fields.optional_integer("daemonLogMaxBytes", IntegerFrom::One).ok().flatten());
    stated.unwrap_or(DEFAULT_MAX_BYTES)
}

/// The log as a new daemon gets it, and what that daemon has added.
#[derive(Debug)]
pub(super) struct Tail {
    file: File,
    from: u64,
}

/// Opens the log at its end, mode 0600.
pub(super) fn open(state_dir: &StateDir) -> io::Result<Tail> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(state_dir.log())?;
    let metadata = file.metadata()?;
    if metadata.permissions().mode() & 0o777 != 0o600 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(Tail { file, from: metadata.len() })
}

impl Tail {
    /// Where the daemon writes.
    pub(super) fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// The last lines that were added; control characters become spaces.
    pub(super) fn read(mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        let end = self.file.metadata().map_or(self.from, |metadata| metadata.len());
        let start = self.from.max(end.saturating_sub(MAX_OUTPUT_BYTES));
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| {
            // The offset is shared with the daemon's descriptors, which append whatever it is.
            (&self.file).take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)
        });
        if read.is_err() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(MAX_OUTPUT_LINES)..].to_vec()
    }
}

fn plain(line: &str) -> String {
    line.replace(char::is_control, " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    fn state() -> (tempfile::TempDir, StateDir) {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(temp.path());
        (temp, state_dir)
    }

    fn limit(state_dir: &StateDir, bytes: u64) {
        fs::write(state_dir.config(), format!(r#"{{"daemonLogMaxBytes":{bytes}}}"#)).unwrap();
    }

    fn mode(path: &std::path::Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_log_over_the_limit_becomes_the_only_backup() {
        let (_temp, state_dir) = state();
        limit(&state_dir, 10);
        fs::write(state_dir.log_backup(), "older").unwrap();
        fs::write(state_dir.log(), "0123456789").unwrap();
        assert_eq!(rotate(&state_dir), [""; 0]);
        assert!(state_dir.log().exists(), "exactly the limit is within it");
        fs::write(state_dir.log(), "0123456789a").unwrap();
        assert_eq!(rotate(&state_dir), [""; 0]);
        assert!(!state_dir.log().exists());
        assert_eq!(fs::read_to_string(state_dir.log_backup()).unwrap(), "0123456789a");
        assert_eq!(mode(&state_dir.log_backup()), 0o600);
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_ten_mebibytes() {
        let (_temp, state_dir) = state();
        assert_eq!(max_bytes(&state_dir), 10_485_760);
        for config in ["", "{", "[]", r#"{"daemonLogMaxBytes":"5"}"#, r#"{"daemonLogMaxBytes":0}"#] {
            fs::write(state_dir.config(), config).unwrap();
            assert_eq!(max_bytes(&state_dir), 10_485_760, "{config:?}");
        }
        limit(&state_dir, 7);
        assert_eq!(max_bytes(&state_dir), 7);
    }

    #[test]
    fn a_log_that_a_daemon_may_hold_stays_with_one_warning() {
        let (_temp, state_dir) = state();
        limit(&state_dir, 1);
        fs::write(state_dir.log(), "too long").unwrap();
        let held = || {
            let warnings = rotate(&state_dir);
            assert_eq!(warnings.len(), 1);
            assert!(warnings[0].contains(&state_dir.log().display().to_string()), "{warnings:?}");
            assert!(state_dir.log().exists());
        };
        fs::write(state_dir.pid_file(), std::process::id().to_string()).unwrap();
        held();
        fs::remove_file(state_dir.pid_file()).unwrap();
        let listener = UnixListener::bind(state_dir.socket()).unwrap();
        held();
        drop(listener);
        assert_eq!(rotate(&state_dir), [""; 0]);
        assert!(!state_dir.log().exists());
    }

    #[test]
    fn what_is_no_file_is_passed_over_and_a_failed_rename_only_warns() {
        let (_temp, state_dir) = state();
        limit(&state_dir, 1);
        assert_eq!(rotate(&state_dir), [""; 0]);
        fs::create_dir(state_dir.log()).unwrap();
        assert_eq!(rotate(&state_dir), [""; 0]);
        fs::remove_dir(state_dir.log()).unwrap();
        fs::write(state_dir.log(), "too long").unwrap();
        fs::create_dir_all(state_dir.log_backup().join("in the way")).unwrap();
        assert_eq!(rotate(&state_dir).len(), 1);
        assert!(state_dir.log().exists());
    }

    #[test]
    fn only_what_was_added_is_read_and_without_control_characters() {
        let (_temp, state_dir) = state();
        fs::write(state_dir.log(), "before\n").unwrap();
        let tail = open(&state_dir).unwrap();
        assert_eq!(mode(&state_dir.log()), 0o600);
        let mut daemon = tail.writer().unwrap();
        daemon.write_all(b"one\n\n\x1b[31mtwo\xff\n").unwrap();
        assert_eq!(tail.read(), ["one", "[31mtwo\u{fffd}"]);
    }

    #[test]
    fn of_a_long_output_the_end_is_read() {
        let (_temp, state_dir) = state();
        let tail = open(&state_dir).unwrap();
        let mut daemon = tail.writer().unwrap();
        for line in 0..20_000 {
            writeln!(daemon, "line {line}").unwrap();
        }
        let lines = tail.read();
        assert_eq!(lines.len(), MAX_OUTPUT_LINES);
        assert_eq!(lines.last().unwrap(), "line 19999");
    }
}
