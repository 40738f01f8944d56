//! `ls`, `revoke`, and the noun `sessions`

use clap::{Args, Subcommand};

use super::LinkArgs;

/// Lists the live sessions.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {}

/// Ends a session: its app is disconnected and must be paired again.
#[derive(Debug, Args)]
#[command(override_usage = "appduct revoke [OPTIONS] [selector]")]
pub(crate) struct RevokeArgs {
    /// A session's alias or id; may be left out where one session is live
    #[arg(value_name = "selector")]
    pub(crate) words: Vec<String>,

    /// The session, by alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,
}

/// The session commands in noun-verb form.
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) verb: SessionsVerb,
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsVerb {
    /// List the live sessions
    Ls(LsArgs),
    /// End a session
    Revoke(RevokeArgs),
    /// Make a one-time deep link that pairs an app
    Link(LinkArgs),
}
