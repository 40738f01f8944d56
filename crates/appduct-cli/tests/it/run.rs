//! Runs the binary with a cleared environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home, a working directory and a state directory of one test.
pub(crate) struct Place {
    temp: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let temp = tempfile::Builder::new().prefix("ad").tempdir().unwrap();
        for directory in ["home", "work"] {
            std::fs::create_dir(temp.path().join(directory)).unwrap();
        }
        Self { temp }
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    pub(crate) fn root(&self) -> &Path {
        self.temp.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_appduct"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.temp.path().join("home"))
            .env("APPDUCT_STATE_DIR", self.state_dir())
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.ran(self.command(args).output().unwrap())
    }

    pub(crate) fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> Ran {
        self.ran(self.command(args).envs(env.iter().copied()).output().unwrap())
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &str) -> Ran {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        self.ran(child.wait_with_output().unwrap())
    }

    /// Runs with stdout on a file or a device.
    pub(crate) fn run_into(&self, args: &[&str], path: &str) -> Ran {
        let stdout = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        self.ran(self.command(args).stdout(stdout).output().unwrap())
    }

    /// Runs with stdin on a file or a device.
    pub(crate) fn run_from(&self, args: &[&str], path: &str) -> Ran {
        self.ran(self.command(args).stdin(std::fs::File::open(path).unwrap()).output().unwrap())
    }

    pub(crate) fn ended(&self, child: Child) -> Ran {
        self.ran(child.wait_with_output().unwrap())
    }

    fn ran(&self, output: Output) -> Ran {
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.temp.path().display().to_string(), "$TEMP")
        };
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// What a successful run printed on stdout; nothing may be on stderr.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        &self.stdout
    }

    /// The one JSON document on stdout; nothing may be on stderr.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stderr, "", "{self:?}");
        assert_eq!(self.stdout.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Status, type and message of a run that failed under `--json`.
    #[track_caller]
    pub(crate) fn failure(&self) -> (i32, String, String) {
        let document = self.json();
        assert_eq!(document["ok"], false, "{document}");
        assert!(document.get("data").is_none());
        let text = |key: &str| document["error"][key].as_str().unwrap().to_owned();
        (self.code.unwrap(), text("type"), text("message"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "exit: {}", self.code.unwrap())?;
        writeln!(f, "--- stdout\n{}--- stderr\n{}[EOF]", self.stdout, self.stderr)
    }
}
