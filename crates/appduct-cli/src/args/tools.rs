//! `tools`, which is also the noun of `tools ls`, `tools describe` and `tools call`
//!
//! The flags of all three are declared here, so that they may stand before the verb.

use clap::Args;

use super::{CallFlags, ListingFlags};

const USAGE: &str = "\
appduct tools [OPTIONS] [selector] [name]
       appduct tools ls [OPTIONS] [selector]
       appduct tools describe [OPTIONS] [selector] <name>
       appduct tools call [OPTIONS] [selector] <tool> [key=value ...]";

const EXAMPLES: &str = "\
appduct tools                         every tool of the only live session
appduct tools sum                     one tool with its schemas
appduct tools pixel-8 --groups        the groups of one session's tools
appduct tools --group checkout --filter pay
appduct tools --json | jq -r '.data.tools[].name'";

const AFTER: &str = "\
A single word is a tool of the only live session if it has one of that name, and a session otherwise. The words ls, \
describe and call right after `tools` are always the verbs; --session always names a session.

A value that starts with \"-\" is written --filter=-x.";

/// Lists an app's tools, or shows one.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct ToolsArgs {
    /// A session's alias or id, a tool's name, or both
    #[arg(value_name = "selector|name")]
    pub(crate) words: Vec<String>,

    /// The session, by alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) listing: ListingFlags,

    #[command(flatten, next_help_heading = "With `tools call`")]
    pub(crate) call: CallFlags,
}
