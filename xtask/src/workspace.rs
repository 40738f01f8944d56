//! Where the project lies, and cargo as it was called for it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;

/// The checkout that the command was called in.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace that this package is a member of.
    pub(crate) fn find() -> Result<Self> {
        let package =
            env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = package.parent().context("the xtask folder has no parent")?.to_owned();
        Ok(Self { root })
    }

    /// The folder of the root `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `program`, to be run at the root with no standard input.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(std::process::Stdio::null());
        // `cargo run` describes this package to its child. Passed on to another cargo, these would make build scripts
        // believe that their environment has changed, and so build their crates again.
        for (name, _) in env::vars_os() {
            let Some(text) = name.to_str() else { continue };
            let describes_this_package = text.starts_with("CARGO_PKG_")
                || text.starts_with("CARGO_MANIFEST_")
                || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"].contains(&text);
            if describes_this_package {
                command.env_remove(name);
            }
        }
        command
    }

    /// The same cargo that runs this program.
    pub(crate) fn cargo<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(args);
        command
    }

    /// What `cargo metadata` says of all packages, dependencies included.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value> {
        let text = process::output(&mut self.cargo(["metadata", "--format-version=1", "--locked", "--all-features"]))?;
        serde_json::from_str(&text).context("cargo metadata printed no JSON")
    }
}
