//! The Debian package, where Debian's own packer is at hand.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};

use super::{Staged, files, mode_of};
use crate::process;
use crate::workspace::Workspace;

/// Where each folder of the tarball goes, and what its files are called there.
const PLACES: [(&str, &str); 6] = [
    ("bin/appduct", "usr/bin/appduct"),
    ("completions/appduct.bash", "usr/share/bash-completion/completions/appduct"),
    ("completions/_appduct", "usr/share/zsh/vendor-completions/_appduct"),
    ("completions/appduct.fish", "usr/share/fish/vendor_completions.d/appduct.fish"),
    ("LICENSE", "usr/share/doc/appduct/copyright"),
    ("README.md", "usr/share/doc/appduct/README.md"),
];

/// Packs it and looks into it. `None`, and a line about it, where there is no `dpkg-deb`.
pub(super) fn pack(workspace: &Workspace, staged: &Staged, dist: &Path) -> Result<Option<PathBuf>> {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        println!("no Debian package: dpkg-deb is not installed (Debian and Ubuntu have it, Homebrew has `dpkg`)");
        return Ok(None);
    }
    let architecture = architecture(&staged.target)?;
    let version = debian_version(&staged.version);
    let folder = dist.join("debian");
    for (from, to) in PLACES {
        copy(&staged.folder.join(from), &folder.join(to))?;
    }
    for page in files(&staged.folder.join("man"))? {
        copy(&staged.folder.join("man").join(&page), &folder.join("usr/share/man/man1").join(&page))?;
    }
    let bytes = files(&folder)?
        .iter()
        .try_fold(0, |sum, file| Ok::<_, std::io::Error>(sum + fs::metadata(folder.join(file))?.len()))?;
    fs::create_dir_all(folder.join("DEBIAN"))?;
    fs::write(folder.join("DEBIAN/control"), control(&version, architecture, bytes.div_ceil(1024)))?;
    set_modes(&folder)?;

    let path = dist.join(format!("appduct_{version}_{architecture}.deb"));
    process::output(workspace.command("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&folder).arg(&path))?;
    let listed = process::output(workspace.command("dpkg-deb").arg("--contents").arg(&path))?;
    for place in PLACES.map(|(_, to)| to).into_iter().chain(["usr/share/man/man1/appduct.1"]) {
        ensure!(listed.contains(&format!("./{place}")), "the Debian package has no {place}");
    }
    Ok(Some(path))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to)?;
    Ok(())
}

fn set_modes(folder: &Path) -> Result<()> {
    for file in files(folder)? {
        fs::set_permissions(folder.join(&file), fs::Permissions::from_mode(mode_of(&file)))?;
    }
    Ok(())
}

fn control(version: &str, architecture: &str, kib: u64) -> String {
    format!(
        "Package: appduct\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The Appduct project\n\
         Installed-Size: {kib}\nDepends: libc6\nSection: devel\nPriority: optional\n\
         Description: call functions inside a running app\n \
         A terminal, a test or an agent calls what an app has registered as tools.\n \
         One program is the command line, the daemon and a demo app.\n"
    )
}

/// A prerelease sorts before its release, which Debian writes with a tilde.
fn debian_version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

fn architecture(target: &str) -> Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        Some(_) | None => bail!("Debian has no name for the processor of {target}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prerelease_sorts_before_its_release() {
        assert_eq!(debian_version("1.0.0-alpha.1"), "1.0.0~alpha.1");
        assert_eq!(debian_version("1.0.0"), "1.0.0");
    }

    #[test]
    fn a_control_file_ends_in_a_line_and_indents_its_description() {
        let text = control("1.0.0", "amd64", 3);
        assert!(text.ends_with(".\n") && text.contains("\n A terminal") && text.contains("Installed-Size: 3\n"));
    }
}
