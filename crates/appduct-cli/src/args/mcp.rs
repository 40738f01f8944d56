//! `mcp`

use clap::Args;

const EXAMPLES: &str = "\
claude mcp add appduct -- appduct mcp           for Claude Code
codex mcp add appduct -- appduct mcp            for Codex
appduct mcp --session pixel-8 --group checkout  only this session, only these tools
appduct mcp --http                              for a client that wants a URL";

const AFTER: &str = "\
The server speaks the Model Context Protocol on standard input and output, and ends when its input does. It needs no app and \
no daemon to start.

With --http it serves any number of clients over streamable HTTP, until Ctrl-C. Clients send the token of the file that it \
names, as a bearer token; there is no TLS, so --allow-remote is for networks that are trusted.

Without a link scheme everything works but appduct_connect; the scheme is looked for as `appduct link` does it.";

/// Lets agents use the apps: a server of the Model Context Protocol.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct McpArgs {
    /// Only the session with this alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,

    /// Only the tools of this group and its subgroups; may be given more than once
    #[arg(long, value_name = "group", action = clap::ArgAction::Append)]
    pub(crate) group: Vec<String>,

    /// The app's link scheme, without "://"
    #[arg(long, value_name = "scheme")]
    pub(crate) scheme: Option<String>,

    /// Serve over HTTP instead of on standard input and output [default address: 127.0.0.1:4519]
    #[arg(long, value_name = "address:port", num_args = 0..=1, default_missing_value = "127.0.0.1:4519")]
    pub(crate) http: Option<String>,

    /// Let --http listen to other machines
    #[arg(long)]
    pub(crate) allow_remote: bool,
}
