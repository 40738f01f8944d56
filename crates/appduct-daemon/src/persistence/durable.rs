//! Files that are whole whatever happens.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Replaces a file for good: when this returns, the new content outlives the machine; when it fails, or does not return, a
/// reader finds the old content or the new, and no part of either. The file is for nobody else. One writer at a time.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    // A daemon that was killed while it wrote has left it. What cannot be removed shows when the file is made.
    fs::remove_file(&temporary).ok();
    if let Err(error) = write(&temporary, content).and_then(|()| fs::rename(&temporary, path)) {
        fs::remove_file(&temporary).ok();
        return Err(error);
    }
    // The name is in the directory, which is a file of its own.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

/// Where the new content is until it is whole: in the same directory, so on the same file system.
fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    name.into()
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_is_replaced_and_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "much longer than what comes next").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn what_a_killed_writer_left_is_no_obstacle() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(temporary(&path), "half").unwrap();
        replace(&path, b"whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn a_failure_leaves_the_old_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        replace(&path, b"old").unwrap();
        fs::create_dir_all(temporary(&path).join("in the way")).unwrap();
        replace(&path, b"new").unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
