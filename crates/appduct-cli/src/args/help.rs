//! How every help page is laid out: what it is, examples, usage, arguments, notes, exit status.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use clap::builder::StyledStr;

use super::Args;
use super::global::takes_value;

const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// What each exit status means.
const EXIT_STATUS: &[(u8, &str)] = &[
    (0, "success"),
    (1, "any other failure"),
    (3, "an assertion does not hold"),
    (64, "the command line is wrong"),
    (65, "the input is not valid, or the daemon refuses the request"),
    (66, "the file cannot be inspected"),
    (70, "the daemon cannot be reached, or is of another version"),
    (71, "no such session, several, or one that is not connected"),
    (72, "the tool does not exist, refused its input, failed, took too long, or was cancelled"),
    (77, "the policy does not allow the call"),
];

/// Those that a command can end with besides 0, 1 and 64. A command that is not listed can end with any.
const OF_COMMANDS: &[(&str, &[u8])] = &[
    ("link", &[65, 70, 71]),
    ("ls", &[70]),
    ("tools", &[65, 70, 71, 72, 77]),
    ("invoke", &[65, 70, 71, 72, 77]),
    ("events", &[70, 71]),
    ("wait", &[70, 71]),
    ("revoke", &[70, 71]),
    ("policy", &[65, 70, 71, 72]),
    ("daemon", &[70]),
    ("playground", &[70, 71]),
    ("mcp", &[]),
    ("init", &[]),
    ("doctor", &[3, 66]),
    ("keygen", &[]),
    ("completions", &[]),
    ("man", &[]),
    ("sessions", &[65, 70, 71]),
];

/// The widest that a page is set, which is also how wide it is where nobody knows the width.
const MAX_COLUMNS: usize = 100;

/// The parser, with its pages laid out for a terminal of `width` columns.
pub(crate) fn command(width: Option<usize>) -> clap::Command {
    let width = width.unwrap_or(MAX_COLUMNS).min(MAX_COLUMNS);
    let root = Args::command().term_width(width);
    let names: Vec<_> = root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let root = names.into_iter().fold(root, |root, name| {
        let codes = OF_COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, codes)| *codes);
        root.mut_subcommand(name, |command| page(command, codes, width))
    });
    laid_out(root, None, width)
}

/// The line with `help tools ls` as `tools ls --help`; any other line as it is.
pub(crate) fn without_help_word(argv: &[OsString]) -> Vec<OsString> {
    let mut line = argv.to_vec();
    let mut at = 1;
    while line.get(at).and_then(|word| word.to_str()).is_some_and(|word| word.starts_with('-') && word != "--") {
        at += if takes_value(&line[at]) { 2 } else { 1 };
    }
    if line.get(at).map(OsString::as_os_str) == Some(OsStr::new("help")) {
        line.remove(at);
        line.push("--help".into());
    }
    line
}

/// A command and those below it, which end alike.
fn page(command: clap::Command, codes: Option<&'static [u8]>, width: usize) -> clap::Command {
    let names: Vec<_> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |command| page(command, codes, width)));
    laid_out(command, codes, width)
}

fn laid_out(command: clap::Command, codes: Option<&[u8]>, width: usize) -> clap::Command {
    let heading = *command.get_styles().get_header();
    let headed = |title: &str, lines: &str| {
        let lines: String = lines.lines().map(|line| format!("\n  {line}")).collect();
        format!("{heading}{title}:{heading:#}{lines}")
    };
    let examples = command.get_before_help().map(|examples| headed("Examples", &fitted(&examples.to_string(), width)));
    let notes = command.get_after_help().map(|notes| format!("{}\n\n", notes.ansi())).unwrap_or_default();
    let status = headed("Exit status", &exit_status(codes));
    let command = command.help_template(TEMPLATE).after_help(StyledStr::from(format!("{notes}{status}")));
    match examples {
        Some(examples) => command.before_help(StyledStr::from(examples)),
        None => command,
    }
}

