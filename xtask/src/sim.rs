//! `cargo xtask sim`: many runs of the simulation, optimised.

use anyhow::Result;
use clap::Args;

use crate::process;
use crate::workspace::Workspace;

/// Which runs.
#[derive(Args)]
pub(crate) struct Runs {
    /// How many seeds to run
    #[arg(long)]
    seeds: Option<u64>,
    /// The first seed; without --seeds the only one
    #[arg(long)]
    seed: Option<u64>,
    /// Shows every line of the run; for one seed
    #[arg(long, requires = "seed")]
    verbose: bool,
}

/// Runs the seeds. The first that breaks a promise ends it.
pub(crate) fn run(workspace: &Workspace, runs: &Runs) -> Result<()> {
    let mut command =
        workspace.cargo(["run", "--quiet", "--locked", "--profile", "sim", "--package", "appduct-sim", "--"]);
    process::run(command.args(runs.words()))
}

impl Runs {
    fn words(&self) -> Vec<String> {
        let number = |name: &str, number: Option<u64>| number.map(|number| format!("--{name}={number}"));
        let verbose = self.verbose.then(|| "--verbose".to_owned());
        number("seeds", self.seeds).into_iter().chain(number("seed", self.seed)).chain(verbose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_passed_on() {
        let runs = Runs { seeds: Some(5), seed: Some(7), verbose: false };
        assert_eq!(runs.words(), ["--seeds=5", "--seed=7"]);
        assert_eq!(Runs { seeds: None, seed: Some(7), verbose: true }.words(), ["--seed=7", "--verbose"]);
    }
}
