//! `policy`

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
appduct policy explain reset_counter  whether it may be called, and which rule says so
appduct policy explain pixel-8 pay --json | jq -r .data.decision";

const EXPLAIN_EXAMPLES: &str = "\
appduct policy explain reset_counter  of the only live session
appduct policy explain pixel-8 pay
appduct policy explain pay --json | jq -r .data.decision";

/// Tells what the policy says of a tool.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) action: PolicyAction,
}

/// What to do with the policy.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyAction {
    /// Tell whether a tool may be called, and which rule says so
    Explain(ExplainArgs),
}

/// Tells whether a tool may be called, and which rule of config.json says so. Nothing is called.
#[derive(Debug, Args)]
#[command(override_usage = "appduct policy explain [OPTIONS] [selector] <tool>", before_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// A session's alias or id, which may be left out where one session is live, and the tool
    #[arg(value_name = "selector|tool")]
    pub(crate) words: Vec<String>,

    /// The session, by alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,
}
