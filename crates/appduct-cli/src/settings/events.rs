//! The settings of `events`, and which of its verbs is meant.

use appduct_rpc::methods::EventKind;

use super::{integer, non_negative, positive, selector};
use crate::args::EventsArgs;
use crate::error::Failure;

/// What to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventsSettings {
    /// What happens, while it happens.
    Stream(StreamQuery),
    /// App events that are held.
    Since(SinceQuery),
    /// What the app says that it may post.
    Declared(DeclaredQuery),
}

/// Which events of a stream, and when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamQuery {
    pub(crate) selector: Option<String>,
    /// `None` is every kind.
    pub(crate) kinds: Option<Vec<EventKind>>,
    pub(crate) name: Option<String>,
    pub(crate) payload_max_bytes: Option<u64>,
    pub(crate) limit: Option<u64>,
}

/// Which of the held app events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SinceQuery {
    pub(crate) selector: Option<String>,
    pub(crate) since: u64,
    pub(crate) name: Option<String>,
    pub(crate) payload_max_bytes: Option<u64>,
    pub(crate) limit: Option<u64>,
}

/// Which of the declared events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeclaredQuery {
    pub(crate) selector: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// `events`, and its word is a selector.
    Plain,
    Ls,
    Tail,
    Since,
}

fn word(args: &EventsArgs) -> Word {
    match args.words.first().map(String::as_str) {
        Some("ls") => Word::Ls,
        Some("tail") => Word::Tail,
        Some("since") => Word::Since,
        Some(_) | None => Word::Plain,
    }
}

/// The words of the command that is meant.
pub(super) fn command_words(args: &EventsArgs) -> &'static str {
    match word(args) {
        Word::Plain => "events",
        Word::Ls => "events ls",
        Word::Tail => "events tail",
        Word::Since => "events since",
    }
}

/// Checks the arguments.
pub(super) fn resolve(args: EventsArgs) -> Result<EventsSettings, Failure> {
    let (word, command) = (word(&args), command_words(&args));
    let since = non_negative("--since", &args.since)?;
    refuse_flags(word, command, &args)?;
    let EventsArgs { mut words, session, name, limit, payload_max_bytes, kind, offset, .. } = args;
    if word != Word::Plain {
        words.remove(0);
    }
    let limit = positive("--limit", &limit)?;
    let payload_max_bytes = positive("--payload-max-bytes", &payload_max_bytes)?;
    let since = if word == Word::Since { Some(cursor(&mut words, session.is_some())?) } else { since };
    let selector = selector(session, words, command)?;
    Ok(match (word, since) {
        (Word::Ls, _) => {
            let offset = non_negative("--offset", &offset)?;
            EventsSettings::Declared(DeclaredQuery { selector, name, limit, offset })
        }
        (_, Some(since)) => EventsSettings::Since(SinceQuery { selector, since, name, payload_max_bytes, limit }),
        (_, None) => {
            let kinds = kinds(&kind, name.is_some());
            EventsSettings::Stream(StreamQuery { selector, kinds, name, payload_max_bytes, limit })
        }
    })
}

/// The kinds that were asked for. Nothing but app events has a name.
fn kinds(named: &[String], has_name: bool) -> Option<Vec<EventKind>> {
    match named {
        [] if has_name => Some(vec![EventKind::AppEvent]),
        [] => None,
        _ => Some(named.iter().filter_map(|name| EventKind::parse(name)).collect()),
    }
}

/// The last word of `events since`.
fn cursor(words: &mut Vec<String>, is_named: bool) -> Result<u64, Failure> {
    let usage = |fault: &str| Failure::usage(format!("Usage: events since [selector] <cursor> ({fault})."));
    if words.len() > if is_named { 1 } else { 2 } {
        return Err(usage("too many arguments"));
    }
    let last = words.pop().ok_or_else(|| usage("a cursor is required; 0 is everything that is held"))?;
    let cursor = integer("<cursor>", std::slice::from_ref(&last), 0);
    cursor.ok().flatten().ok_or_else(|| Failure::usage("\"<cursor>\" must be a non-negative integer."))
}

/// Flags that say nothing where they stand.
fn refuse_flags(word: Word, command: &str, args: &EventsArgs) -> Result<(), Failure> {
    let has_since = !args.since.is_empty();
    if has_since && args.follow {
        return Err(Failure::usage("\"--since\" cannot be combined with \"--follow\".")
            .with_hint("--since prints what is held and ends; without it the stream goes on."));
    }
    let is_pull = has_since || word == Word::Since;
    let refused = [
        ("--since", has_since && word != Word::Plain),
        ("--follow", args.follow && (is_pull || word == Word::Ls)),
        ("--kind", !args.kind.is_empty() && (is_pull || word == Word::Ls)),
        ("--payload-max-bytes", !args.payload_max_bytes.is_empty() && word == Word::Ls),
        ("--offset", !args.offset.is_empty() && word != Word::Ls),
    ];
    let Some((option, _)) = refused.into_iter().find(|(_, is_wrong)| *is_wrong) else { return Ok(()) };
    let hint = match option {
        "--kind" if is_pull => "Only app events are held, so there is one kind.",
        "--offset" => "It pages through declared events: `appduct events ls`.",
        _ => "Run `appduct events --help` to see which command takes it.",
    };
    let place = if has_since && word == Word::Plain { "events --since" } else { command };
    Err(Failure::usage(format!("\"{option}\" does not apply to `{place}`.")).with_hint(hint))
}
