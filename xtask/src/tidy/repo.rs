//! What the rules look at: the text files that git knows or would take, and what cargo says of the crates.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;
use crate::workspace::Workspace;

/// The rules name what they forbid, so they would find themselves.
const THE_RULES: &str = "xtask/src/tidy/";

/// The project as the rules see it.
#[derive(Default)]
pub(super) struct Repo {
    pub(super) files: Vec<TextFile>,
    /// `cargo metadata`, or null where a test has none.
    pub(super) metadata: Value,
}

/// One file of UTF-8 text.
pub(super) struct TextFile {
    /// From the root of the project, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl Repo {
    pub(super) fn read(workspace: &Workspace) -> Result<Self> {
        let mut git = workspace.command("git");
        let listing = process::output(git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
        let mut files = Vec::new();
        for path in listing.split_terminator('\0') {
            // A listed file may be deleted, and what is no text has no lines to speak of.
            if let Ok(text) = std::fs::read_to_string(workspace.root().join(path)) {
                files.push(TextFile { path: path.to_owned(), text });
            }
        }
        let metadata = workspace.metadata().context("the crates are unknown")?;
        Ok(Self { files, metadata })
    }

    /// Every Rust file.
    pub(super) fn rust(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// Every Markdown document.
    pub(super) fn documents(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.path.ends_with(".md"))
    }

    /// Every file but those of the rules.
    pub(super) fn judged(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| !file.path.starts_with(THE_RULES))
    }

    /// Whether `path` is a file or a folder.
    pub(super) fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files
            .iter()
            .any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }
}

impl TextFile {
    /// The lines with their numbers, from one.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The lines of a Rust file that are built into what is shipped.
    pub(super) fn production(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.first_test_line();
        self.lines().take_while(move |(number, _)| *number < first)
    }

    /// The lines of a Rust file that only tests use.
    pub(super) fn tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.first_test_line();
        self.lines().skip_while(move |(number, _)| *number < first)
    }

    /// Where the tests begin: with the file if it is one of tests, else with the module at its end.
    fn first_test_line(&self) -> usize {
        if self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "e2e")) {
            return 1;
        }
        let mut after_cfg = false;
        for (number, line) in self.lines() {
            if after_cfg && line.starts_with("mod ") && line.ends_with('{') {
                return number;
            }
            after_cfg = line == "#[cfg(test)]";
        }
        usize::MAX
    }
}

#[cfg(test)]
impl Repo {
    /// A project of these files.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|&(path, text)| TextFile { path: path.to_owned(), text: text.to_owned() });
        Self { files: files.collect(), metadata: Value::Null }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<usize> {
        lines.map(|(number, _)| number).collect()
    }

    #[test]
    fn the_module_at_the_end_of_a_file_is_its_tests() {
        let repo =
            Repo::of(&[("a/src/lib.rs", "//! A.\n#[cfg(test)]\nmod far;\nfn a() {}\n#[cfg(test)]\nmod tests {\n}\n")]);
        assert_eq!(numbers(repo.files[0].production()), [1, 2, 3, 4, 5]);
        assert_eq!(numbers(repo.files[0].tests()), [6, 7]);
    }

    #[test]
    fn a_file_of_tests_is_all_tests() {
        let repo = Repo::of(&[("a/src/tests/pair.rs", "//! A.\n"), ("a/src/pin/tests.rs", "//! A.\n")]);
        assert!(repo.files.iter().all(|file| numbers(file.tests()) == [1] && file.production().count() == 0));
    }

    #[test]
    fn a_folder_is_held_by_its_whole_name_only() {
        let repo = Repo::of(&[("crates/appduct-proto/src/lib.rs", "")]);
        assert!(repo.holds("crates/appduct-proto") && repo.holds("crates/appduct-proto/src/"));
        assert!(!repo.holds("crates/appduct"));
    }
}
