//! `playground`

use clap::Args;

/// Runs the demo app in this terminal until Ctrl-C.
#[derive(Debug, Args)]
pub(crate) struct PlaygroundArgs {
    /// Pair through this deep link instead of with the local daemon
    #[arg(long, value_name = "url")]
    pub(crate) link: Option<String>,
}
