//! The Homebrew formula: where the tarball of a release lies, its hash, and where its files go.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::Staged;
use super::tarball::Tarball;
use crate::workspace::Workspace;

pub(super) fn write(workspace: &Workspace, staged: &Staged, tarball: &Tarball, dist: &Path) -> Result<PathBuf> {
    let metadata = workspace.metadata()?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
    let package = packages.iter().find(|package| package["name"] == "appduct-cli");
    let repository =
        package.and_then(|package| package["repository"].as_str()).context("the command has a repository")?;
    let path = dist.join("appduct.rb");
    fs::write(&path, formula(repository, staged, &tarball.sha256))?;
    Ok(path)
}

fn formula(repository: &str, Staged { version, target, .. }: &Staged, sha256: &str) -> String {
    format!(
        r##"class Appduct < Formula
  desc "Call functions inside a running app from a terminal, a test or an agent"
  homepage "{repository}"
  version "{version}"
  url "{repository}/releases/download/v{version}/appduct-{version}-{target}.tar.gz"
  sha256 "{sha256}"
  license "MIT"

  def install
    bin.install "bin/appduct"
    bash_completion.install "completions/appduct.bash" => "appduct"
    zsh_completion.install "completions/_appduct"
    fish_completion.install "completions/appduct.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/appduct --version")
  end
end
"##
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_names_the_release_and_its_hash() {
        let staged = Staged { folder: PathBuf::new(), version: "1.2.3".to_owned(), target: "here".to_owned() };
        let text = formula("https://example.org/appduct", &staged, "abc");
        let url = r#"url "https://example.org/appduct/releases/download/v1.2.3/appduct-1.2.3-here.tar.gz""#;
        for line in [url, r#"sha256 "abc""#, r#"version "1.2.3""#, r##"shell_output("#{bin}/appduct --version")"##] {
            assert!(text.contains(line), "{line}");
        }
    }
}
