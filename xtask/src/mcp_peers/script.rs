//! One run of a client's script, and what its lines say.
//!
//! A script prints `ok <check>` or `not ok <check>: <why>` for each check and `done` after the last one.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use shared_child::SharedChild;

use crate::demo::interrupt::Interrupt;
use crate::process;

/// How long all the checks of one client may take.
const LIMIT: Duration = Duration::from_secs(600);

/// How long an interruption goes unseen.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// What a script has found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    is_done: bool,
}

impl Tally {
    /// Counts a line and returns it as it is shown, if it is one of a check.
    fn count(&mut self, line: &str) -> Option<String> {
        if let Some(check) = line.strip_prefix("ok ") {
            self.passed += 1;
            return Some(format!("ok      {check}"));
        }
        if let Some(check) = line.strip_prefix("not ok ") {
            self.failed += 1;
            return Some(format!("FAILED  {check}"));
        }
        self.is_done |= line == "done";
        None
    }
}

/// Runs a script to its end, one line for each check. A script that does not come to its end has failed once more.
pub(super) fn run(mut command: Command, name: &str, interrupt: &Interrupt) -> Result<Tally> {
    let child = SharedChild::spawn(command.stdout(Stdio::piped()))
        .with_context(|| format!("could not start {}", process::words(&command)))?;
    let stdout = child.take_stdout().context("the child has no standard output")?;
    let (sender, lines) = channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(stdout).split(b'\n') {
            let Ok(line) = line else { break };
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    let deadline = Instant::now() + LIMIT;
    let mut tally = Tally::default();
    loop {
        match lines.recv_timeout(LOOK_AGAIN) {
            Ok(line) => match tally.count(&line) {
                Some(shown) => println!("{name:<14}  {shown}"),
                None if line == "done" => {}
                None => println!("{name:<14}  {line}"),
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interrupt.came() || Instant::now() >= deadline {
            child.kill()?;
            break;
        }
    }
    let status = child.wait()?;
    drop(lines);
    // A panic in the thread has been printed.
    drop(reader.join());
    ensure!(!interrupt.came(), "interrupted");
    if !tally.is_done || status.success() != (tally.failed == 0) {
        println!("{name:<14}  FAILED  the script ended with {status} before its end");
        tally.failed += 1;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> Tally {
        let mut command = Command::new("sh");
        command.args(["-c", text]).stdin(Stdio::null());
        run(command, "script", &Interrupt::listen().unwrap()).unwrap()
    }

    #[test]
    fn checks_are_counted() {
        assert_eq!(
            script("echo ok one; echo talk; echo ok two; echo done"),
            Tally { passed: 2, failed: 0, is_done: true }
        );
        assert_eq!(
            script("echo ok one; echo 'not ok two: no'; echo done; exit 1"),
            Tally { passed: 1, failed: 1, is_done: true }
        );
    }

    #[test]
    fn a_script_that_does_not_come_to_its_end_has_failed() {
        for text in ["echo ok one", "echo ok one; exit 1", "echo ok one; echo done; exit 1", "exit 0"] {
            assert_eq!(script(text).failed, 1, "{text}");
        }
    }
}
