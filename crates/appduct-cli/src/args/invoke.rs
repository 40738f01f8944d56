//! `invoke`, and the flags that it shares with `tools call`

use clap::{Args, ValueEnum};

const AFTER: &str = "\
Input, one of:
  key=value ...      each value is read by the type that the tool's schema gives it
  key:=<json> ...    each value is JSON
  --input '<json>'   a JSON object; - reads it from stdin, @<file> from a file
  nothing            the same as {}

Ctrl-C cancels the call (exit status 72).";

const EXAMPLES: &str = "\
appduct invoke sum a=2 b=3                  call the tool sum of the only live session
appduct invoke pixel-8 seed_cart items:='[\"tea\", \"milk\"]'
appduct invoke import --input @cart.json    or --input - to read stdin
appduct invoke sum a=2 b=3 --json | jq .data.total";

/// Calls a tool of a running app and prints its result.
#[derive(Debug, Args)]
#[command(override_usage = "appduct invoke [OPTIONS] [selector] <tool> [key=value ...]", before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct InvokeArgs {
    /// A session's alias or id where several are live, the tool, and its input
    #[arg(value_name = "tool|key=value")]
    pub(crate) words: Vec<String>,

    /// The session, by alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) flags: CallFlags,
}

/// How to call.
#[derive(Debug, Default, Args)]
pub(crate) struct CallFlags {
    /// The tool's input: a JSON object, "-" for stdin, or "@" and a file
    #[arg(long, value_name = "json", allow_negative_numbers = true)]
    pub(crate) input: Option<String>,

    /// Give up sooner than the tool's own timeout, in milliseconds (1000 to 600000)
    #[arg(long, value_name = "ms", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) timeout: Vec<String>,

    /// Show the call's progress on stderr: auto is on a terminal, without --json
    #[arg(long, value_name = "when")]
    pub(crate) progress: Option<ProgressWhen>,
}

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressWhen {
    Auto,
    Always,
    Never,
}
