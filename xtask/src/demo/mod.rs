//! `cargo xtask demo`: a daemon, an app, and the commands that reach the app's tools.
//!
//! Everything happens in a state directory of its own that vanishes at the end, so a daemon that the person runs
//! already is not touched. What was started is ended by its handle, after a failure and after Ctrl-C too.

mod background;
pub(crate) mod interrupt;
pub(crate) mod shells;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use shared_child::SharedChild;

use self::background::Background;
use self::interrupt::Interrupt;
use crate::process;
use crate::workspace::Workspace;

/// How long the daemon may take to listen, and the app to be connected with its tools.
const START: Duration = Duration::from_secs(30);

/// How long one command may take.
const ONE_COMMAND: Duration = Duration::from_secs(60);

/// What a failing tool makes of the command's exit status.
const TOOL_FAILED: i32 = 72;

/// The tools that the playground registers.
const PLAYGROUND_TOOLS: u64 = 5;

/// Builds the command and runs the demonstration. A development build, because it is there first.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let interrupt = Interrupt::listen()?;
    let program = build(workspace)?;
    let state_dir =
        tempfile::Builder::new().prefix("appduct-").tempdir().context("could not make a state directory")?;
    fs::write(state_dir.path().join("config.json"), "{\"wssPort\":0}\n")?;
    let demo = Demo { workspace, program, state_dir: state_dir.path(), interrupt };

    // Dropped in the opposite order, so the app leaves before its daemon.
    let _daemon = demo.daemon()?;
    let _playground = demo.playground()?;
    demo.show(&["ls"], 0)?;
    demo.show(&["tools"], 0)?;
    demo.show(&["tools", "--groups"], 0)?;
    demo.show(&["tools", "--group", "diagnostics"], 0)?;
    demo.show(&["invoke", "sum", "a=2", "b=3"], 0)?;
    demo.show(&["invoke", "slow_task", "--progress", "always"], 0)?;
    demo.show(&["invoke", "throwing_tool"], TOOL_FAILED)?;
    println!();
    Ok(())
}

/// The path of the freshly built command.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    println!("building the appduct command");
    let args = ["build", "--locked", "--package", "appduct-cli", "--message-format", "json-render-diagnostics"];
    let messages = process::output(&mut workspace.cargo(args))?;
    messages.lines().find_map(executable).context("the build made no executable called appduct")
}

/// The executable of one of cargo's messages, if that is what it tells of.
fn executable(message: &str) -> Option<PathBuf> {
    let message = serde_json::from_str::<serde_json::Value>(message).ok()?;
    let is_ours = message["target"]["name"] == "appduct" && message["target"]["kind"][0] == "bin";
    is_ours.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
}

struct Demo<'a> {
    workspace: &'a Workspace,
    program: PathBuf,
    state_dir: &'a Path,
    interrupt: Interrupt,
}

impl Demo<'_> {
    /// A daemon that listens.
    fn daemon(&self) -> Result<Background> {
        println!("\n$ appduct daemon run &");
        let mut daemon = Background::start(self.command(&["daemon", "run"]), "daemon", self.state_dir)?;
        daemon.until(&self.interrupt, START, || Ok(UnixStream::connect(self.state_dir.join("daemon.sock")).is_ok()))?;
        Ok(daemon)
    }

    /// An app that is connected and has registered its tools.
    fn playground(&self) -> Result<Background> {
        println!("\n$ appduct playground &");
        let mut playground = Background::start(self.command(&["playground"]), "playground", self.state_dir)?;
        playground.until(&self.interrupt, START, || self.app_is_ready())?;
        Ok(playground)
    }

    fn app_is_ready(&self) -> Result<bool> {
        let reply = process::output(&mut self.command(&["ls", "--json"]))?;
        has_the_playground(&reply)
    }

    /// Runs one command for the reader to see.
    fn show(&self, args: &[&str], expected: i32) -> Result<()> {
        let typed = format!("appduct {}", args.join(" "));
        println!("\n$ {typed}");
        let child = SharedChild::spawn(&mut self.command(args)).with_context(|| format!("could not start {typed}"))?;
        let deadline = Instant::now() + ONE_COMMAND;
        let status = loop {
            if let Some(status) = child.wait_timeout(Duration::from_millis(100))? {
                break status;
            }
            let too_late = Instant::now() >= deadline;
            if too_late || self.interrupt.came() {
                child.kill()?;
                child.wait()?;
                bail!("{typed} {}", if too_late { "took too long" } else { "was interrupted" });
            }
        };
        ensure!(!self.interrupt.came(), "interrupted");
        ensure!(status.code() == Some(expected), "{typed} ended with {status}, not with exit status {expected}");
        if expected != 0 {
            println!("[exit {expected}]");
        }
        Ok(())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.workspace, &self.program, self.state_dir);
        command.args(args);
        command
    }
}

/// The command in a state directory of its own, whatever the caller's own settings are.
pub(crate) fn command(workspace: &Workspace, program: &Path, state_dir: &Path) -> Command {
    let mut command = workspace.command(program);
    for (name, _) in std::env::vars_os() {
        if is_a_setting(&name) {
            command.env_remove(name);
        }
    }
    command.env("APPDUCT_STATE_DIR", state_dir).stdin(Stdio::null());
    command
}

fn is_a_setting(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("APPDUCT_"))
}

/// Whether `appduct ls --json` shows a connected app with every tool of the playground.
pub(crate) fn has_the_playground(reply: &str) -> Result<bool> {
    let reply = serde_json::from_str::<serde_json::Value>(reply).context("ls --json printed no JSON")?;
    let sessions = reply["data"].as_array().context("ls --json printed no list")?;
    Ok(sessions.iter().any(|session| session["state"] == "active" && session["toolCount"] == PLAYGROUND_TOOLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_without_its_tools_is_not_ready() {
        let reply =
            |state: &str, tools: u64| format!(r#"{{"ok":true,"data":[{{"state":"{state}","toolCount":{tools}}}]}}"#);
        assert!(!has_the_playground(r#"{"ok":true,"data":[]}"#).unwrap());
        assert!(!has_the_playground(&reply("active", 0)).unwrap());
        assert!(!has_the_playground(&reply("suspended", 5)).unwrap());
        assert!(has_the_playground(&reply("active", 5)).unwrap());
    }

    #[test]
    fn a_reply_that_is_no_list_is_an_error() {
        assert!(has_the_playground("Sessions").is_err());
        assert!(has_the_playground(r#"{"ok":false}"#).is_err());
    }

    #[test]
    fn the_executable_is_told_from_the_library_of_the_same_name() {
        let message = |kind: &str| {
            format!(r#"{{"target":{{"name":"appduct","kind":["{kind}"]}},"executable":"target/debug/appduct"}}"#)
        };
        assert_eq!(executable(&message("bin")), Some(PathBuf::from("target/debug/appduct")));
        assert_eq!(executable(&message("lib")), None);
        assert_eq!(executable("   Compiling appduct"), None);
    }
}
