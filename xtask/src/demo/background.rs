//! A program that runs beside the demonstration and ends with it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use shared_child::SharedChild;

use super::interrupt::Interrupt;
use crate::process;

/// How long a condition stays unchecked while the program prints nothing.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A running program. Dropping it asks the program to end, and ends it if it does not.
pub(super) struct Background {
    name: &'static str,
    child: SharedChild,
    /// What it printed and nobody has shown yet. It prints a few lines in all, so they need no bound.
    lines: Receiver<String>,
    reader: Option<JoinHandle<()>>,
    stderr: PathBuf,
}

impl Background {
    /// Starts `command`. Its standard error is kept in a file of `folder` and shown if it fails.
    pub(super) fn start(mut command: Command, name: &'static str, folder: &Path) -> Result<Self> {
        let stderr = folder.join(format!("{name}.stderr"));
        command.stdout(Stdio::piped()).stderr(File::create(&stderr)?);
        let child = SharedChild::spawn(&mut command).with_context(|| format!("could not start the {name}"))?;
        let stdout = child.take_stdout().context("the child has no standard output")?;
        let (reader, lines) = read_lines(stdout);
        Ok(Self { name, child, lines, reader: Some(reader), stderr })
    }

    /// Shows what the program prints until `ready` holds, which is asked after each line and now and then.
    pub(super) fn until(
        &mut self,
        interrupt: &Interrupt,
        limit: Duration,
        ready: impl Fn() -> Result<bool>,
    ) -> Result<()> {
        let deadline = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(LOOK_AGAIN) {
                Ok(line) => self.show(&line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("the {} ended with {status}\n{}", self.name, self.complaint());
                }
            }
            ensure!(!interrupt.came(), "interrupted");
            if ready()? {
                self.show_the_rest();
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "the {} was not ready in time\n{}", self.name, self.complaint());
        }
    }

    /// Shows what has been printed already. What comes later would fall between the commands and is not shown.
    fn show_the_rest(&self) {
        for line in self.lines.try_iter() {
            self.show(&line);
        }
    }

    fn show(&self, line: &str) {
        println!("{} | {line}", self.name);
    }

    fn complaint(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    fn end(&self) -> Result<()> {
        process::end(&self.child)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("the {}: {error:#}", self.name);
        }
        if let Some(reader) = self.reader.take() {
            // Its output has ended with the program; a panic in the thread has been printed.
            drop(reader.join());
        }
    }
}

fn read_lines(stdout: ChildStdout) -> (JoinHandle<()>, Receiver<String>) {
    let (sender, lines) = channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(stdout).split(b'\n') {
            let Ok(line) = line else { break };
            // Nobody listens any more once the demonstration has ended; reading on keeps the program from blocking.
            drop(sender.send(String::from_utf8_lossy(&line).trim_end().to_owned()));
        }
    });
    (reader, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that starts in `folder`; `read` waits in it until the handle is dropped or a signal comes.
    fn script(text: &str, folder: &tempfile::TempDir) -> Background {
        let mut command = Command::new("sh");
        command.args(["-c", text]).current_dir(folder.path()).stdin(Stdio::piped());
        Background::start(command, "program", folder.path()).unwrap()
    }

    #[test]
    fn a_program_that_is_ready_is_waited_for_no_longer_and_ends_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let mut program = script("touch ready; echo up; read forever", &folder);
        let interrupt = Interrupt::listen().unwrap();
        let ready = || Ok(folder.path().join("ready").exists());
        program.until(&interrupt, Duration::from_secs(20), ready).unwrap();
        program.end().unwrap();
        assert!(program.child.try_wait().unwrap().is_some());
    }

    #[test]
    fn a_program_that_ends_early_is_an_error_that_shows_its_complaint() {
        let folder = tempfile::tempdir().unwrap();
        let mut program = script("echo no port >&2; exit 7", &folder);
        let interrupt = Interrupt::listen().unwrap();
        let error = program.until(&interrupt, Duration::from_secs(20), || Ok(false)).unwrap_err().to_string();
        assert!(error.contains("exit status: 7") && error.contains("no port"), "{error}");
    }

    #[test]
    fn a_program_that_never_gets_ready_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut program = script("read forever", &folder);
        let interrupt = Interrupt::listen().unwrap();
        let error = program.until(&interrupt, Duration::ZERO, || Ok(false)).unwrap_err().to_string();
        assert!(error.contains("was not ready in time"), "{error}");
    }
}
