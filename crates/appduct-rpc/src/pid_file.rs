//! `daemon.pid`: who runs, for others to read.

use std::fs;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The process id in the text of a pid file: its leading digits, greater than zero.
#[must_use]
pub fn parse(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let pid: u32 = text[..end].parse().ok()?;
    to_pid(pid).map(|_| pid)
}

/// The process that the pid file names, whether it lives or not.
#[must_use]
pub fn read(path: &Path) -> Option<u32> {
    fs::read(path).ok().and_then(|bytes| parse(&String::from_utf8_lossy(&bytes)))
}

/// The process that the pid file names, if it lives.
#[must_use]
pub fn live(path: &Path) -> Option<u32> {
    read(path).filter(|pid| is_alive(*pid))
}

/// The process that the pid file names, if it lives and may be a daemon: after a crash the number may be anybody's.
pub(crate) fn live_daemon(path: &Path) -> Option<u32> {
    live(path).filter(|pid| may_be_a_daemon(*pid))
}

/// Whether a process of that id runs. One that has ended and that nobody has waited for yet does not.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    let Some(target) = to_pid(pid) else { return false };
    match test_kill_process(target) {
        Ok(()) | Err(Errno::PERM) => !is_zombie(pid),
        Err(_) => false,
    }
}

/// Whether a process may be somebody's `daemon run`. Only Linux can say no.
pub(crate) fn may_be_a_daemon(pid: u32) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    fs::read(format!("/proc/{pid}/cmdline")).map_or(true, |command| is_daemon_run(&command))
}

/// Whether the arguments, each ended by a NUL, hold `daemon` and after it `run`.
fn is_daemon_run(command: &[u8]) -> bool {
    let mut words = command.split(|byte| *byte == 0);
    words.any(|word| word == b"daemon") && words.any(|word| word == b"run")
}

/// A process id in the range of the system; ids outside it are nobody's, and negative ones would name groups.
pub(crate) fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 0).and_then(Pid::from_raw)
}

/// Whether Linux says so; elsewhere the answer to a signal has to do.
fn is_zombie(pid: u32) -> bool {
    cfg!(target_os = "linux")
        && fs::read(format!("/proc/{pid}/status")).is_ok_and(|status| says_zombie(&String::from_utf8_lossy(&status)))
}

fn says_zombie(status: &str) -> bool {
    status.lines().find_map(|line| line.strip_prefix("State:")).is_some_and(|state| state.trim_start().starts_with('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_pid_file_is_its_leading_digits() {
        for (text, pid) in [
            ("4242", Some(4242)),
            (" 4242\n", Some(4242)),
            ("123abc", Some(123)),
            ("", None),
            ("abc", None),
            ("0", None),
            ("-1", None),
            ("2147483648", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse(text), pid, "{text:?}");
        }
    }

    #[test]
    fn only_the_state_z_is_a_zombie() {
        assert!(says_zombie("Name:\tnode\nState:\tZ (zombie)\nPid:\t1\n"));
        for status in [
            "Name:\tZygote\nState:\tS (sleeping)\n",
            "Name:\tZ\nState:\tR (running)\n",
            "State:\tD (disk sleep)\n",
            "State:\tT (stopped)\n",
            "State:\tI (idle)\n",
            "Name:\tZ\n",
            "",
        ] {
            assert!(!says_zombie(status), "{status:?}");
        }
    }

    #[test]
    fn a_daemon_is_known_by_its_words() {
        for (command, daemon) in [
            (&b"/usr/bin/appduct\0daemon\0run\0"[..], true),
            (b"node\0/x/cli.js\0daemon\0--json\0run\0", true),
            (b"appduct\0daemon\0status\0", false),
            (b"vim\0daemon run\0", false),
            (b"run\0daemon\0", false),
            (b"", false),
        ] {
            assert_eq!(is_daemon_run(command), daemon, "{}", String::from_utf8_lossy(command));
        }
    }

    #[test]
    fn this_process_lives_and_an_ended_child_does_not_even_before_it_is_waited_for() {
        assert!(is_alive(std::process::id()));
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        assert!(is_alive(child.id()));
        drop(child.stdin.take());
        // The end of its output is the sign that it ends; a zombie it is a moment later, when it has exited.
        std::io::copy(child.stdout.as_mut().unwrap(), &mut std::io::sink()).unwrap();
        if cfg!(target_os = "linux") {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
            while is_alive(child.id()) {
                assert!(std::time::Instant::now() < deadline);
                std::thread::yield_now();
            }
        }
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }

    #[test]
    fn a_missing_or_unreadable_pid_file_names_nobody() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("daemon.pid");
        assert_eq!(read(&path), None);
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert_eq!(read(&path), None);
        fs::write(&path, std::process::id().to_string()).unwrap();
        assert_eq!(live(&path), Some(std::process::id()));
    }
}
