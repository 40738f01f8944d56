//! What was typed: one file per verb, with no meaning given to any of it.

mod daemon;
mod doctor;
#[cfg(test)]
mod documents;
mod events;
mod global;
mod help;
mod init;
mod invoke;
mod keygen;
mod link;
mod listing;
mod manual;
mod mcp;
mod playground;
mod policy;
mod refusal;
mod sessions;
mod tools;
mod wait;

use clap::{Parser, Subcommand};

pub(crate) use daemon::{DaemonAction, DaemonArgs};
pub(crate) use doctor::DoctorArgs;
pub(crate) use events::EventsArgs;
pub(crate) use global::{ColorWhen, GlobalArgs};
pub(crate) use help::{command, without_help_word};
pub(crate) use init::InitArgs;
pub(crate) use invoke::{CallFlags, InvokeArgs, ProgressWhen};
pub(crate) use keygen::{KeyType, KeygenArgs};
pub(crate) use link::{LinkArgs, OpenTarget, Opener};
pub(crate) use listing::ListingFlags;
pub(crate) use manual::{CompletionsArgs, ManArgs, ShellName};
pub(crate) use mcp::McpArgs;
pub(crate) use playground::PlaygroundArgs;
pub(crate) use policy::{ExplainArgs, PolicyAction, PolicyArgs};
pub(crate) use refusal::{how_to_use, refusal, value_required};
pub(crate) use sessions::{LsArgs, RevokeArgs, SessionsArgs, SessionsVerb};
pub(crate) use tools::ToolsArgs;
pub(crate) use wait::{WaitArgs, WaitFlags};

const EXAMPLES: &str = "\
appduct playground                    run the demo app in this terminal
appduct tools                         in another one: list what it can do
appduct invoke sum a=2 b=3            call one of its tools
appduct link --scheme myshop --qr     pair an app of your own";

const AFTER: &str = "`appduct help <command>` is the same as `appduct <command> --help`.";

/// Lets a terminal, a test or an agent call functions inside a running app.
#[derive(Debug, Parser)]
#[command(
    name = "appduct",
    version,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_override_self = true,
    before_help = EXAMPLES,
    after_help = AFTER
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    /// Print the version
    #[arg(short = 'v', short_alias = 'V', long, action = clap::ArgAction::Version)]
    version: (),

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The first word.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a one-time deep link that pairs an app
    Link(LinkArgs),
    /// List the live sessions
    Ls(LsArgs),
    /// List an app's tools, or show one
    Tools(ToolsArgs),
    /// Call a tool
    Invoke(InvokeArgs),
    /// Show what happens: app events, sessions, links and calls
    Events(EventsArgs),
    /// Wait until an app is connected
    Wait(WaitArgs),
    /// End a session
    Revoke(RevokeArgs),
    /// Tell what the policy says of a tool
    Policy(PolicyArgs),
    /// Run, start, stop or look at the daemon
    Daemon(DaemonArgs),
    /// Run the demo app in this terminal until Ctrl-C
    Playground(PlaygroundArgs),
    /// Let agents use the apps: the MCP server
    Mcp(McpArgs),
    /// Record a project's link scheme and app ids in a file to commit
    Init(InitArgs),
    /// Tell whether a built app carries Appduct
    Doctor(DoctorArgs),
    /// Make a host key
    Keygen(KeygenArgs),
    /// Print a script that completes commands in a shell
    Completions(CompletionsArgs),
    /// Print the manual
    Man(ManArgs),
    /// The session commands in noun-verb form: ls, revoke, link
    Sessions(SessionsArgs),
}
