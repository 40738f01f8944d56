//! `cargo xtask test`: everything that the project tests, and one line that counts it.

use std::io::{BufRead as _, BufReader, Write, stdout};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::workspace::Workspace;

/// One runner of tests. A suite of another language is one more entry whose function installs what the runner needs,
/// lets it print what it prints, and returns its count.
struct Suite {
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace) -> Result<Tally>,
}

const SUITES: &[Suite] = &[
    Suite { name: "rust", about: "the workspace, examples in the documentation included", run: rust },
    Suite { name: "noop", about: "the SDK that does nothing", run: noop },
];

/// What a suite counted, and whether its runner called it a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    success: bool,
}

pub(crate) fn suite_names() -> Vec<&'static str> {
    SUITES.iter().map(|suite| suite.name).collect()
}

pub(crate) fn suites_help() -> String {
    let suites = SUITES.iter().map(|suite| format!("  {:<10}  {}\n", suite.name, suite.about)).collect::<String>();
    format!("Suites:\n{suites}")
}

/// Runs the named suites, or all of them. A failing suite does not keep the others from running.
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<()> {
    let mut passed = 0;
    let mut failed = 0;
    let mut broken = Vec::new();
    for suite in SUITES.iter().filter(|suite| names.is_empty() || names.iter().any(|name| name == suite.name)) {
        println!("\n--> {}: {}", suite.name, suite.about);
        match (suite.run)(workspace) {
            Ok(tally) => {
                passed += tally.passed;
                failed += tally.failed;
                if !tally.success || tally.passed == 0 {
                    broken.push(suite.name);
                }
            }
            Err(error) => {
                eprintln!("error: {}: {error:#}", suite.name);
                broken.push(suite.name);
            }
        }
    }
    println!("\n{passed} passed, {failed} failed");
    ensure!(broken.is_empty(), "failed, or ran no test: {}", broken.join(", "));
    Ok(())
}

fn rust(workspace: &Workspace) -> Result<Tally> {
    libtest(&mut workspace.cargo(["test", "--locked", "--workspace", "--no-fail-fast"]), stdout())
}

fn noop(workspace: &Workspace) -> Result<Tally> {
    libtest(
        &mut workspace.cargo(["test", "--locked", "--package", "appduct", "--features", "noop", "--no-fail-fast"]),
        stdout(),
    )
}

/// Runs `cargo test`, copying what it prints to `out` and adding up its summaries.
fn libtest(command: &mut Command, mut out: impl Write) -> Result<Tally> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {}", process::words(command)))?;
    let printed = child.stdout.take().context("the child has no standard output")?;
    let mut tally = Tally { passed: 0, failed: 0, success: false };
    for line in BufReader::new(printed).split(b'\n') {
        let line = line?;
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        if let Some((passed, failed)) = libtest_summary(&String::from_utf8_lossy(&line)) {
            tally.passed += passed;
            tally.failed += failed;
        }
    }
    tally.success = child.wait()?.success();
    Ok(tally)
}

/// The counts of `test result: ok. 3 passed; 0 failed; ...`.
fn libtest_summary(line: &str) -> Option<(u64, u64)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let part = counts.split("; ").find_map(|part| part.strip_suffix(word))?;
        part.trim().parse().ok()
    };
    Some((count(" passed")?, count(" failed")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_libtest_is_counted() {
        let ok = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(libtest_summary(ok), Some((12, 0)));
        let failed =
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 9.00s";
        assert_eq!(libtest_summary(failed), Some((2, 1)));
    }

    #[test]
    fn a_line_that_a_test_prints_is_not_counted() {
        assert_eq!(libtest_summary("12 passed, 0 failed"), None);
        assert_eq!(libtest_summary("test result: ok"), None);
        assert_eq!(libtest_summary("test result: ok. many passed; 0 failed"), None);
    }

    #[test]
    fn a_child_that_fails_is_no_success_whatever_it_counted() {
        let line = "test result: ok. 1 passed; 0 failed; 0 ignored";
        let mut out = Vec::new();
        let tally = libtest(Command::new("sh").args(["-c", &format!("echo '{line}'; exit 3")]), &mut out).unwrap();
        assert_eq!(out, format!("{line}\n").as_bytes());
        assert_eq!(tally, Tally { passed: 1, failed: 0, success: false });
    }
}
