//! `cargo xtask ci`: the one definition of green.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{demo, dist, fuzz, js_client, mcp_peers, process, test, tidy, tools};

struct Step {
    name: &'static str,
    about: &'static str,
    stage: Stage,
    run: fn(&Workspace) -> Result<()>,
}

/// Every check runs, whatever the others found. Proofs take longer and run only where all the checks passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Check,
    Proof,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", about: "every file is formatted", stage: Stage::Check, run: fmt },
    Step { name: "tidy", about: "the rules that no compiler checks", stage: Stage::Check, run: tidy::run },
    Step { name: "unused", about: "no unused dependency", stage: Stage::Check, run: unused },
    Step { name: "deny", about: "licences, sources and banned crates", stage: Stage::Check, run: deny },
    Step {
        name: "clippy",
        about: "no lint on any target, and in the SDK that does nothing",
        stage: Stage::Check,
        run: clippy,
    },
    Step { name: "docs", about: "the documentation builds, private items too", stage: Stage::Check, run: docs },
    Step {
        name: "test",
        about: "every test of the project",
        stage: Stage::Proof,
        run: |workspace| test::run(workspace, &[]),
    },
    Step { name: "fuzz", about: "every fuzz target for a while", stage: Stage::Proof, run: fuzz::run_all },
    Step {
        name: "peers",
        about: "real MCP clients against the real server",
        stage: Stage::Proof,
        run: mcp_peers::run_all,
    },
    Step {
        name: "shells",
        about: "completions in the real bash, fish and zsh",
        stage: Stage::Proof,
        run: demo::shells::run,
    },
    Step {
        name: "js-client",
        about: "the client for test runners, with Vitest and Playwright",
        stage: Stage::Proof,
        run: js_client::run,
    },
    Step { name: "dist", about: "what a person can install is packed and tried", stage: Stage::Proof, run: dist::run },
    Step { name: "demo", about: "the demonstration that the README promises", stage: Stage::Proof, run: demo::run },
];

/// The name of the check that ends every full run.
const UNCHANGED: &str = "unchanged";

pub(crate) fn step_names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.name).collect()
}

pub(crate) fn steps_help() -> String {
    let steps = STEPS.iter().map(|step| format!("  {:<10}  {}\n", step.name, step.about)).collect::<String>();
    format!("Steps:\n{steps}  {UNCHANGED:<10}  no step left a file changed (ends every full run)")
}

/// Runs the named steps, or all of them and the check that none has changed a file.
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<()> {
    let before = worktree(workspace)?;
    let mut report = Report::default();
    for step in STEPS.iter().filter(|step| names.is_empty() || names.iter().any(|name| name == step.name)) {
        if step.stage == Stage::Proof && report.failed() {
            report.skip(step.name);
        } else {
            report.time(step.name, || (step.run)(workspace));
        }
    }
    if names.is_empty() {
        report.time(UNCHANGED, || unchanged(workspace, &before));
    }
    print!("\n{}", report.summary());
    ensure!(!report.failed(), "not green");
    Ok(())
}

fn fmt(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo(["fmt", "--all", "--check"]))
}

fn unused(workspace: &Workspace) -> Result<()> {
    process::run(&mut tools::MACHETE.command(workspace, &["--with-metadata"])?)
}

fn deny(workspace: &Workspace) -> Result<()> {
    let args = ["--log-level", "error", "--all-features", "--locked", "check", "licenses", "bans", "sources"];
    process::run(&mut tools::DENY.command(workspace, &args)?)
}

fn clippy(workspace: &Workspace) -> Result<()> {
    // The SDK is also built doing nothing, in both ways there are.
    let builds: [&[&str]; 3] = [
        &["--workspace"],
        &["--package", "appduct", "--features", "noop"],
        &["--package", "appduct", "--no-default-features"],
    ];
    for build in builds {
        let mut command = workspace.cargo(["clippy", "--locked", "--all-targets"]);
        process::run(command.args(build).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

fn docs(workspace: &Workspace) -> Result<()> {
    // The library and the command share the name `appduct`, so one run cannot write the pages of both.
    let libraries =
        ["doc", "--locked", "--no-deps", "--document-private-items", "--workspace", "--exclude", "appduct-cli"];
    let command = ["doc", "--locked", "--no-deps", "--document-private-items", "--package", "appduct-cli"];
    let strict = |mut cargo: Command| process::run(cargo.env("RUSTDOCFLAGS", "-D warnings"));
    strict(workspace.cargo(command))?;
    strict(workspace.cargo(libraries))
}

/// What git sees: every changed or unknown file, and what changed in it.
fn worktree(workspace: &Workspace) -> Result<String> {
    let files = process::output(workspace.command("git").args(["status", "--porcelain"]))?;
    // A corpus holds files that are no text, and git shows them as they are.
    let changes = process::bytes(workspace.command("git").args(["diff", "HEAD"]))?;
    Ok(files + &String::from_utf8_lossy(&changes))
}

fn unchanged(workspace: &Workspace, before: &str) -> Result<()> {
    let after = worktree(workspace)?;
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        ensure!(after.is_empty(), "the checkout is not clean:\n{after}");
    }
    if after != before {
        bail!("a step changed the checkout, which now shows:\n{after}");
    }
    Ok(())
}

enum Verdict {
    Passed(Duration),
    Failed(Duration),
    Skipped,
}

#[derive(Default)]
struct Report {
    lines: Vec<(&'static str, Verdict)>,
}

impl Report {
    fn time(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) {
        println!("\n==> {name}");
        let start = Instant::now();
        let done = step();
        let took = start.elapsed();
        let verdict = match done {
            Ok(()) => Verdict::Passed(took),
            Err(error) => {
                eprintln!("error: {name}: {error:#}");
                Verdict::Failed(took)
            }
        };
        self.lines.push((name, verdict));
    }

    fn skip(&mut self, name: &'static str) {
        self.lines.push((name, Verdict::Skipped));
    }

    fn failed(&self) -> bool {
        self.lines.iter().any(|(_, verdict)| matches!(verdict, Verdict::Failed(_)))
    }

    fn summary(&self) -> String {
        let mut text = String::new();
        for (name, verdict) in &self.lines {
            let line = match verdict {
                Verdict::Passed(took) => format!("{name:<10}  ok       {:>7.1} s\n", took.as_secs_f64()),
                Verdict::Failed(took) => format!("{name:<10}  FAILED   {:>7.1} s\n", took.as_secs_f64()),
                Verdict::Skipped => format!("{name:<10}  not run: a check above failed\n"),
            };
            text.push_str(&line);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_lets_the_others_run_and_shows_in_the_summary() {
        let mut report = Report::default();
        report.time("first", || bail!("no"));
        report.time("second", || Ok(()));
        report.skip("third");
        assert!(report.failed());
        let summary = report.summary();
        let lines = summary.lines().collect::<Vec<_>>();
        assert!(lines[0].starts_with("first       FAILED"), "{summary}");
        assert!(lines[1].starts_with("second      ok"), "{summary}");
        assert_eq!(lines[2], "third       not run: a check above failed");
    }

    #[test]
    fn a_report_of_passed_steps_is_green() {
        let mut report = Report::default();
        report.time("first", || Ok(()));
        assert!(!report.failed());
    }

    #[test]
    fn checks_come_before_proofs() {
        let first_proof = STEPS.iter().position(|step| step.stage == Stage::Proof).expect("there are proofs");
        assert!(STEPS[first_proof..].iter().all(|step| step.stage == Stage::Proof));
    }
}
