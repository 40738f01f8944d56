//! Whole processes, from spawn to exit, in turns with their floor.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::Bench;
use crate::daemon::{self, Daemon};
use crate::fleet::{self, Fleet};
use crate::report::{Report, Row, time, verdict};
use crate::stats::Durations;

/// How long a cold start may take on an idle machine.
const COLD: Duration = Duration::from_millis(60);

pub(crate) fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let daemon = Daemon::start(&bench.program)?;
    let mut fleet = Fleet::new(&daemon, fleet::tools(20)?, &bench.runtime)?;
    fleet.grow_to(1, &mut daemon.client()?)?;

    let hello = || Command::new(&bench.hello);
    let appduct = |words: &'static [&'static str]| {
        let daemon = &daemon;
        move || {
            let mut command = daemon.command(&bench.program);
            command.args(words);
            command
        }
    };
    let rounds = bench.count(300, 15);
    for (what, words, target) in [
        ("`appduct --version`", ["--version"].as_slice(), 1.5),
        ("`appduct tools --json`, 20 tools", &["tools", "--json"], 3.0),
        ("`appduct invoke sum a=2 b=3`", &["invoke", "sum", "a=2", "b=3"], 4.0),
    ] {
        let [figure, floor] = in_turns(rounds, [&appduct(words), &hello])?;
        let spread = format!("{} to {}", time(figure.percentile(5.0)), time(figure.percentile(95.0)));
        report.add(Row::at_most(what, figure.median(), floor.median(), target).with_spread(spread));
    }
    if has_node() {
        let node = || {
            let mut command = Command::new("node");
            command.args(["-e", "0"]);
            command
        };
        for (what, words) in [
            ("`appduct tools --json` against `node -e 0`", ["tools", "--json"].as_slice()),
            ("`appduct invoke sum` against `node -e 0`", &["invoke", "sum", "a=2", "b=3"]),
        ] {
            let [figure, floor] = in_turns(bench.count(60, 6), [&appduct(words), &node])?;
            let row = Row::at_most(what, figure.median(), floor.median(), 1.0 / 15.0);
            report.add(Row { target: "<= 1/15".to_owned(), ..row });
        }
    }
    report.add(cold_start(bench)?);
    Ok(())
}

/// Runs each command once a round, and tells how long each took.
fn in_turns(rounds: u32, commands: [&dyn Fn() -> Command; 2]) -> Result<[Durations; 2]> {
    let mut found = [Durations::new(), Durations::new()];
    for round in 0..rounds + 3 {
        for (durations, command) in found.iter_mut().zip(commands) {
            let mut command = command();
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            let status = command.status()?;
            let took = start.elapsed();
            ensure!(status.success(), "{command:?} ended with {status}");
            // The first ones warm the caches.
            if round >= 3 {
                durations.add(took)?;
            }
        }
    }
    Ok(found)
}

fn has_node() -> bool {
    Command::new("node").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// From no daemon and no state directory to the first answer.
fn cold_start(bench: &Bench) -> Result<Row> {
    let mut found = Durations::new();
    for _ in 0..bench.count(20, 5) {
        let folder = tempfile::Builder::new().prefix("apc-").tempdir()?;
        std::fs::write(folder.path().join("config.json"), r#"{"wssPort":0}"#)?;
        let start = Instant::now();
        run_silently(&bench.program, folder.path(), &["ls"])?;
        found.add(start.elapsed())?;
        run_silently(&bench.program, folder.path(), &["daemon", "stop"])?;
    }
    let row = Row::plain(
        "no daemon to the first answer (`appduct ls`)",
        time(found.median()),
        &format!("<= {}", time(COLD)),
        found.median() <= COLD,
    );
    let spread = format!("{} to {}", time(found.percentile(5.0)), time(found.percentile(95.0)));
    Ok(Row { verdict: verdict(found.median() <= COLD), ..row.with_spread(spread) })
}

fn run_silently(program: &Path, state_dir: &Path, words: &[&str]) -> Result<()> {
    let output = daemon::command(program, state_dir).args(words).output().context("the command runs")?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
