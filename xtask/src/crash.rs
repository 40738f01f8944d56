//! `cargo xtask crash`: the crash loop of the daemon's tests, longer than they run it.

use anyhow::Result;
use clap::Args;

use crate::process;
use crate::workspace::Workspace;

/// The test that is run.
const TEST: &str = "crash_loop::";

/// How often, and from where.
#[derive(Args)]
pub(crate) struct Loop {
    /// How often the daemon is killed
    #[arg(long, default_value_t = 200)]
    kills: u64,
    /// What chance starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Kills a daemon under load again and again, and looks for what was lost.
pub(crate) fn run(workspace: &Workspace, crash_loop: &Loop) -> Result<()> {
    let mut command =
        workspace.cargo(["test", "--locked", "--package", "appduct-daemon", "--test", "it", TEST, "--", "--nocapture"]);
    command
        .env("APPDUCT_TEST_KILLS", crash_loop.kills.to_string())
        .env("APPDUCT_TEST_SEED", crash_loop.seed.to_string());
    process::run(&mut command)
}
