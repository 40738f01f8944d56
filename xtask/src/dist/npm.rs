//! The npm package: its `bin` is the native program itself, so no other process stands between a shell and it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;

use super::Staged;
use crate::process;
use crate::workspace::Workspace;

/// Packs it, installs it and runs it. `None`, and a line about it, where there is no npm.
pub(super) fn pack(workspace: &Workspace, staged: &Staged, dist: &Path) -> Result<Option<PathBuf>> {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("no npm package: npm is not installed (it comes with Node.js)");
        return Ok(None);
    }
    let (os, cpu) = platform(&staged.target)?;
    let name = format!("@appduct/cli-{os}-{cpu}");
    let folder = dist.join("npm");
    fs::create_dir_all(folder.join("bin"))?;
    fs::copy(staged.folder.join("bin/appduct"), folder.join("bin/appduct"))?;
    fs::copy(staged.folder.join("LICENSE"), folder.join("LICENSE"))?;
    let manifest = json!({
        "name": name,
        "version": staged.version,
        "description": "The appduct command: call functions inside a running app",
        "license": "MIT",
        "os": [os],
        "cpu": [cpu],
        "bin": { "appduct": "bin/appduct" },
        "files": ["bin"],
    });
    fs::write(folder.join("package.json"), serde_json::to_string_pretty(&manifest)? + "\n")?;
    let packed = process::output(
        workspace.command("npm").args(["pack", "--silent", "--pack-destination"]).arg(dist).current_dir(&folder),
    )?;
    let path = dist.join(packed.trim().lines().last().context("npm names what it packed")?);
    try_it(workspace, staged, &path, &name)?;
    Ok(Some(path))
}

/// Installs the package in a folder of its own and runs its command.
fn try_it(workspace: &Workspace, staged: &Staged, package: &Path, name: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    process::output(
        workspace
            .command("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--offline", "--prefix"])
            .arg(folder.path())
            .arg(package),
    )?;
    let program = folder.path().join("node_modules/.bin/appduct");
    let version = process::output(workspace.command(&program).arg("--version"))?;
    ensure!(version.trim().ends_with(&staged.version), "{name} installs {version:?}");
    let native = fs::canonicalize(&program)?;
    ensure!(
        fs::read(&native)? == fs::read(staged.folder.join("bin/appduct"))?,
        "{name} does not run the program itself"
    );
    Ok(())
}

/// What npm calls the system and processor of a Rust target.
fn platform(target: &str) -> Result<(&'static str, &'static str)> {
    let cpu = match target.split('-').next() {
        Some("x86_64") => "x64",
        Some("aarch64") => "arm64",
        Some(_) | None => bail!("npm has no name for the processor of {target}"),
    };
    let os = if target.contains("-linux-") {
        "linux"
    } else if target.ends_with("-apple-darwin") {
        "darwin"
    } else {
        bail!("npm has no name for the system of {target}")
    };
    Ok((os, cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_their_names_at_npm() {
        assert_eq!(platform("x86_64-unknown-linux-gnu").unwrap(), ("linux", "x64"));
        assert_eq!(platform("aarch64-apple-darwin").unwrap(), ("darwin", "arm64"));
        assert!(platform("riscv64gc-unknown-linux-gnu").is_err());
    }
}
