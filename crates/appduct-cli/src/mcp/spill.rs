//! Files for results that are too large for an answer.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a file is kept at least.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The directory of these files, which only its user may read.
#[derive(Clone, Debug)]
pub(super) struct Spill(PathBuf);

impl Spill {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Writes a file and says where it is. Files of the days before are removed.
    pub(super) fn write(&self, name: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        prune(&self.0, SystemTime::now());
        // The name is the daemon's; an older or strange one must not lead elsewhere.
        let plain: String =
            name.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_').collect();
        let path = self.0.join(format!("{plain}.{extension}"));
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(bytes)?;
        Ok(path)
    }

    #[cfg(test)]
    pub(super) fn of_test() -> (tempfile::TempDir, Self) {
        let directory = tempfile::tempdir().expect("a directory for the test");
        let spill = Self::new(directory.path().join("results"));
        (directory, spill)
    }
}

/// Removes old files. One that cannot be removed is left for the next time.
fn prune(directory: &Path, now: SystemTime) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > KEPT));
        if is_old {
            fs::remove_file(entry.path()).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_for_its_user_only_and_stays_in_its_directory() {
        let (_dir, spill) = Spill::of_test();
        let path = spill.write("../call_x", "json", b"{}").unwrap();
        assert_eq!(path, spill.0.join("call_x.json"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&spill.0).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn files_are_removed_when_they_are_a_day_old() {
        let (_dir, spill) = Spill::of_test();
        let path = spill.write("call_x", "json", b"{}").unwrap();
        prune(&spill.0, SystemTime::now() + KEPT / 2);
        assert!(path.exists());
        prune(&spill.0, SystemTime::now() + KEPT * 2);
        assert!(!path.exists());
    }
}
