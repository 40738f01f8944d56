//! A daemon of its own for one measurement, and what the system says of a process.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use appduct_rpc::methods::{DaemonStatus, Status};
use appduct_rpc::{Client, DaemonLauncher, StateDir};

/// The daemon, ended with this value.
#[derive(Debug)]
pub(crate) struct Daemon {
    process: Child,
    state_dir: tempfile::TempDir,
    pub(crate) status: Status,
}

impl Daemon {
    /// Starts `program daemon run` in a state directory of its own.
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let state_dir = tempfile::Builder::new().prefix("apd-").tempdir()?;
        // Everything else as users have it: a measurement of other settings would say nothing to them.
        fs::write(state_dir.path().join("config.json"), r#"{"wssPort":0,"advertisedIp":"127.0.0.1"}"#)?;
        let mut process = command(program, state_dir.path())
            .args(["daemon", "run", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        ensure!(!line.is_empty(), "the daemon did not start");
        let status = client(state_dir.path())?.request(&DaemonStatus, Client::REQUEST_TIMEOUT)?;
        Ok(Self { process, state_dir, status })
    }

    pub(crate) fn state_dir(&self) -> &Path {
        self.state_dir.path()
    }

    /// A new control connection.
    pub(crate) fn client(&self) -> Result<Client> {
        client(self.state_dir.path())
    }

    /// The `appduct` command for this daemon.
    pub(crate) fn command(&self, program: &Path) -> Command {
        command(program, self.state_dir.path())
    }

    pub(crate) fn usage(&self) -> Result<Usage> {
        Usage::of(self.process.id())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It ends by itself if it is gone already.
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

fn client(state_dir: &Path) -> Result<Client> {
    Ok(Client::connect(&StateDir::new(state_dir.to_owned()), &DaemonLauncher::never())?)
}

pub(crate) fn command(program: &Path, state_dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("APPDUCT_STATE_DIR", state_dir).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// What a process has used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// User and system time.
    pub(crate) cpu: Duration,
    pub(crate) resident_bytes: u64,
}

impl Usage {
    /// From the process file system, so on Linux only.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let stat = fs::read_to_string(folder.join("stat"))?;
        // The name in parentheses may hold anything; the 14th and 15th fields are the times.
        let (_, fields) = stat.rsplit_once(") ").context("a stat line has a name")?;
        let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
        let per_second = rustix::param::clock_ticks_per_second();
        let statm = fs::read_to_string(folder.join("statm"))?;
        let pages = statm.split(' ').nth(1).context("the second field is the resident set")?.parse::<u64>()?;
        Ok(Self {
            cpu: Duration::from_secs_f64(ticks as f64 / per_second as f64),
            resident_bytes: pages * u64::try_from(rustix::param::page_size())?,
        })
    }
}
