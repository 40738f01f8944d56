//! The programs that reach devices.

use std::io::{self, ErrorKind};
use std::process::{Command, Stdio};

use crate::error::Failure;

/// A program of a platform's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Adb,
    Xcrun,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Adb => "adb",
            Self::Xcrun => "xcrun",
        }
    }

    fn how_to_get_it(self) -> &'static str {
        match self {
            Self::Adb => "Install the Android SDK Platform-Tools and put their directory on PATH.",
            Self::Xcrun => "Install Xcode and its command line tools; they are for macOS only.",
        }
    }
}

/// How a program ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    pub(crate) is_success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program with these arguments, each as it is, and waits for its end.
pub(crate) trait Runner {
    fn run(&self, tool: Tool, args: &[&str]) -> io::Result<Ended>;
}

/// The programs of this machine, found on PATH.
#[derive(Debug)]
pub(crate) struct Processes;

impl Runner for Processes {
    fn run(&self, tool: Tool, args: &[&str]) -> io::Result<Ended> {
        let output = Command::new(tool.name()).args(args).stdin(Stdio::null()).output()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ended { is_success: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) })
    }
}

/// Runs a program that must succeed. `secret` appears in no failure.
pub(super) fn run(runner: &dyn Runner, tool: Tool, args: &[&str], secret: &str) -> Result<Ended, Failure> {
    let name = tool.name();
    let ended = runner.run(tool, args).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            Failure::connection(format!("\"{name}\" was not found on PATH.")).with_hint(tool.how_to_get_it())
        } else {
            Failure { hint: None, ..Failure::connection(format!("\"{name}\" could not be started: {error}.")) }
        }
    })?;
    if ended.is_success {
        return Ok(ended);
    }
    let said = [&ended.stderr, &ended.stdout].into_iter().map(|text| one_line(text)).find(|text| !text.is_empty());
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    let message = without(secret, &format!("`{name} {}` failed{said}", args.join(" ")));
    Err(Failure { hint: None, ..Failure::connection(message) })
}

/// What a program said, on one line.
pub(super) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// `text` without the link, which is a secret.
pub(super) fn without(secret: &str, text: &str) -> String {
    if secret.is_empty() { text.to_owned() } else { text.replace(secret, "<link>") }
}
