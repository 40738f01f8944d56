//! `cargo xtask dist`: what a person can install, from one release build.
//!
//! Everything goes to `target/dist`: a tarball with the command, its completions and its manual pages, and on top of it a
//! Homebrew formula, a Debian package and an npm package. Each package is tried once it is made.

mod debian;
mod homebrew;
mod npm;
mod tarball;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::workspace::Workspace;

/// The shells that completions are shipped for, with the name of each one's file.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "appduct.bash"), ("zsh", "_appduct"), ("fish", "appduct.fish")];

/// What is shipped, laid out in a folder, and what it is called.
struct Staged {
    /// The folder that holds `bin`, `completions` and `man`.
    folder: PathBuf,
    version: String,
    /// Of the machine that it runs on, as Rust names it.
    target: String,
}

/// Builds, packs and tries everything.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let dist = workspace.root().join("target/dist");
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    fs::create_dir_all(&dist)?;
    let staged = stage(workspace, &dist)?;
    let tarball = tarball::pack(&staged, &dist)?;
    let formula = homebrew::write(workspace, &staged, &tarball, &dist)?;
    let packages = [npm::pack(workspace, &staged, &dist)?, debian::pack(workspace, &staged, &dist)?];
    for path in [tarball.path, formula].iter().chain(packages.iter().flatten()) {
        println!("{} ({} KiB)", path.display(), fs::metadata(path)?.len() / 1024);
    }
    Ok(())
}

/// Builds the command and has it write its completions and its manual.
fn stage(workspace: &Workspace, dist: &Path) -> Result<Staged> {
    process::run(&mut workspace.cargo(["build", "--release", "--locked", "--package", "appduct-cli"]))?;
    let built = workspace.root().join("target/release/appduct");
    let version = process::output(workspace.command(&built).arg("--version"))?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    ensure!(version.starts_with(|first: char| first.is_ascii_digit()), "the command has no version: {version:?}");
    let target = host_target(workspace)?;

    let folder = dist.join(format!("appduct-{version}-{target}"));
    for part in ["bin", "completions", "man"] {
        fs::create_dir_all(folder.join(part))?;
    }
    fs::copy(&built, folder.join("bin/appduct"))?;
    for (shell, name) in COMPLETIONS {
        let script = process::output(workspace.command(&built).args(["completions", shell]))?;
        fs::write(folder.join("completions").join(name), script)?;
    }
    process::output(workspace.command(&built).args(["man", "--out"]).arg(folder.join("man")))?;
    ensure!(folder.join("man/appduct.1").exists(), "the manual has no overview");
    for document in ["LICENSE", "README.md", "CHANGELOG.md"] {
        fs::copy(workspace.root().join(document), folder.join(document))?;
    }
    Ok(Staged { folder, version, target })
}

fn host_target(workspace: &Workspace) -> Result<String> {
    let described = process::output(workspace.command("rustc").arg("-vV"))?;
    let host = described.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names its host")?.to_owned())
}

/// Every file below `folder`, as paths from there, in an order that does not change.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Only the command may be run.
fn mode_of(path: &Path) -> u32 {
    if path.starts_with("bin") || path.starts_with("usr/bin") { 0o755 } else { 0o644 }
}
