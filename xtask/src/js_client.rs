//! `cargo xtask js-client`: the client for test runners, against the real daemon and the demo app.
//!
//! Its own tests come first, then the tests that stand for a user's, each with the runner that the user would have.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::mcp_peers::install::Node;
use crate::workspace::Workspace;
use crate::{demo, process};

/// Where the package is, from the root of the project.
const FOLDER: &str = "bindings/js/client";

/// What a browser for the tests of pages is called.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// What is run, in order: the script of a package, and its arguments.
const RUNS: &[(&str, &[&str])] = &[
    ("node_modules/typescript/bin/tsc", &["-p", "tsconfig.build.json"]),
    ("node_modules/typescript/bin/tsc", &["-p", "tsconfig.json"]),
    ("node_modules/vitest/vitest.mjs", &["run", "--config", "tests/vitest.config.ts"]),
    ("node_modules/vitest/vitest.mjs", &["run", "--config", "examples/vitest.config.ts"]),
    ("node_modules/@playwright/test/cli.js", &["test", "--config", "examples/playwright.config.ts"]),
];

/// Installs what is needed and runs the tests.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root().join(FOLDER);
    let node = Node::prepare(workspace)?;
    node.packages(workspace, &folder)?;
    browser(workspace)?;
    let program = demo::build(workspace)?;
    for (script, args) in RUNS {
        println!("\n--> {script} {}", args.join(" "));
        let mut command = workspace.command(&node.node);
        command.arg(folder.join(script)).args(*args).current_dir(&folder);
        process::run(command.env("APPDUCT_BIN", &program).env("PATH", path_with(&node.node)?))?;
    }
    Ok(())
}

/// The search path with the folder of `node` first, for scripts that start another.
fn path_with(node: &Path) -> Result<std::ffi::OsString> {
    let own = node.parent().context("node lies in no folder")?.to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(own).chain(env::split_paths(&others))).context("the search path cannot be made")
}

/// Installs a browser where there is none.
fn browser(workspace: &Workspace) -> Result<()> {
    if BROWSERS.iter().any(|name| on_path(name).is_some()) {
        return Ok(());
    }
    println!("installing chromium");
    let apt = |args: &[&str]| -> Command {
        let mut command = workspace.command("apt-get");
        command.arg("--quiet=2").args(args).env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    process::run(&mut apt(&["update"]))?;
    process::run(&mut apt(&["install", "--yes", "--no-install-recommends", "chromium"]))
        .context("one of chromium, chromium-browser and google-chrome has to be on PATH")
}

fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_package_has_the_version_of_the_command() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let version = manifest.lines().find_map(|line| line.strip_prefix("version = ")).unwrap().trim_matches('"');
        for file in ["package.json", "package-lock.json"] {
            let text = fs::read_to_string(root.join(FOLDER).join(file)).unwrap();
            let package: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(package["version"], version, "{file}");
        }
    }
}
