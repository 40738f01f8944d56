//! What the line, the environment and the terminal mean together. Every check that needs no daemon is made here.

mod doctor;
mod events;
mod init;
mod invoke;
mod keygen;
mod link;
mod manual;
mod mcp;
mod policy;
mod tools;
mod wait;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use appduct_proto::wire::{Bootstrap, DeepLink};
use appduct_rpc::{StateDir, version_guard};

use crate::args::{
    Args, ColorWhen, Command, DaemonAction, GlobalArgs, PolicyAction, RevokeArgs, SessionsVerb, ShellName,
};
use crate::env::Env;
use crate::error::Failure;

pub(crate) use doctor::DoctorSettings;
pub(crate) use events::{DeclaredQuery, EventsSettings, SinceQuery, StreamQuery};
pub(crate) use init::InitSettings;
pub(crate) use invoke::{AssignedValue, Assignment, CallSettings, Input, ProgressMode, read_source};
pub(crate) use keygen::KeygenSettings;
pub(crate) use link::{LinkSettings, OpenSettings, WebSettings};
pub(crate) use manual::ManSettings;
pub(crate) use mcp::McpSettings;
pub(crate) use policy::ExplainSettings;
pub(crate) use tools::{ListQuery, Target, ToolsSettings, View, only_a_listing};
pub(crate) use wait::WaitSettings;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// One JSON document instead of text for people.
    pub(crate) json: bool,
    /// JSON over several lines.
    pub(crate) pretty: bool,
    /// With the meta block.
    pub(crate) verbose: bool,
    /// Colour on stdout.
    pub(crate) color_stdout: bool,
    /// Colour on stderr.
    pub(crate) color_stderr: bool,
    /// The columns that stdout has; `None` where nothing is to be fitted.
    pub(crate) width_stdout: Option<usize>,
    /// The columns that stderr has; `None` where nothing is to be fitted.
    pub(crate) width_stderr: Option<usize>,
}

/// Which of the standard streams are terminals, and how wide those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminals {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    /// Columns.
    pub(crate) stdout_width: Option<usize>,
    /// Columns.
    pub(crate) stderr_width: Option<usize>,
}

impl Output {
    /// How to print, by the flags, the environment and the terminals.
    pub(crate) fn resolve(global: &GlobalArgs, env: &Env, terminals: Terminals) -> Self {
        let color = |is_terminal| color(global, env, is_terminal);
        let width = |is_terminal: bool, width: Option<usize>| if is_terminal { env.columns.or(width) } else { None };
        Self {
            json: global.json,
            pretty: global.pretty,
            verbose: global.verbose,
            color_stdout: color(terminals.stdout),
            color_stderr: color(terminals.stderr),
            width_stdout: width(terminals.stdout, terminals.stdout_width),
            width_stderr: width(terminals.stderr, terminals.stderr_width),
        }
    }
}

/// The flags first, then `NO_COLOR`, then the variables that force colour, then the terminal.
fn color(global: &GlobalArgs, env: &Env, is_terminal: bool) -> bool {
    if global.no_color {
        return false;
    }
    match global.color {
        Some(ColorWhen::Always) => true,
        Some(ColorWhen::Never) => false,
        Some(ColorWhen::Auto) | None if env.no_color => false,
        Some(ColorWhen::Auto) | None => env.force_color || (is_terminal && !env.dumb_terminal),
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) state_dir: StateDir,
    /// The flag that says whether an older daemon is replaced whatever is lost.
    daemon_restart_flag: Option<bool>,
    daemon_restart_env: Option<OsString>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    Link(LinkSettings),
    Ls,
    Tools(ToolsSettings),
    Call(CallSettings),
    Events(EventsSettings),
    Wait(WaitSettings),
    Revoke { selector: Option<String> },
    Explain(ExplainSettings),
    Daemon(DaemonAction),
    Playground { link: Option<String>, ping_every: Option<Duration> },
    Mcp(McpSettings),
    Init(InitSettings),
    Doctor(DoctorSettings),
    Keygen(KeygenSettings),
    Completions(ShellName),
    Man(ManSettings),
}

