//! Adds whole lines to a file, or none.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Adds `lines`, each ended by a newline, to the file at `path`, which is created where it is missing and has mode 0600
/// afterwards. Returns the size of the file. What an error leaves half written is taken back; half a line that a crash left
/// is ended first, so that every line but that one can be read.
pub(crate) fn append(path: &Path, lines: &str) -> io::Result<u64> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let before = file.metadata()?.len();
    let written = if ends_in_a_line(&file, before)? {
        file.write_all(lines.as_bytes())
    } else {
        file.write_all(format!("\n{lines}").as_bytes())
    };
    if let Err(error) = written {
        file.set_len(before).ok();
        return Err(error);
    }
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file.metadata()?.len())
}

fn ends_in_a_line(file: &File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_follow_each_other_and_the_mode_is_set_each_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        assert_eq!(append(&path, "a\n").unwrap(), 2);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(append(&path, "b\nc\n").unwrap(), 6);
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\nc\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn half_a_line_is_ended_before_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(&path, "a\n{\"b").unwrap();
        append(&path, "c\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n{\"b\nc\n");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let error = append(Path::new("/dev/full"), "a\n").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
