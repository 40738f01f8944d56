//! The parser's refusals in the words of this command.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::command;
use super::global::takes_value;
use crate::error::Failure;
use crate::suggest;

/// Options whose value is a whole number greater than zero.
const POSITIVE: &[&str] = &["--ttl", "--limit", "--timeout", "--payload-max-bytes", "--wait-timeout", "--ping-every"];
/// Options whose value is a whole number, zero or greater.
const NON_NEGATIVE: &[&str] = &["--offset", "--since"];
/// Options whose value is text that is taken as it is.
const TEXT: &[&str] = &[
    "--filter",
    "--group",
    "--session",
    "--state-dir",
    "--link",
    "--scheme",
    "--input",
    "--name",
    "--kind",
    "--tool",
    "--open",
    "--device",
    "--browser-url",
    "--target-id",
    "--app-id",
    "--ios-app-id",
    "--android-app-id",
    "--out",
    "--type",
    "--http",
];

/// A command line that was refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The words of the command, for the meta block; `cli` where the first word is no command.
    pub(crate) command: String,
    /// What is wrong.
    pub(crate) failure: Failure,
}

/// Turns the parser's error into ours.
pub(crate) fn refusal(error: &clap::Error, argv: &[OsString]) -> Refusal {
    let words = command_words(argv);
    let command = if words.is_empty() { "cli".to_owned() } else { words.join(" ") };
    let mut failure = Failure::usage(message(error, &words, argv));
    failure.hint = Some(hint(error, &words).into());
    Refusal { command, failure }
}

fn message(error: &clap::Error, words: &[String], argv: &[OsString]) -> String {
    let noun = words.first().map(String::as_str);
    let kind = error.kind();
    if kind == ErrorKind::InvalidSubcommand {
        let got = context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
        noun.and_then(|noun| verb_required(noun, &format!("\"{got}\"")))
            .unwrap_or_else(|| format!("Unknown command \"{got}\"."))
    } else if let (ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, Some(text)) =
        (kind, noun.and_then(|noun| verb_required(noun, "none")))
    {
        text
    } else if kind == ErrorKind::UnknownArgument {
        let got = context(error, ContextKind::InvalidArg).unwrap_or_default();
        match option_before(&got, argv) {
            Some(option) => value_required(&option),
            None if got.starts_with('-') => format!("Unknown option \"{got}\"."),
            None => format!("Unexpected argument \"{got}\"."),
        }
    } else if kind == ErrorKind::InvalidValue {
        let option = option_name(error);
        match context(error, ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
            None => value_required(&option),
            Some(value) => format!("\"{option}\" must be {}; got \"{value}\".", choices(error)),
        }
    } else if kind == ErrorKind::MissingRequiredArgument {
        let missing = context(error, ContextKind::InvalidArg).unwrap_or_default();
        format!("Usage: {} {missing} ({missing} is required).", words.join(" "))
    } else if kind == ErrorKind::TooManyValues {
        format!("\"{}\" takes no value.", option_name(error))
    } else if kind == ErrorKind::InvalidUtf8 {
        "An argument is not valid UTF-8.".to_owned()
    } else {
        plain(error)
    }
}

/// The refusal of a word that is not one of `noun`'s verbs.
fn verb_required(noun: &str, got: &str) -> Option<String> {
    match noun {
        "daemon" => Some(format!("The daemon command requires an action: run, start, stop, or status (got {got}).")),
        "policy" => Some(format!("The policy command requires a verb: explain (got {got}).")),
        "sessions" => Some(format!("The sessions command requires a verb: ls, revoke, or link (got {got}).")),
        _ => None,
    }
}

/// The refusal of an option that stands without its value.
pub(crate) fn value_required(option: &str) -> String {
    if POSITIVE.contains(&option) {
        format!("\"{option}\" must be a positive integer.")
    } else if NON_NEGATIVE.contains(&option) {
        format!("\"{option}\" must be a non-negative integer.")
    } else {
        format!("\"{option}\" requires a value.")
    }
}

/// The option that the unknown word `got` was meant as a value of.
fn option_before(got: &str, argv: &[OsString]) -> Option<String> {
    let at = argv.iter().position(|word| word.to_str().is_some_and(|word| word.starts_with(got)))?;
    let before = argv.get(at.checked_sub(1)?)?.to_str()?;
    [POSITIVE, NON_NEGATIVE, TEXT].concat().contains(&before).then(|| before.to_owned())
}

fn hint(error: &clap::Error, words: &[String]) -> String {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let names = kinds.into_iter().map(|kind| suggestions(error, kind)).find(|names| !names.is_empty());
    names.and_then(|names| suggest::question(&names)).unwrap_or_else(|| how_to_use(&words.join(" ")))
}

/// What the parser suggests, the likeliest first.
fn suggestions(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        // The parser puts the likeliest last.
        Some(ContextValue::Strings(texts)) => texts.iter().rev().cloned().collect(),
        Some(_) | None => Vec::new(),
    }
}

/// Where a command is explained.
pub(crate) fn how_to_use(command: &str) -> String {
    let space = if command.is_empty() { "" } else { " " };
    format!("Run `appduct{space}{command} --help` to see how it is used.")
}

/// The first part of a context value that is a list or a text.
fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let value = error.get(kind)?;
    if let ContextValue::String(text) = value {
        Some(text.clone())
    } else if let ContextValue::Strings(texts) = value {
        texts.first().cloned()
    } else {
        None
    }
}

/// `--limit` of `--limit <n>`.
fn option_name(error: &clap::Error) -> String {
    let shown = context(error, ContextKind::InvalidArg).unwrap_or_default();
    shown.split([' ', '=']).next().unwrap_or_default().to_owned()
}

/// `auto, always, or never`
fn choices(error: &clap::Error) -> String {
    let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else {
        return "another value".to_owned();
    };
    match values.split_last() {
        Some((last, [first])) => format!("{first} or {last}"),
        Some((last, rest)) if !rest.is_empty() => format!("{}, or {last}", rest.join(", ")),
        _ => values.concat(),
    }
}

/// The parser's own message, without its label and its advice.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    format!("The command line is wrong: {first}.")
}

/// The command words at the start of a line that could not be parsed.
fn command_words(argv: &[OsString]) -> Vec<String> {
    let mut command = command(None);
    let mut words = Vec::new();
    let mut typed = argv.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = typed.next() {
        if takes_value(word.as_ref()) {
            typed.next();
        } else if !word.starts_with('-') {
            let Some(next) = command.find_subcommand(word).cloned() else { break };
            words.push(word.to_owned());
            command = next;
        }
    }
    words
}
