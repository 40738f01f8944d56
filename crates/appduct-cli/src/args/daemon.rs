//! `daemon`

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
appduct daemon status                 its sessions, its policy, its audit log
appduct daemon stop                   the next command that needs it starts it again
APPDUCT_LOG=debug appduct daemon run  watch it work";

const AFTER: &str = "\
No command needs the daemon to be started first: it is started when it is needed, one for each state directory.";

/// Runs, starts, stops or looks at the daemon.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
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