/// Examples, each with what it does beside it, or below it where there is no room.
fn fitted(examples: &str, width: usize) -> String {
    if examples.lines().all(|line| line.chars().count() + 2 <= width) {
        return examples.to_owned();
    }
    let below = |line: &str| match line.split_once("  ") {
        Some((example, about)) => format!("{example}\n    {}", about.trim_start()),
        None => line.to_owned(),
    };
    examples.lines().map(below).collect::<Vec<_>>().join("\n")
}

fn exit_status(codes: Option<&[u8]>) -> String {
    let can_be = |code: u8| matches!(code, 0 | 1 | 64) || codes.is_none_or(|codes| codes.contains(&code));
    let rows = EXIT_STATUS.iter().filter(|(code, _)| can_be(*code));
    rows.map(|(code, meaning)| format!("{code:>2}  {meaning}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of the documentation that shows every help page.
    fn reference() -> String {
        let mut text =
            "# Commands\n\nThe help pages of every command. Written by `UPDATE_DOCS=1 cargo test -p appduct-cli \
                        reference`; a test compares them.\n"
                .to_owned();
        let mut root = command(None);
        root.build();
        describe(&root, "appduct", &mut text);
        text
    }

    /// A command's page and those below it. The options that every command takes are on the first page only.
    fn describe(command: &clap::Command, words: &str, text: &mut String) {
        let is_first = words == "appduct";
        let hidden = |arg: clap::Arg| {
            let is_everywhere = arg.is_global_set() || arg.get_id() == "help";
            if is_everywhere && !is_first { arg.hide(true) } else { arg }
        };
        let page = command.clone().mut_args(hidden).render_help().to_string();
        let mut lines: Vec<_> = page.trim().lines().map(str::trim_end).collect();
        lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
        *text += &format!("\n## {words}\n\n```text\n{}\n```\n", lines.join("\n"));
        for below in command.get_subcommands() {
            describe(below, &format!("{words} {}", below.get_name()), text);
        }
    }

    #[test]
    fn the_reference_page_is_what_the_command_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
        let page = reference();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/cli.md is not the help: run `UPDATE_DOCS=1 cargo test -p appduct-cli reference`"
        );
    }

    #[test]
    fn the_word_help_in_the_place_of_a_command_is_the_option() {
        for (typed, meant) in [
            ("appduct help", "appduct --help"),
            ("appduct help tools ls", "appduct tools ls --help"),
            ("appduct --json --state-dir help help ls", "appduct --json --state-dir help ls --help"),
            ("appduct --color=never help", "appduct --color=never --help"),
            ("appduct tools help", "appduct tools help"),
            ("appduct -- help", "appduct -- help"),
            ("appduct --state-dir", "appduct --state-dir"),
            ("appduct", "appduct"),
        ] {
            let words: Vec<_> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(without_help_word(&words).join(OsStr::new(" ")), OsString::from(meant));
        }
    }

    #[test]
    fn every_page_has_examples_and_says_how_it_ends() {
        for command in command(None).get_subcommands() {
            let name = command.get_name();
            let text = command.clone().render_long_help().to_string();
            assert!(command.get_before_help().is_some(), "{name} has no examples");
            let (examples, usage) = (text.find("Examples:\n").unwrap(), text.find("Usage:").unwrap());
            assert!(examples < usage, "{name}");
            assert!(text.contains("\nExit status:\n   0  "), "{name}");
            assert!(OF_COMMANDS.iter().any(|(listed, _)| *listed == name), "{name} can end with what?");
        }
    }

    #[test]
    fn what_an_example_does_stands_below_it_where_there_is_no_room() {
        let examples = "appduct ls\nappduct tools      what it can do";
        assert_eq!(fitted(examples, 40), examples);
        assert_eq!(fitted(examples, 30), "appduct ls\nappduct tools\n    what it can do");
    }

    #[test]
    fn every_status_of_an_error_type_is_explained() {
        for kind in appduct_rpc::ErrorType::ALL {
            assert!(EXIT_STATUS.iter().any(|(code, _)| *code == kind.exit_code()), "{kind:?}");
        }
    }
}