/// The words of a command, for the meta block of what goes wrong with its arguments.
pub(crate) fn command_words(command: &Command) -> String {
    match command {
        Command::Link(_) => "link",
        Command::Ls(_) => "ls",
        Command::Tools(tools) => tools::command_words(tools),
        Command::Invoke(_) => "invoke",
        Command::Events(events) => events::command_words(events),
        Command::Wait(_) => "wait",
        Command::Revoke(_) => "revoke",
        Command::Policy(policy) => match policy.action {
            PolicyAction::Explain(_) => "policy explain",
        },
        Command::Daemon(daemon) => match daemon.action {
            DaemonAction::Run => "daemon run",
            DaemonAction::Start => "daemon start",
            DaemonAction::Stop => "daemon stop",
            DaemonAction::Status => "daemon status",
        },
        Command::Playground(_) => "playground",
        Command::Mcp(_) => "mcp",
        Command::Init(_) => "init",
        Command::Doctor(_) => "doctor",
        Command::Keygen(_) => "keygen",
        Command::Completions(_) => "completions",
        Command::Man(_) => "man",
        Command::Sessions(sessions) => match sessions.verb {
            SessionsVerb::Ls(_) => "sessions ls",
            SessionsVerb::Revoke(_) => "sessions revoke",
            SessionsVerb::Link(_) => "sessions link",
        },
    }
    .to_owned()
}

impl Settings {
    /// Checks everything that can be checked without a daemon.
    pub(crate) fn resolve(
        global: &GlobalArgs,
        command: Command,
        env: &Env,
        output: Output,
        terminals: Terminals,
    ) -> Result<Self, Failure> {
        let words = command_words(&command);
        let verb = match command {
            Command::Link(args) => Verb::Link(link::resolve(args, env)?),
            Command::Ls(_) => Verb::Ls,
            Command::Tools(args) => tools::resolve(args, output, terminals)?,
            Command::Invoke(args) => {
                Verb::Call(invoke::resolve("invoke", args.words, args.session, args.flags, output, terminals)?)
            }
            Command::Events(args) => Verb::Events(events::resolve(args)?),
            Command::Wait(args) => Verb::Wait(wait::resolve(args)?),
            Command::Revoke(args) => revoke(args, &words)?,
            Command::Policy(args) => match args.action {
                PolicyAction::Explain(args) => Verb::Explain(policy::resolve(args)?),
            },
            Command::Daemon(args) => Verb::Daemon(args.action),
            Command::Playground(args) => Verb::Playground {
                link: args.link.map(playground_link).transpose()?,
                ping_every: positive("--ping-every", &args.ping_every)?.map(Duration::from_secs),
            },
            Command::Mcp(args) => Verb::Mcp(mcp::resolve(args, env)?),
            Command::Init(args) => Verb::Init(init::resolve(args)),
            Command::Doctor(args) => Verb::Doctor(doctor::resolve(args)?),
            Command::Keygen(args) => Verb::Keygen(keygen::resolve(args)),
            Command::Completions(args) => Verb::Completions(args.shell),
            Command::Man(args) => Verb::Man(manual::resolve(args)),
            Command::Sessions(args) => match args.verb {
                SessionsVerb::Ls(_) => Verb::Ls,
                SessionsVerb::Revoke(args) => revoke(args, &words)?,
                SessionsVerb::Link(args) => Verb::Link(link::resolve(args, env)?),
            },
        };
        let daemon_restart = match (global.daemon_restart, global.no_daemon_restart) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        let state_dir = state_dir(global, env)?;
        Ok(Self {
            state_dir,
            daemon_restart_flag: daemon_restart,
            daemon_restart_env: env.daemon_restart.clone(),
            home: env.home.clone(),
            verb,
        })
    }

    /// Whether an older daemon is replaced whatever is lost: by the flag, the environment or the configuration.
    pub(crate) fn replaces_older_daemons(&self) -> bool {
        version_guard::force(self.daemon_restart_flag, self.daemon_restart_env.as_deref(), &self.state_dir)
    }
}

impl Args {
    /// The parts of a parsed line.
    pub(crate) fn into_parts(self) -> (GlobalArgs, Option<Command>) {
        (self.global, self.command)
    }
}

fn state_dir(global: &GlobalArgs, env: &Env) -> Result<StateDir, Failure> {
    let named = StateDir::resolve(
        global.state_dir.as_deref(),
        env.state_dir.as_deref().map(Path::as_os_str),
        env.home.as_deref(),
    )?;
    // A daemon that is started from here is told the path, and need not share this directory.
    let path = std::path::absolute(named.root()).map_err(|error| {
        Failure::internal(format!("The state directory {} cannot be used: {error}.", named.root().display()))
    })?;
    Ok(StateDir::new(path))
}

/// A link that can be read. What becomes of it is between the app and its daemon.
fn playground_link(link: String) -> Result<String, Failure> {
    let payload = DeepLink::parse(&link).map(|link| link.payload);
    // The link holds a secret, so it is not repeated.
    let refused = |fault: &str| {
        Failure::usage(format!("\"--link\" {fault}."))
            .with_hint("Copy the whole link, quoted, or get a new one with `appduct link --scheme playground`.")
    };
    match payload.map(|payload| Bootstrap::decode(&payload)) {
        None => Err(refused("is not an appduct link")),
        Some(Err(_)) => Err(refused("is damaged")),
        Some(Ok(_)) => Ok(link),
    }
}

