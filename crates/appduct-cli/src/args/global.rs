//! Flags that every command takes, anywhere on the line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Flags that every command takes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Print one JSON document; a line for each event
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Indent JSON
    #[arg(long, global = true)]
    pub(crate) pretty: bool,

    /// Add when the command ran and how long it took
    #[arg(long, global = true)]
    pub(crate) verbose: bool,

    /// When to use colour: auto is on a terminal only
    #[arg(long, global = true, value_name = "when")]
    pub(crate) color: Option<ColorWhen>,

    /// The same as --color never
    #[arg(long, global = true)]
    pub(crate) no_color: bool,

    /// Where the daemon keeps its state [default: $APPDUCT_STATE_DIR, else ~/.appduct]
    #[arg(long, global = true, value_name = "path")]
    pub(crate) state_dir: Option<PathBuf>,

    /// Replace an older daemon even where sessions are live
    #[arg(long, global = true, overrides_with = "no_daemon_restart")]
    pub(crate) daemon_restart: bool,

    /// Never replace an older daemon that has live sessions
    #[arg(long, global = true, overrides_with = "daemon_restart")]
    pub(crate) no_daemon_restart: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl GlobalArgs {
    /// The output flags by their mere presence, for a line that cannot be parsed.
    pub(crate) fn by_presence(argv: &[OsString]) -> Self {
        let typed = || argv.iter().skip(1).take_while(|arg| *arg != "--");
        let has = |flag: &str| typed().any(|arg| arg == flag);
        Self {
            json: has("--json"),
            pretty: has("--pretty"),
            verbose: has("--verbose"),
            no_color: has("--no-color"),
            color: color_of(argv),
            ..Self::default()
        }
    }
}

/// Whether the word after this one, which is no command yet, is the value of it.
pub(super) fn takes_value(option: &OsStr) -> bool {
    option == "--state-dir" || option == "--color"
}

/// The last `--color` on a line that has not been parsed.
fn color_of(argv: &[OsString]) -> Option<ColorWhen> {
    let mut color = None;
    let mut words = argv.iter().skip(1).take_while(|arg| *arg != "--").peekable();
    while let Some(word) = words.next() {
        let Some(word) = word.to_str() else { continue };
        let value = match word.strip_prefix("--color") {
            Some("") => words.peek().and_then(|next| next.to_str()),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        color = value.and_then(|value| ColorWhen::from_str(value, false).ok()).or(color);
    }
    color
}
