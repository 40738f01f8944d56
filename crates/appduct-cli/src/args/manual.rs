//! `completions` and `man`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const LOADING: &str = "\
echo 'source <(appduct completions bash)' >> ~/.bashrc
echo 'source <(appduct completions zsh)' >> ~/.zshrc
echo 'appduct completions fish | source' >> ~/.config/fish/config.fish";

const COMPLETIONS: &str = "\
Sessions, tools and groups are completed too: the shell asks this program, which asks the daemon if one runs and never \
starts one.

In zsh, the line stands after compinit.

Load it like this at every start, and not from a saved copy: the script and the program belong together.";

const MAN: &str = "\
appduct man | man -l -
appduct man invoke | man -l -
appduct man --out ~/.local/share/man/man1";

/// Prints a script that completes commands in a shell.
#[derive(Debug, Args)]
#[command(before_help = LOADING, after_help = COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "shell")]
    pub(crate) shell: ShellName,
}

/// A shell whose completions are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
}

/// Prints the manual.
#[derive(Debug, Args)]
#[command(override_usage = "appduct man [OPTIONS] [command]", before_help = MAN)]
pub(crate) struct ManArgs {
    /// The command whose page to print; the overview without one
    #[arg(value_name = "command", conflicts_with = "out")]
    pub(crate) words: Vec<String>,

    /// Write every page into this directory instead
    #[arg(long, value_name = "directory")]
    pub(crate) out: Option<PathBuf>,
}
