//! `playground`

use clap::Args;

const EXAMPLES: &str = "\
appduct playground                    pair with the daemon of this machine
appduct playground --link '<url>'     pair with the daemon that made this link";

const AFTER: &str = "\
It has five tools: sum; call_count and reset_counter in the group counter; throwing_tool in diagnostics; slow_task in \
diagnostics/progress.

It ends where its session does.";

/// Runs the demo app in this terminal until Ctrl-C.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct PlaygroundArgs {
    /// Pair through this deep link instead of with the local daemon
    #[arg(long, value_name = "url")]
    pub(crate) link: Option<String>,
}
