//! `cargo xtask tidy`: the rules that no compiler checks, each finding with its file and line.

mod arrows;
mod documents;
mod environment;
mod files;
mod repo;
mod tests_only;
mod words;

use std::fmt;

use anyhow::{Result, bail};

use self::repo::Repo;
use crate::workspace::Workspace;

/// One rule: a name, what it holds to, and the function that finds where it is broken.
struct Rule {
    name: &'static str,
    about: &'static str,
    check: fn(&Repo) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    Rule { name: "front-line", about: "a source file begins with `//!`", check: files::front_line },
    Rule { name: "length", about: "no source file is longer than 900 lines", check: files::length },
    Rule { name: "file-name", about: "no file is named for what it is a heap of", check: files::names },
    Rule { name: "arrows", about: "crates depend on each other only as drawn", check: arrows::between_crates },
    Rule { name: "absences", about: "a crate does without what it must never know", check: arrows::absences },
    Rule { name: "rooms", about: "a crate names only the parts of another that are its to know", check: arrows::rooms },
    Rule { name: "map", about: "every path in ARCHITECTURE.md exists", check: documents::map },
    Rule { name: "links", about: "relative links in documents lead somewhere", check: documents::links },
    Rule {
        name: "rust-version",
        about: "the Rust version is the same wherever it is named",
        check: documents::rust_version,
    },
    Rule {
        name: "environment",
        about: "docs/environment.md lists the variables that exist",
        check: environment::listed,
    },
    Rule { name: "tests", about: "no test is ignored, sleeps, or is called `test_`", check: tests_only::habits },
    Rule { name: "unfinished", about: "nothing is left to do", check: words::unfinished },
    Rule { name: "allow", about: "a lint is expected with a reason, never allowed", check: words::allow },
    Rule { name: "places", about: "no path of somebody's machine", check: words::places },
    Rule { name: "keys", about: "no private key", check: words::keys },
];

/// Where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.message)
    }
}

pub(crate) fn rules_help() -> String {
    let rules = RULES.iter().map(|rule| format!("  {:<12}  {}\n", rule.name, rule.about)).collect::<String>();
    format!("Rules:\n{rules}")
}

/// Checks every rule and shows every finding.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let repo = Repo::read(workspace)?;
    let mut count = 0;
    for rule in RULES {
        for finding in (rule.check)(&repo) {
            eprintln!("{finding} [{}]", rule.name);
            count += 1;
        }
    }
    if count > 0 {
        bail!("{count} findings");
    }
    println!("{} files keep {} rules", repo.files.len(), RULES.len());
    Ok(())
}
