//! The programs that the checks need beside the Rust toolchain, each at one version.
//!
//! A tool is built once and kept under cargo's home, in a folder of its own, so that neither a fresh clone nor a tool
//! that the developer installed for other projects matters.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// One program of crates.io.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Licences, sources and banned crates.
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

/// Dependencies that no source file names.
pub(crate) const MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2" };

/// Programs with a fuzzer built in.
pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };

impl Tool {
    /// The tool with `args`, installed first where it is missing.
    pub(crate) fn command(&self, workspace: &Workspace, args: &[&str]) -> Result<Command> {
        let program = self.installed(workspace)?;
        let mut command = workspace.command(program);
        command.args(args);
        Ok(command)
    }

    fn installed(&self, workspace: &Workspace) -> Result<PathBuf> {
        let root = cargo_home()?.join("appduct-tools").join(format!("{}-{}", self.name, self.version));
        let program = root.join("bin").join(self.name).with_extension(env::consts::EXE_EXTENSION);
        if !program.exists() {
            println!("installing {} {}", self.name, self.version);
            // The tool's own lock file may name a version that the registry at hand does not serve.
            process::run(self.install(workspace, &root).arg("--locked"))
                .or_else(|_| process::run(&mut self.install(workspace, &root)))?;
        }
        Ok(program)
    }

    fn install(&self, workspace: &Workspace, root: &Path) -> Command {
        // Built without optimisation: that halves the wait, and none of them works for more than a second or two.
        let mut command = workspace.cargo(["install", "--quiet", "--debug", self.name, "--version", self.version]);
        command.arg("--root").arg(root);
        command
    }
}

fn cargo_home() -> Result<PathBuf> {
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
        .context("neither CARGO_HOME nor the home folder is known")
}
