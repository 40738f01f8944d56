//! `cargo xtask bench` and `cargo xtask load`: how fast and how small, on a release build.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::process;
use crate::workspace::Workspace;

/// What is measured, and where it goes.
#[derive(Args)]
pub(crate) struct Measurements {
    /// Fewer repetitions and sessions: shows that it works, not how fast it is
    #[arg(long)]
    quick: bool,
}

/// What is held, and what is done with it.
#[derive(Args)]
pub(crate) struct Load {
    /// How many apps are connected
    #[arg(long)]
    sessions: Option<u64>,
    /// How many tools each has
    #[arg(long)]
    tools: Option<u64>,
    /// How many calls start in a second, over all of them
    #[arg(long)]
    calls_per_second: Option<u64>,
    /// For how long
    #[arg(long)]
    seconds: Option<u64>,
    /// Drops all sockets at once after that
    #[arg(long)]
    drop: bool,
}

/// Measures everything, prints one table, and leaves it as JSON and a chart in `target/bench`.
pub(crate) fn run(workspace: &Workspace, measurements: &Measurements) -> Result<()> {
    build(workspace)?;
    let folder = workspace.root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let (json, svg) = (folder.join("report.json"), folder.join("growth.svg"));
    let mut command = workspace.command(release(workspace, "appduct-bench"));
    command.args(["run", "--program"]).arg(release(workspace, "appduct"));
    command.arg("--json").arg(&json).arg("--svg").arg(&svg);
    if measurements.quick {
        command.arg("--quick");
    }
    process::run(&mut command)?;
    println!("as JSON in {}, as a chart in {}", json.display(), svg.display());
    Ok(())
}

/// Holds many sessions and calls their tools.
pub(crate) fn load(workspace: &Workspace, load: &Load) -> Result<()> {
    build(workspace)?;
    let mut command = workspace.command(release(workspace, "appduct-bench"));
    command.args(["load", "--program"]).arg(release(workspace, "appduct")).args(load.words());
    process::run(&mut command)
}

fn build(workspace: &Workspace) -> Result<()> {
    let packages = ["build", "--release", "--locked", "--package", "appduct-cli", "--package", "appduct-bench"];
    process::run(&mut workspace.cargo(packages))
}

fn release(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("target/release").join(name)
}

impl Load {
    fn words(&self) -> Vec<String> {
        let numbers = [
            ("sessions", self.sessions),
            ("tools", self.tools),
            ("calls-per-second", self.calls_per_second),
            ("seconds", self.seconds),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some(format!("--{name}={}", number?)));
        numbers.chain(self.drop.then(|| "--drop".to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_passed_on() {
        let load = Load { sessions: Some(5), tools: None, calls_per_second: Some(7), seconds: None, drop: true };
        assert_eq!(load.words(), ["--sessions=5", "--calls-per-second=7", "--drop"]);
    }
}
