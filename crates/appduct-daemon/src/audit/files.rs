//! The directory of the audit log and the files in it.

use std::fs::{self, DirBuilder, DirEntry, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::Span;
use jiff::civil::Date;

use super::day;
use crate::journal::append;

/// The directory of the audit log.
#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
}

/// How much is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Measured {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

impl Files {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory where it is missing, and mode 0700 whatever the umask says.
    pub(super) fn prepare(&self) -> io::Result<()> {
        match DirBuilder::new().recursive(true).mode(0o700).create(&self.directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        fs::set_permissions(&self.directory, Permissions::from_mode(0o700))
    }

    /// Adds lines to a day's file. A directory that has gone is made again.
    pub(super) fn append(&self, day: Date, lines: &str) -> io::Result<()> {
        let path = self.directory.join(day::file_name(day));
        match append(&path, lines) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.prepare()?;
                append(&path, lines).map(drop)
            }
            result => result.map(drop),
        }
    }

    /// Deletes the files of the days before `today` minus `retention_days`. Returns how often that failed.
    pub(super) fn prune(&self, today: Date, retention_days: u64) -> u64 {
        let Some(oldest) = oldest_kept(today, retention_days) else { return 0 };
        let entries = match self.day_files() {
            Ok(entries) => entries,
            Err(error) => {
                tracing::warn!("the audit directory {} cannot be read: {error}", self.directory.display());
                return 1;
            }
        };
        let mut failed = 0;
        for (day, entry) in entries.into_iter().filter(|(day, _)| *day < oldest) {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    failed += 1;
                    tracing::warn!("the audit file {} cannot be deleted: {error}", day::file_name(day));
                }
                Ok(()) | Err(_) => {}
            }
        }
        failed
    }

    /// How many day files there are and how large; `None` if the directory cannot be read.
    pub(super) fn measure(&self) -> Option<Measured> {
        let entries = self.day_files().ok()?;
        let sizes = entries.iter().filter_map(|(_, entry)| entry.metadata().ok()).map(|metadata| metadata.len());
        Some(sizes.fold(Measured::default(), |sum, size| Measured { files: sum.files + 1, bytes: sum.bytes + size }))
    }

    /// The regular files that are named for a day. A missing directory has none.
    fn day_files(&self) -> io::Result<Vec<(Date, DirEntry)>> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Some(day) = entry.file_name().to_str().and_then(day::of_file) else { continue };
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                files.push((day, entry));
            }
        }
        Ok(files)
    }
}

/// The first day that is kept; `None` if every day is.
fn oldest_kept(today: Date, retention_days: u64) -> Option<Date> {
    let days: Span = Span::new().try_days(i64::try_from(retention_days).ok()?).ok()?;
    today.checked_sub(days).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    struct Rig {
        _outer: tempfile::TempDir,
        files: Files,
    }

    impl Rig {
        fn new() -> Self {
            let outer = tempfile::tempdir().unwrap();
            let files = Files::new(outer.path().join("audit"));
            Self { _outer: outer, files }
        }

        fn with(names: &[&str]) -> Self {
            let rig = Self::new();
            rig.files.prepare().unwrap();
            for name in names {
                fs::write(rig.files.directory.join(name), "{}\n").unwrap();
            }
            rig
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.files.directory).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn the_days_of_the_retention_and_today_are_kept() {
        let rig = Rig::with(&["2026-08-05.jsonl", "2026-08-06.jsonl", "2026-09-05.jsonl", "2026-09-06.jsonl"]);
        assert_eq!(rig.files.prune(date("2026-09-05"), 30), 0);
        assert_eq!(rig.names(), ["2026-08-06.jsonl", "2026-09-05.jsonl", "2026-09-06.jsonl"]);
    }

    #[test]
    fn what_is_no_day_file_is_left_alone() {
        let kept = ["2020-01-01.JSONL", "2020-01-01.jsonl.bak", "2020-13-45.jsonl", "notes.txt"];
        let rig = Rig::with(&kept);
        fs::create_dir(rig.files.directory.join("2020-01-02.jsonl")).unwrap();
        std::os::unix::fs::symlink("notes.txt", rig.files.directory.join("2020-01-03.jsonl")).unwrap();
        assert_eq!(rig.files.prune(date("2026-09-05"), 1), 0);
        assert_eq!(rig.names().len(), kept.len() + 2);
        assert_eq!(rig.files.measure(), Some(Measured::default()));
    }

    #[test]
    fn a_huge_retention_keeps_everything() {
        let rig = Rig::with(&["0001-01-01.jsonl"]);
        for days in [u64::MAX, i64::MAX as u64, 10_000_000, 9_999_999] {
            assert_eq!(rig.files.prune(date("2026-09-05"), days), 0);
        }
        assert_eq!(rig.names(), ["0001-01-01.jsonl"]);
    }

    #[test]
    fn a_missing_directory_is_empty_and_one_that_cannot_be_read_is_a_failure() {
        let rig = Rig::new();
        assert_eq!(rig.files.prune(date("2026-09-05"), 30), 0);
        assert_eq!(rig.files.measure(), Some(Measured::default()));
        fs::write(&rig.files.directory, "a file in its place").unwrap();
        assert_eq!(rig.files.prune(date("2026-09-05"), 30), 1);
        assert_eq!(rig.files.measure(), None);
    }

    #[test]
    fn the_directory_is_closed_to_others_and_made_again_when_it_has_gone() {
        let rig = Rig::new();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        rig.files.append(date("2026-09-05"), "a\n").unwrap();
        let file = rig.files.directory.join("2026-09-05.jsonl");
        assert_eq!((mode(&rig.files.directory), mode(&file)), (0o700, 0o600));
        fs::remove_dir_all(&rig.files.directory).unwrap();
        rig.files.append(date("2026-09-05"), "b\n").unwrap();
        assert_eq!(fs::read_to_string(file).unwrap(), "b\n");
        fs::set_permissions(&rig.files.directory, Permissions::from_mode(0o755)).unwrap();
        rig.files.prepare().unwrap();
        assert_eq!(mode(&rig.files.directory), 0o700);
        assert_eq!(rig.files.measure(), Some(Measured { files: 1, bytes: 2 }));
    }
}
