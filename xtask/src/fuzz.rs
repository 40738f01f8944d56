//! `cargo xtask fuzz`: looks for inputs that the fuzz targets fail with.
//!
//! The programs are built without a sanitizer: there is no unsafe code to watch, and so the project's own toolchain will
//! do, where a sanitizer needs a nightly one.

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{process, tools};

/// The programs, in a workspace of their own.
const PROGRAMS: &str = "fuzz/cargo-fuzz";

/// How long one target runs where nobody says.
pub(crate) const SECONDS: u32 = 20;

/// How long one input may take.
const INPUT_SECONDS: u32 = 10;

/// How much memory a program may have.
const MEMORY_MB: u32 = 1024;

/// The longest input. The corpus test has those of a frame's size.
const INPUT_BYTES: u32 = 4096;

pub(crate) struct Options {
    /// All targets if none is named.
    pub(crate) targets: Vec<String>,
    pub(crate) seconds: u32,
    /// One from the clock where there is none.
    pub(crate) seed: Option<u32>,
    /// Whether what was found of interest goes into the committed corpus.
    pub(crate) keep: bool,
}

/// Where CI starts: always at the same place, so that a failure speaks of the change and not of luck. Discovery is for
/// those who call the command.
const CI_SEED: u32 = 1;

/// Every target for the default time, as CI runs them.
pub(crate) fn run_all(workspace: &Workspace) -> Result<()> {
    run(workspace, &Options { targets: Vec::new(), seconds: SECONDS, seed: Some(CI_SEED), keep: false })
}

/// Builds the programs and runs them, as many at a time as there are processors.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let known = targets(workspace)?;
    if let Some(unknown) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("there is no target {unknown}; there are {}", known.join(", "));
    }
    let chosen = if options.targets.is_empty() { known } else { options.targets.clone() };
    let seed = options.seed.unwrap_or_else(seed_of_the_clock);
    let programs = build(workspace)?;
    println!("{} targets for {} s each, --seed {seed}", chosen.len(), options.seconds);
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (waiting, failed) = (Mutex::new(chosen.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(name) = next(&waiting) {
                    if let Err(error) = programs.look(name, options, seed) {
                        eprintln!("error: {name}: {error:#}");
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

fn next<'a>(waiting: &Mutex<std::slice::Iter<'a, String>>) -> Option<&'a String> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// The targets are the files of their programs.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root().join(PROGRAMS).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn seed_of_the_clock() -> u32 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    // libFuzzer takes 0 for no seed.
    (seconds % u64::from(u32::MAX)) as u32 + 1
}

/// What was built, and where things go.
struct Programs<'a> {
    workspace: &'a Workspace,
    /// The folder of the programs.
    folder: PathBuf,
    /// For everything that is not committed.
    scratch: PathBuf,
}

fn build(workspace: &Workspace) -> Result<Programs<'_>> {
    let scratch = workspace.root().join("target/fuzz");
    follow_the_lock_file(workspace)?;
    let mut command =
        tools::FUZZ.command(workspace, &["build", "--fuzz-dir", PROGRAMS, "--sanitizer", "none", "--target-dir"])?;
    process::run(command.arg(&scratch))?;
    let folder = scratch.join(host_triple(workspace)?).join("release");
    Ok(Programs { workspace, folder, scratch })
}

/// The programs are built with the versions that the project itself is built with.
fn follow_the_lock_file(workspace: &Workspace) -> Result<()> {
    let ours = workspace.root().join("Cargo.lock");
    let theirs = workspace.root().join(PROGRAMS).join("Cargo.lock");
    let changed = |path| fs::metadata(path).and_then(|file| file.modified());
    if changed(&theirs).is_ok_and(|theirs| changed(&ours).is_ok_and(|ours| ours <= theirs)) {
        return Ok(());
    }
    fs::copy(&ours, &theirs).map(|_| ()).with_context(|| theirs.display().to_string())
}

fn host_triple(workspace: &Workspace) -> Result<String> {
    let text = process::output(&mut workspace.cargo(["version", "--verbose"]))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("cargo does not say what it runs on")
}

impl Programs<'_> {
    /// Runs one target.
    fn look(&self, name: &str, options: &Options, seed: u32) -> Result<()> {
        let (found, failures) = (self.scratch.join("corpus").join(name), self.scratch.join("failures").join(name));
        let corpus = self.workspace.root().join("fuzz/corpus").join(name);
        for folder in [&found, &failures, &corpus] {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut command = self.command(name);
        command
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-seed={seed}"))
            .arg(format!("-timeout={INPUT_SECONDS}"))
            .arg(format!("-rss_limit_mb={MEMORY_MB}"))
            .arg(format!("-max_len={INPUT_BYTES}"))
            .arg(format!("-dict={}", self.workspace.root().join("fuzz/dictionary.txt").display()))
            .arg(format!("-artifact_prefix={}/", failures.display()))
            .arg("-print_final_stats=1")
            .args([&found, &corpus]);
        let output = command.output().with_context(|| format!("could not start {}", process::words(&command)))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            eprintln!("{}", last_lines(&said));
            bail!(
                "ended with {}; the input is in {}. In fuzz/corpus/{name} it becomes a test of appduct-fuzz",
                output.status,
                failures.display()
            );
        }
        println!("{name:<16}  {:>9} runs", runs(&said).context("the program does not say how often it ran")?);
        if options.keep {
            // As few inputs as reach all the code that was reached; how often each part ran does not count.
            let mut merge = self.command(name);
            let merged = merge.args(["-set_cover_merge=1", "-use_counters=0"]).args([&corpus, &found]).output()?;
            ensure!(merged.status.success(), "{}", last_lines(&String::from_utf8_lossy(&merged.stderr)));
        }
        Ok(())
    }

    fn command(&self, name: &str) -> Command {
        let mut command = self.workspace.command(self.folder.join(name));
        command.stdout(Stdio::null());
        command
    }
}

/// How many inputs were run.
fn runs(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok())
}

/// What a program said last, which is why it failed.
fn last_lines(said: &str) -> String {
    const MOST: usize = 60;
    let lines: Vec<_> = said.lines().collect();
    lines[lines.len().saturating_sub(MOST)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_runs_is_read() {
        let said = "#2\tINITED\nstat::number_of_executed_units: 4711\nstat::average_exec_per_sec: 9\n";
        assert_eq!(runs(said), Some(4711));
        assert_eq!(runs("stat::number_of_executed_units: many\n"), None);
    }

    #[test]
    fn a_seed_of_the_clock_is_one_that_counts() {
        assert_ne!(seed_of_the_clock(), 0);
    }
}
