//! `ls`, `revoke`, and the noun `sessions`

use clap::{Args, Subcommand};

use super::LinkArgs;

const LS_EXAMPLES: &str = "\
appduct ls
appduct ls --json | jq -r '.data[].alias'";

const REVOKE_EXAMPLES: &str = "\
appduct revoke                        the only live session
appduct revoke pixel-8
appduct revoke <session id>           a link too, before it is claimed";

const SESSIONS_EXAMPLES: &str = "\
appduct sessions ls                   the same as appduct ls
appduct sessions link --qr            the same as appduct link --qr
appduct sessions revoke pixel-8       the same as appduct revoke pixel-8";

/// Lists the live sessions.
#[derive(Debug, Args)]
#[command(before_help = LS_EXAMPLES)]
pub(crate) struct LsArgs {}

/// Ends a session: its app is disconnected and must be paired again.
#[derive(Debug, Args)]
#[command(override_usage = "appduct revoke [OPTIONS] [selector]", before_help = REVOKE_EXAMPLES)]
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
#[command(before_help = SESSIONS_EXAMPLES)]
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
