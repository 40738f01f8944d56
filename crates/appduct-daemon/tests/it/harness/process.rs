//! A daemon in a process of its own: this test binary, run anew for one test.

use std::io::{BufRead, BufReader, PipeWriter, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// Names the state directory to the test that runs the daemon.
pub(crate) const STATE_DIR: &str = "APPDUCT_TEST_STATE_DIR";

/// Makes that test wait for the end of its input first.
pub(crate) const WAIT_FOR_START: &str = "APPDUCT_TEST_WAIT_FOR_START";

/// Killed when the test lets go of it.
pub(crate) struct Process {
    child: Child,
    /// Its stderr, or its stdout where stderr leads elsewhere. Both say when it is up.
    log: BufReader<Box<dyn Read + Send + Sync>>,
    pub(crate) port: u16,
}

impl Process {
    /// A daemon that is up.
    pub(crate) fn start(root: &Path) -> Self {
        let mut process = Self::spawn(daemon_command(root).stdin(Stdio::null()));
        assert!(process.comes_up(), "the daemon ended before it was up");
        process
    }

    /// A daemon that may not be up yet, and whose log goes nowhere: a pipe that nobody reads would stop it.
    pub(crate) fn begin(root: &Path) -> Self {
        Self::spawn(daemon_command(root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()))
    }

    /// The same, and up.
    pub(crate) fn begin_up(root: &Path) -> Self {
        let mut process = Self::begin(root);
        assert!(process.comes_up(), "the daemon ended before it was up");
        process
    }

    /// A daemon that is up and whose log goes to `stderr`.
    pub(crate) fn start_logging_to(root: &Path, stderr: Stdio) -> Self {
        let mut process = Self::spawn(daemon_command(root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr));
        assert!(process.comes_up(), "the daemon ended before it was up");
        process
    }

    /// A daemon that is up and may open only so many files.
    pub(crate) fn start_with_descriptors(root: &Path, limit: u32) -> Self {
        let plain = daemon_command(root);
        let mut limited = Command::new("sh");
        limited
            .args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")])
            .arg(plain.get_program())
            .args(plain.get_args());
        limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut process = Self::spawn(limited.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()));
        assert!(process.comes_up(), "the daemon ended before it was up");
        process
    }

    /// Daemons that start when the returned writer is dropped.
    pub(crate) fn prepare_many(count: usize, root: &Path) -> (Vec<Self>, PipeWriter) {
        let (input, go) = std::io::pipe().unwrap();
        let prepare = || {
            Self::spawn(daemon_command(root).env(WAIT_FOR_START, "1").stdin(Stdio::from(input.try_clone().unwrap())))
        };
        ((0..count).map(|_| prepare()).collect(), go)
    }

    pub(super) fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let log: Box<dyn Read + Send + Sync> = match child.stderr.take() {
            Some(stderr) => Box::new(stderr),
            None => Box::new(child.stdout.take().unwrap()),
        };
        Self { child, log: BufReader::new(log), port: 0 }
    }

    /// Waits until the daemon is up; `false` if it ends before.
    pub(crate) fn comes_up(&mut self) -> bool {
        let Some(line) = self.find_log_line("up on ") else { return false };
        self.port = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        true
    }

    /// Waits for a line of the log that holds `part`.
    pub(crate) fn log_line(&mut self, part: &str) -> String {
        self.find_log_line(part).unwrap_or_else(|| panic!("the daemon ended before it said {part:?}"))
    }

    fn find_log_line(&mut self, part: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.log.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if line.contains(part) {
                return Some(line);
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// No file of the process can grow beyond so many bytes; `None` lets them.
    #[cfg(target_os = "linux")]
    pub(crate) fn limit_files(&self, bytes: Option<u64>) {
        use rustix::process::{Resource, Rlimit, prlimit};
        let pid = Some(Pid::from_child(&self.child));
        prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

/// The daemon's process, not started.
pub(super) fn daemon_command(root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "process::a_daemon_runs_until_it_is_told_to_stop", "--nocapture"])
        .env(STATE_DIR, root)
        .env("APPDUCT_LOG", "info,appduct_daemon=debug")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
