//! `daemon`

use clap::{Args, Subcommand};

/// Runs, starts, stops or looks at the daemon.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    #[command(subcommand)]
    pub(crate) action: DaemonAction,
}

/// What to do with the daemon.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum DaemonAction {
    /// Run the daemon in the foreground until Ctrl-C
    Run,
    /// Start the daemon in the background, unless it is up
    Start,
    /// Stop the daemon
    Stop,
    /// Show the daemon's state, policy and audit log
    Status,
}