fn revoke(args: RevokeArgs, command: &str) -> Result<Verb, Failure> {
    selector(args.session, args.words, command).map(|selector| Verb::Revoke { selector })
}

/// A session that is named by `--session` or by the only word.
fn selector(session: Option<String>, words: Vec<String>, command: &str) -> Result<Option<String>, Failure> {
    let mut named = session.into_iter().chain(words);
    let selector = named.next();
    match named.next() {
        Some(_) => Err(Failure::usage(format!("Usage: {command} [selector] (too many arguments)."))
            .with_hint("Run `appduct ls` to see the live sessions.")),
        None => Ok(selector),
    }
}

/// The value of an option that takes a whole number greater than zero; given more than once is wrong.
fn positive(option: &str, values: &[String]) -> Result<Option<u64>, Failure> {
    integer(option, values, 1)
}

/// The value of an option that takes a whole number, zero or greater; given more than once is wrong.
fn non_negative(option: &str, values: &[String]) -> Result<Option<u64>, Failure> {
    integer(option, values, 0)
}

fn integer(option: &str, values: &[String], least: u64) -> Result<Option<u64>, Failure> {
    let number = match values {
        [] => return Ok(None),
        [value] => whole(value).filter(|number| *number >= least),
        _ => None,
    };
    number.map(Some).ok_or_else(|| Failure::usage(crate::args::value_required(option)))
}

/// A decimal number that is whole, `1e3` included, up to 2^53.
fn whole(text: &str) -> Option<u64> {
    const MAX: f64 = 9_007_199_254_740_992.0;
    let plain = text.trim();
    if !plain.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    let number: f64 = plain.parse().ok()?;
    if number.fract() != 0.0 || !(0.0..=MAX).contains(&number) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked right above")]
    Some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(values: &[&str]) -> Vec<String> {
        values.iter().map(|&value| value.to_owned()).collect()
    }

    #[test]
    fn whole_numbers_in_any_decimal_form_pass() {
        for (text, number) in [("60", 60), ("1e3", 1000), ("007", 7), ("2.0", 2), ("+5", 5)] {
            assert_eq!(positive("--limit", &values(&[text])).unwrap(), Some(number), "{text}");
        }
        assert_eq!(non_negative("--offset", &values(&["0"])).unwrap(), Some(0));
        assert_eq!(positive("--limit", &[]).unwrap(), None);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["0", "-1", "1.5", "abc", "", "inf", "NaN", "0x10", "1e400", "--json"] {
            let failure = positive("--limit", &values(&[text])).unwrap_err();
            assert_eq!(failure.message, "\"--limit\" must be a positive integer.", "{text}");
        }
        assert!(positive("--limit", &values(&["1", "2"])).is_err());
        let failure = non_negative("--offset", &values(&["-1"])).unwrap_err();
        assert_eq!(failure.message, "\"--offset\" must be a non-negative integer.");
    }

    #[test]
    fn a_link_that_cannot_be_read_is_refused_and_not_repeated() {
        for (link, fault) in
            [("foo", "\"--link\" is not an appduct link."), ("playground:///?appduct=s3cret", "\"--link\" is damaged.")]
        {
            let failure = playground_link(link.to_owned()).unwrap_err();
            assert_eq!((failure.message.as_str(), failure.kind.exit_code()), (fault, 64));
        }
    }

    #[test]
    fn colour_follows_the_flags_then_the_environment_then_the_terminal() {
        let plain = Env::default();
        let no = Env { no_color: true, force_color: true, ..Env::default() };
        let force = Env { force_color: true, ..Env::default() };
        let dumb = Env { dumb_terminal: true, ..Env::default() };
        let flag = |color| GlobalArgs { color, ..GlobalArgs::default() };
        let auto = flag(None);
        let off = GlobalArgs { no_color: true, color: Some(ColorWhen::Always), ..GlobalArgs::default() };
        for (global, env, is_terminal, expected) in [
            (&auto, &plain, true, true),
            (&auto, &plain, false, false),
            (&auto, &no, true, false),
            (&auto, &force, false, true),
            (&auto, &dumb, true, false),
            (&flag(Some(ColorWhen::Auto)), &plain, true, true),
            (&flag(Some(ColorWhen::Always)), &no, false, true),
            (&flag(Some(ColorWhen::Never)), &force, true, false),
            (&off, &force, true, false),
        ] {
            assert_eq!(color(global, env, is_terminal), expected, "{global:?} {env:?} {is_terminal}");
        }
    }
}
