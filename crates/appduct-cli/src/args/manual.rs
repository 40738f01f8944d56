//! `completions` and `man`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const COMPLETIONS: &str = "\
Sessions, tools and groups are completed too: the shell asks this program, which asks the daemon if one runs and never \
starts one.

  bash  echo 'source <(appduct completions bash)' >> ~/.bashrc
  zsh   echo 'source <(appduct completions zsh)' >> ~/.zshrc     (after compinit)
  fish  echo 'appduct completions fish | source' >> ~/.config/fish/config.fish

Load it like this at every start, and not from a saved copy: the script and the program belong together.";

const MAN: &str = "\
Examples:
  appduct man | man -l -
  appduct man invoke | man -l -
  appduct man --out ~/.local/share/man/man1";

/// Prints a script that completes commands in a shell.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
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
#[command(override_usage = "appduct man [OPTIONS] [command]", after_help = MAN)]
pub(crate) struct ManArgs {
    /// The command whose page to print; the overview without one
    #[arg(value_name = "command", conflicts_with = "out")]
    pub(crate) words: Vec<String>,

    /// Write every page into this directory instead
    #[arg(long, value_name = "directory")]
    pub(crate) out: Option<PathBuf>,
}
