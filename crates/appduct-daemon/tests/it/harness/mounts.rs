//! A daemon that sees file systems which nobody else does: real mounts in a namespace of its own, gone with it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::process::daemon_command;
use super::{Control, Process};

/// A daemon in a mount namespace, and how to look into it. Its state directory is `state` in the folder that it was given.
pub(crate) struct Secluded {
    pub(crate) process: Process,
    state_dir: PathBuf,
}

impl Secluded {
    /// Whether this system lets us mount; says so if not.
    pub(crate) fn is_possible() -> bool {
        let tried = Command::new("unshare").args(["--mount", "true"]).stderr(Stdio::null()).status();
        let possible = tried.is_ok_and(|status| status.success());
        if !possible {
            writeln!(std::io::stderr(), "skipped: only the superuser may mount, and not everywhere").ok();
        }
        possible
    }

    /// Runs `mounts`, a script that sees the state directory as `$STATE`, and then a daemon on that directory.
    pub(crate) fn begin(folder: &Path, mounts: &str) -> Self {
        let state_dir = folder.join("state");
        let daemon = daemon_command(&state_dir);
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-e", "-c"])
            .arg(format!("{mounts}\nexec \"$0\" \"$@\""))
            .arg(daemon.get_program())
            .args(daemon.get_args())
            .envs(daemon.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("STATE", &state_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Self { process: Process::spawn(&mut command), state_dir }
    }

    /// The same, and up.
    pub(crate) fn start(folder: &Path, mounts: &str) -> Self {
        let mut daemon = Self::begin(folder, mounts);
        assert!(daemon.process.comes_up(), "the daemon ended before it was up");
        daemon
    }

    /// Changes the mounts while the daemon runs.
    pub(crate) fn remount(&self, script: &str) {
        let target = self.process.id().to_string();
        let mut command = Command::new("nsenter");
        command.args(["--target", &target, "--mount", "sh", "-e", "-c", script]).env("STATE", &self.state_dir);
        assert!(command.status().unwrap().success(), "{script}");
    }

    /// A file of the state directory as the daemon sees it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let inside = self.state_dir.join(name);
        Path::new("/proc").join(self.process.id().to_string()).join("root").join(inside.strip_prefix("/").unwrap())
    }

    pub(crate) fn control(&self) -> Control {
        Control::connect(&self.path("daemon.sock"))
    }
}
