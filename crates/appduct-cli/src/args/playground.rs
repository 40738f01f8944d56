//! `playground`

use clap::Args;

const EXAMPLES: &str = "\
appduct playground                    pair with the daemon of this machine
appduct playground --link '<url>'     pair with the daemon that made this link
appduct playground --ping-every 5     post its event every five seconds";

const AFTER: &str = "\
It has five tools: sum; call_count and reset_counter in the group counter; throwing_tool in diagnostics; slow_task in \
diagnostics/progress.

Its event is playground_ping: Enter posts it too, and so does each line on standard input.

It ends where its session does.";

/// Runs the demo app in this terminal until Ctrl-C.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct PlaygroundArgs {
    /// Pair through this deep link instead of with the local daemon
    #[arg(long, value_name = "url")]
    pub(crate) link: Option<String>,

    /// Post the event playground_ping every so many seconds
    #[arg(long, value_name = "seconds", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) ping_every: Vec<String>,
}
