//! A daemon and the demo app, for servers to reach.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use shared_child::SharedChild;
use tempfile::TempDir;

use crate::demo::interrupt::Interrupt;
use crate::workspace::Workspace;
use crate::{demo, process};

/// How long the daemon and the app may take to be there.
const START: Duration = Duration::from_secs(120);

/// How long a condition stays unchecked.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Everything is allowed but what is destructive, which somebody has to agree to.
const CONFIG: &str = r#"{"wssPort":0,"policy":{"destructive":"prompt"}}"#;

/// A running daemon with a connected app. Dropping it ends both.
pub(super) struct Stage {
    // Dropped in this order, so the app leaves before its daemon, and the directory goes last.
    _playground: Companion,
    _daemon: Companion,
    program: PathBuf,
    journal: PathBuf,
    state_dir: TempDir,
}

impl Stage {
    /// Builds the command and starts what is needed.
    pub(super) fn set(workspace: &Workspace, interrupt: &Interrupt) -> Result<Self> {
        let program = demo::build(workspace)?;
        let state_dir = tempfile::Builder::new().prefix("appduct-").tempdir().context("could not make a directory")?;
        fs::write(state_dir.path().join("config.json"), CONFIG)?;
        let command = |args: &[&str]| {
            let mut command = demo::command(workspace, &program, state_dir.path());
            command.args(args);
            command
        };
        let daemon = Companion::start(command(&["daemon", "run"]), "daemon", state_dir.path())?;
        daemon.until(interrupt, || Ok(state_dir.path().join("daemon.sock").exists()))?;
        let playground = Companion::start(command(&["playground"]), "playground", state_dir.path())?;
        playground.until(interrupt, || demo::has_the_playground(&process::output(&mut command(&["ls", "--json"]))?))?;
        let journal = playground.stdout.clone();
        Ok(Self { _playground: playground, _daemon: daemon, program, journal, state_dir })
    }

    /// The freshly built command.
    pub(super) fn program(&self) -> &OsStr {
        self.program.as_os_str()
    }

    /// Where the daemon keeps its state.
    pub(super) fn state_dir(&self) -> &OsStr {
        self.state_dir.path().as_os_str()
    }

    /// The file of what the app prints.
    pub(super) fn journal(&self) -> &OsStr {
        self.journal.as_os_str()
    }
}

/// A program that runs in the background and writes into files.
struct Companion {
    name: &'static str,
    child: SharedChild,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Companion {
    fn start(mut command: Command, name: &'static str, folder: &Path) -> Result<Self> {
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| folder.join(format!("{name}.{stream}")));
        command.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let child = SharedChild::spawn(&mut command).with_context(|| format!("could not start the {name}"))?;
        Ok(Self { name, child, stdout, stderr })
    }

    /// Waits until `ready` holds.
    fn until(&self, interrupt: &Interrupt, ready: impl Fn() -> Result<bool>) -> Result<()> {
        let deadline = Instant::now() + START;
        while !ready()? {
            let ended = self.child.wait_timeout(LOOK_AGAIN)?;
            let complaint = || fs::read_to_string(&self.stderr).unwrap_or_default();
            ensure!(ended.is_none(), "the {} ended early\n{}", self.name, complaint());
            ensure!(!interrupt.came(), "interrupted");
            ensure!(Instant::now() < deadline, "the {} was not ready in time\n{}", self.name, complaint());
        }
        Ok(())
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if let Err(error) = process::end(&self.child) {
            eprintln!("the {}: {error:#}", self.name);
        }
    }
}
