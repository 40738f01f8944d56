//! Temporary files that a daemon left which died between writing one and renaming it.

use std::fs;
use std::path::Path;

use appduct_rpc::pid_file;

/// Removes `<file>.<numbers>.tmp` beside `file`, where `numbers` is the id of a process that is dead, followed by as many
/// further numbers as `further` says. What cannot be removed stays.
pub(crate) fn sweep(file: &Path, further: usize) {
    let (Some(directory), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().and_then(|found| writer(found, name, further));
        if is_ours.is_some_and(|pid| !pid_file::is_alive(pid)) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

/// The process that wrote a temporary file of that name.
fn writer(found: &str, name: &str, further: usize) -> Option<u32> {
    let numbers = found.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".tmp")?;
    let mut numbers = numbers.split('.');
    let pid = number(numbers.next()?)?;
    let rest: Vec<_> = numbers.map(number).collect::<Option<_>>()?;
    (rest.len() == further).then(|| u32::try_from(pid).ok()).flatten()
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_goes_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let own = format!("key.pem.{}.5.tmp", std::process::id());
        let kept = ["key.pem", &own, "key.pem.2147483647.tmp", "key.pem.x.5.tmp", "other.2147483647.5.tmp"];
        let gone = "key.pem.2147483647.5.tmp";
        for name in kept.iter().copied().chain([gone]) {
            fs::write(directory.path().join(name), "").unwrap();
        }
        sweep(&directory.path().join("key.pem"), 1);
        assert!(!directory.path().join(gone).exists());
        for name in kept {
            assert!(directory.path().join(name).exists(), "{name}");
        }
    }
}
