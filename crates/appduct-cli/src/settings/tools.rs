//! The settings of `tools`, and which of its verbs is meant.

use appduct_proto::wire::Group;

use super::{Output, Terminals, Verb, invoke, non_negative, positive, selector};
use crate::args::{CallFlags, ListingFlags, ToolsArgs};
use crate::error::Failure;

/// What `tools` shows.
#[derive(Clone, Debug)]
pub(crate) struct ToolsSettings {
    pub(crate) target: Target,
    pub(crate) view: View,
}

/// Whose tools, or which tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The tools of a session.
    Session { selector: Option<String> },
    /// One tool.
    Tool { selector: Option<String>, name: String },
    /// A tool of the only live session where it has one of that name, a session otherwise.
    Either(String),
}

/// What to show of a session.
#[derive(Clone, Debug)]
pub(crate) enum View {
    Tools(ListQuery),
    Groups,
}

/// Which tools, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListQuery {
    pub(crate) group: Option<Group>,
    pub(crate) filter: Option<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: Option<u64>,
    pub(crate) full: bool,
}

impl View {
    /// Whether a flag was given that only a listing has.
    pub(crate) fn is_narrowed(&self) -> bool {
        match self {
            Self::Groups => true,
            Self::Tools(query) => {
                query.group.is_some() || query.filter.is_some() || query.limit.is_some() || query.offset.is_some()
            }
        }
    }
}

/// The refusal of a listing's flags next to one tool's name.
pub(crate) fn only_a_listing() -> Failure {
    Failure::usage(
        "\"--group\", \"--groups\", \"--filter\", \"--limit\", and \"--offset\" only apply to a tools listing, not a \
         single tool lookup.",
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// `tools`, and its words are a selector, a name, or both.
    Plain,
    Ls,
    Describe,
    Call,
}

fn word(args: &ToolsArgs) -> Word {
    match args.words.first().map(String::as_str) {
        Some("ls") => Word::Ls,
        Some("describe") => Word::Describe,
        Some("call") => Word::Call,
        Some(_) | None => Word::Plain,
    }
}

/// The words of the command that is meant.
pub(super) fn command_words(args: &ToolsArgs) -> &'static str {
    match word(args) {
        Word::Plain => "tools",
        Word::Ls => "tools ls",
        Word::Describe => "tools describe",
        Word::Call => "tools call",
    }
}

/// Checks the arguments.
pub(super) fn resolve(args: ToolsArgs, output: Output, terminals: Terminals) -> Result<Verb, Failure> {
    let word = word(&args);
    let ToolsArgs { mut words, session, listing, call } = args;
    if word != Word::Plain {
        words.remove(0);
    }
    if word == Word::Call {
        refuse_listing_flags(&listing)?;
        return invoke::resolve("tools call", words, session, call, output, terminals).map(Verb::Call);
    }
    refuse_call_flags(&call)?;
    let target = target(word, session, words)?;
    let view = view(listing)?;
    if matches!(target, Target::Tool { .. }) && view.is_narrowed() {
        return Err(only_a_listing());
    }
    Ok(Verb::Tools(ToolsSettings { target, view }))
}

fn target(word: Word, session: Option<String>, mut words: Vec<String>) -> Result<Target, Failure> {
    match word {
        Word::Ls => selector(session, words, "tools ls").map(|selector| Target::Session { selector }),
        Word::Describe | Word::Plain => {
            let is_named = session.is_some();
            let too_many = words.len() > if is_named { 1 } else { 2 };
            if too_many && word == Word::Plain {
                return Err(Failure::usage("Usage: tools [selector] [name] (too many arguments)."));
            }
            if too_many || (word == Word::Describe && words.is_empty()) {
                let fault = if too_many { "too many arguments" } else { "a tool name is required" };
                return Err(Failure::usage(format!("Usage: tools describe [selector] <name> ({fault}).")));
            }
            let last = words.pop();
            let first = words.pop().or(session);
            Ok(match (first, last) {
                (selector, None) => Target::Session { selector },
                (None, Some(last)) if word == Word::Plain => Target::Either(last),
                (selector, Some(name)) => Target::Tool { selector, name },
            })
        }
        Word::Call => Err(Failure::internal("a call is no listing")),
    }
}

fn view(flags: ListingFlags) -> Result<View, Failure> {
    let ListingFlags { group, groups, filter, limit, offset, full } = flags;
    let query = ListQuery {
        limit: positive("--limit", &limit)?,
        offset: non_negative("--offset", &offset)?,
        filter,
        group: group.map(|text| parse_group(&text)).transpose()?,
        full,
    };
    if !groups {
        return Ok(View::Tools(query));
    }
    if full {
        return Err(Failure::usage("\"--groups\" cannot be combined with \"--full\"."));
    }
    if View::Tools(query).is_narrowed() {
        return Err(Failure::usage(
            "\"--groups\" cannot be combined with \"--group\", \"--filter\", \"--limit\", or \"--offset\".",
        ));
    }
    Ok(View::Groups)
}

pub(super) fn parse_group(text: &str) -> Result<Group, Failure> {
    text.parse().map_err(|_| {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        Failure::usage(format!(
            "\"--group\" must be a group name like \"checkout\" or \"checkout/payment\" (one or two segments of 1 to 64 \
             letters, digits, \"_\" or \"-\"); got {quoted}."
        ))
    })
}

fn refuse_call_flags(flags: &CallFlags) -> Result<(), Failure> {
    let option = if flags.input.is_some() {
        "--input"
    } else if !flags.timeout.is_empty() {
        "--timeout"
    } else if flags.progress.is_some() {
        "--progress"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("\"{option}\" only applies to a call."))
        .with_hint("Call a tool with `appduct invoke <tool>`."))
}

fn refuse_listing_flags(flags: &ListingFlags) -> Result<(), Failure> {
    let ListingFlags { group, groups, filter, limit, offset, full } = flags;
    let is_given = group.is_some() || *groups || filter.is_some() || !limit.is_empty() || !offset.is_empty() || *full;
    if is_given {
        return Err(Failure::usage(
            "\"--group\", \"--groups\", \"--filter\", \"--limit\", \"--offset\", and \"--full\" only apply to a tools \
             listing, not a call.",
        ));
    }
    Ok(())
}
