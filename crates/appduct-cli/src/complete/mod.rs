//! Completion in a shell: the script that it loads, and the answers to what the script asks.
//!
//! Commands, options and their values come from the same definitions as the help. Sessions, tools, groups and the keys of a
//! tool's input come from the daemon if one runs; none is ever started, and nothing is said where there is none.

mod line;
mod live;

use std::ffi::OsString;
use std::sync::Arc;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;

use crate::args::{Args, ShellName};
use crate::env::{COMPLETE, Env};
use crate::error::Failure;
use crate::report::Script;

use line::Line;
use live::Live;

/// What a shell loads at its start.
pub(crate) fn script(shell: ShellName) -> Result<Script, Failure> {
    let shell = match shell {
        ShellName::Bash => "bash",
        ShellName::Zsh => "zsh",
        ShellName::Fish => "fish",
    };
    let failed = || Failure::internal(format!("The completions for {shell} cannot be written."));
    let shells = Shells::builtins();
    let completer = shells.completer(shell).ok_or_else(failed)?;
    let mut script = Vec::new();
    completer.write_registration(COMPLETE, "appduct", "appduct", "appduct", &mut script).map_err(|_| failed())?;
    let script = String::from_utf8(script).map_err(|_| failed())?;
    Ok(Script { shell, script: format!("{}\n", script.trim()) })
}

/// What may come next on the line that a shell's script hands over in `argv`, after `--`.
pub(crate) fn answer(shell: &str, argv: &[OsString], env: &Env) -> String {
    let words: Vec<_> = argv.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(shell).filter(|_| !words.is_empty()) else { return String::new() };
    let index = env.complete_index.unwrap_or(words.len() - 1).min(words.len());
    let live = Arc::new(Live::new(Line::of(&words[..index]), env));
    let typed = words.get(index).and_then(|word| word.to_str()).unwrap_or_default();
    let mut command = command(&live);
    if !typed.starts_with('-') {
        // The parser adds options of its own when the command is built.
        command.build();
        command = without_options(command);
    }
    let mut answer = Vec::new();
    let cwd = std::env::current_dir().ok();
    match completer.write_complete(&mut command, words, cwd.as_deref(), &mut answer) {
        Ok(()) => String::from_utf8_lossy(&answer).into_owned(),
        // A shell has nowhere to show why it got nothing.
        Err(_) => String::new(),
    }
}

/// Options are offered last: where a dash is typed, or where nothing else fits.
fn without_options(command: Command) -> Command {
    command.mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) }).mut_subcommands(without_options)
}

/// The command line, with what only a daemon knows.
fn command(live: &Arc<Live>) -> Command {
    let with = |candidates: fn(&Live) -> Vec<CompletionCandidate>| {
        let live = Arc::clone(live);
        ArgValueCompleter::new(move |typed: &std::ffi::OsStr| {
            let Some(typed) = typed.to_str() else { return Vec::new() };
            let fits = |candidate: &CompletionCandidate| {
                candidate.get_value().to_str().is_some_and(|value| value.starts_with(typed))
            };
            candidates(&live).into_iter().filter(fits).collect()
        })
    };
    let sessions = |arg: Arg| arg.add(with(Live::sessions));
    let words = |arg: Arg| arg.add(with(Live::words));
    let events = |arg: Arg| arg.add(with(Live::events));
    let tools = |arg: Arg| arg.add(with(Live::tool_names));
    let groups = |arg: Arg| arg.add(with(Live::groups));
    Args::command()
        .mut_subcommand("tools", |noun| {
            noun.mut_arg("words", words).mut_arg("session", sessions).mut_arg("group", groups)
        })
        .mut_subcommand("invoke", |invoke| invoke.mut_arg("words", words).mut_arg("session", sessions))
        .mut_subcommand("events", |noun| {
            noun.mut_arg("words", words).mut_arg("session", sessions).mut_arg("name", events)
        })
        .mut_subcommand("wait", |wait| wait.mut_arg("words", words).mut_arg("session", sessions).mut_arg("tool", tools))
        .mut_subcommand("revoke", |revoke| revoke.mut_arg("words", words).mut_arg("session", sessions))
        .mut_subcommand("mcp", |mcp| mcp.mut_arg("session", sessions).mut_arg("group", groups))
        .mut_subcommand("policy", |noun| {
            noun.mut_subcommand("explain", |explain| explain.mut_arg("words", words).mut_arg("session", sessions))
        })
        .mut_subcommand("sessions", |noun| {
            noun.mut_subcommand("revoke", |revoke| revoke.mut_arg("words", words).mut_arg("session", sessions))
        })
}
