//! `wait`, and the flags of `link` that wait

use clap::Args;

const EXAMPLES: &str = "\
appduct wait                         until any app is connected
appduct wait pixel-8 --timeout 30    until this one is, for half a minute
appduct wait --tool sum && appduct invoke sum a=2 b=3
appduct link --qr --wait             show a link, until an app has opened it";

const AFTER: &str = "\
Where such a session is active already, it ends at once. Without --timeout it waits for ever.";

/// Waits until an app is connected.
#[derive(Debug, Args)]
#[command(override_usage = "appduct wait [OPTIONS] [selector]", before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct WaitArgs {
    /// A session's alias or id; any session where it is left out
    #[arg(value_name = "selector")]
    pub(crate) words: Vec<String>,

    /// The session, by alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,

    /// Wait until the session has this tool too
    #[arg(long, value_name = "name")]
    pub(crate) tool: Option<String>,

    /// Give up after so long, in seconds
    #[arg(long, value_name = "seconds", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) timeout: Vec<String>,
}

/// Whether `link` waits.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Waiting")]
pub(crate) struct WaitFlags {
    /// Print the link, then wait until an app has opened it and is connected
    #[arg(long)]
    pub(crate) wait: bool,

    /// Give up waiting after so long, in seconds [default: when the link expires]
    #[arg(long, value_name = "seconds", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) wait_timeout: Vec<String>,
}
