//! Adds whole lines to a file, or none.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// How much is looked at at once for the end of the last line.
const LOOK_BYTES: u64 = 4096;

/// Adds `lines`, each ended by a newline, to the file at `path`, which is created where it is missing and has mode 0600
/// afterwards. Returns the size of the file. What an error leaves half written is taken back, and so is half a line that
/// the death of a daemon left, of which nobody was told: every line of the file can be read.
pub(crate) fn append(path: &Path, lines: &str) -> io::Result<u64> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let length = file.metadata()?.len();
    let before = end_of_lines(&file, length)?;
    if before < length {
        file.set_len(before)?;
    }
    if let Err(error) = file.write_all(lines.as_bytes()) {
        file.set_len(before).ok();
        return Err(error);
    }
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file.metadata()?.len())
}

/// Where the last newline of a file of that length ends.
fn end_of_lines(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut bytes = [0; LOOK_BYTES as usize];
    while end > 0 {
        // Nearly always the file ends in a line.
        let start = if end == length { end - 1 } else { end.saturating_sub(LOOK_BYTES) };
        let looked_at = &mut bytes[..(end - start) as usize];
        file.read_exact_at(looked_at, start)?;
        if let Some(place) = looked_at.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + place as u64 + 1);
        }
        end = start;
    }
    Ok(0)
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
    fn half_a_line_is_taken_back_before_the_next_is_added() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let long = "b".repeat(3 * LOOK_BYTES as usize);
        for (left, kept) in [
            ("a\n{\"b".to_owned(), "a\n".to_owned()),
            (format!("a\n{long}"), "a\n".to_owned()),
            (format!("{long}\n{long}"), format!("{long}\n")),
            (long.clone(), String::new()),
            ("\n".to_owned(), "\n".to_owned()),
        ] {
            fs::write(&path, left).unwrap();
            append(&path, "c\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), kept + "c\n");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let error = append(Path::new("/dev/full"), "a\n").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
