//! The settings of a call.

use std::io::Read;

use appduct_proto::wire::{JsonKind, MAX_FRAME_BYTES, RawJson};
use appduct_rpc::line::MAX_LINE_BYTES;

use super::{Output, Terminals, positive};
use crate::args::{CallFlags, ProgressWhen};
use crate::error::Failure;

/// What to call, and with what.
#[derive(Clone, Debug)]
pub(crate) struct CallSettings {
    pub(crate) selector: Option<String>,
    pub(crate) tool: String,
    pub(crate) input: Input,
    /// As typed; the daemon clamps it.
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) progress: ProgressMode,
}

/// The input of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A JSON object.
    Object(RawJson),
    /// Where a JSON object is to be read from: `-` is stdin, `@<path>` a file.
    Source(String),
    /// Words, some of which must be read by the tool's input schema.
    Words(Vec<Assignment>),
}

/// One `key=value` or `key:=<json>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) key: String,
    pub(crate) value: AssignedValue,
}

/// What stands after the `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AssignedValue {
    /// To be read by the schema.
    Text(String),
    Json(RawJson),
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    None,
    /// A line per report, for pipes and logs.
    Lines,
    /// A bar that goes away.
    Bar,
}

/// Checks the arguments.
pub(super) fn resolve(
    command: &str,
    words: Vec<String>,
    session: Option<String>,
    flags: CallFlags,
    output: Output,
    terminals: Terminals,
) -> Result<CallSettings, Failure> {
    let (selector, tool, assigned) = split_words(command, words, session)?;
    let input = match (flags.input, assigned.is_empty()) {
        (Some(_), false) => {
            return Err(Failure::usage("\"--input\" cannot be combined with key=value words."));
        }
        (Some(text), true) if text == "-" || text.starts_with('@') => Input::Source(text),
        (Some(text), true) => Input::Object(object(&text)?),
        (None, true) => Input::Object(RawJson::empty_object()),
        (None, false) => Input::Words(assignments(&assigned)?),
    };
    let timeout_ms = positive("--timeout", &flags.timeout)?;
    let progress = match flags.progress {
        Some(ProgressWhen::Never) => ProgressMode::None,
        Some(ProgressWhen::Always) if terminals.stderr => ProgressMode::Bar,
        Some(ProgressWhen::Always) => ProgressMode::Lines,
        Some(ProgressWhen::Auto) | None if terminals.stderr && !output.json => ProgressMode::Bar,
        Some(ProgressWhen::Auto) | None => ProgressMode::None,
    };
    Ok(CallSettings { selector, tool, input, timeout_ms, progress })
}

type Words = (Option<String>, String, Vec<String>);

/// Selector, tool and assignments: the first word with a `=` starts the assignments.
fn split_words(command: &str, mut words: Vec<String>, session: Option<String>) -> Result<Words, Failure> {
    let usage = |fault: &str| {
        Failure::usage(format!(
            "Usage: {command} [selector] <tool> --input '<json>' (or key=value words, or nothing for {{}}; {fault})."
        ))
        .with_hint("Run `appduct tools` to see the tools.")
    };
    let first = words.iter().position(|word| word.contains('=')).unwrap_or(words.len());
    let assigned = words.split_off(first);
    let mut named = words.into_iter();
    match (session, named.next(), named.next(), named.next()) {
        (_, None, _, _) => Err(usage("a tool is required")),
        (selector, Some(tool), None, _) => Ok((selector, tool, assigned)),
        (None, Some(selector), Some(tool), None) => Ok((Some(selector), tool, assigned)),
        _ => Err(usage("too many arguments")),
    }
}

/// Reads the object that `--input` names: `-` is stdin, `@<path>` a file. Either may take forever.
pub(crate) fn read_source(named: &str) -> Result<RawJson, Failure> {
    let text = match named.strip_prefix('@') {
        Some(path) => read_bounded(named, std::fs::File::open(path))?,
        None => read_bounded(named, Ok(std::io::stdin()))?,
    };
    object(&text)
}

/// The value of `--input`.
fn object(text: &str) -> Result<RawJson, Failure> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        return Err(Failure::validation(format!("\"--input\" must be valid JSON: {error}.")));
    }
    let value = RawJson::parse(text).map_err(|_| Failure::validation("\"--input\" must be valid JSON."))?;
    let kind = match value.kind() {
        JsonKind::Object => return Ok(value),
        JsonKind::Null => "null",
        JsonKind::Boolean => "a boolean",
        JsonKind::Number => "a number",
        JsonKind::String => "a string",
        JsonKind::Array => "an array",
    };
    Err(Failure::validation(format!("\"--input\" must be a JSON object; got {kind}.")))
}

/// Reads no more than could be sent: the source may have no end.
fn read_bounded(named: &str, source: std::io::Result<impl Read>) -> Result<String, Failure> {
    let mut read = String::new();
    source
        .and_then(|source| source.take(MAX_LINE_BYTES as u64 + 1).read_to_string(&mut read))
        .map_err(|error| Failure::validation(format!("\"--input {named}\" cannot be read: {error}.")))?;
    if read.len() > MAX_LINE_BYTES {
        return Err(Failure::validation(format!(
            "\"--input {named}\" is over {MAX_LINE_BYTES} bytes, more than the daemon takes."
        ))
        .with_hint(format!("A call, its arguments included, has {MAX_FRAME_BYTES} bytes at most.")));
    }
    Ok(read)
}

fn assignments(words: &[String]) -> Result<Vec<Assignment>, Failure> {
    let mut assigned: Vec<Assignment> = Vec::with_capacity(words.len());
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(Failure::usage(format!("\"{word}\" is not key=value or key:=<json>.")));
        };
        let (key, is_json) = key.strip_suffix(':').map_or((key, false), |key| (key, true));
        if key.is_empty() {
            return Err(Failure::usage(format!("\"{word}\" names no key before \"=\".")));
        }
        if assigned.iter().any(|other| other.key == key) {
            return Err(Failure::usage(format!("\"{key}\" is given twice.")));
        }
        let value = if is_json {
            AssignedValue::Json(RawJson::parse(value).map_err(|_| {
                Failure::validation(format!("The value of \"{key}:=\" must be valid JSON; got \"{value}\"."))
            })?)
        } else {
            AssignedValue::Text(value.to_owned())
        };
        assigned.push(Assignment { key: key.to_owned(), value });
    }
    Ok(assigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(words: &[&str], session: Option<&str>) -> Result<Words, String> {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        split_words("invoke", words, session.map(str::to_owned)).map_err(|failure| failure.message)
    }

    #[test]
    fn the_first_word_with_an_equals_sign_starts_the_input() {
        let (selector, tool, assigned) = split(&["sum", "a=2", "b"], None).unwrap();
        assert_eq!((selector, tool.as_str()), (None, "sum"));
        assert_eq!(assigned, ["a=2", "b"]);
        let (selector, tool, _) = split(&["pixel-8", "sum", "a=2"], None).unwrap();
        assert_eq!((selector.as_deref(), tool.as_str()), (Some("pixel-8"), "sum"));
        let (selector, tool, _) = split(&["sum"], Some("pixel-8")).unwrap();
        assert_eq!((selector.as_deref(), tool.as_str()), (Some("pixel-8"), "sum"));
    }

    #[test]
    fn a_call_has_one_tool() {
        for (words, session) in [(&[][..], None), (&["a=1"], None), (&["x", "y", "z"], None), (&["x", "y"], Some("s"))]
        {
            let message = split(words, session).unwrap_err();
            assert!(message.starts_with("Usage: invoke [selector] <tool> --input '<json>'"), "{message}");
        }
    }

    #[test]
    fn words_are_text_or_json() {
        let words = ["a=2=3".to_owned(), "b:=[1, 2]".to_owned(), "c=".to_owned()];
        let assigned = assignments(&words).unwrap();
        assert_eq!(assigned[0], Assignment { key: "a".to_owned(), value: AssignedValue::Text("2=3".to_owned()) });
        assert_eq!(assigned[1].value, AssignedValue::Json(RawJson::parse("[1, 2]").unwrap()));
        assert_eq!(assigned[2].value, AssignedValue::Text(String::new()));
        for (word, message) in [
            ("=1", "\"=1\" names no key before \"=\"."),
            ("b", "\"b\" is not key=value or key:=<json>."),
            ("a=5", "\"a\" is given twice."),
            ("x:=oops", "The value of \"x:=\" must be valid JSON; got \"oops\"."),
        ] {
            let failure = assignments(&["a=1".to_owned(), word.to_owned()]).unwrap_err();
            assert_eq!(failure.message, message);
        }
    }

    #[test]
    fn an_input_is_a_json_object() {
        assert_eq!(object(" {\"a\" : 1.0} ").unwrap().as_str(), "{\"a\" : 1.0}");
        for (text, words) in [("{", "valid JSON"), ("", "valid JSON"), ("[1]", "JSON object"), ("null", "JSON object")]
        {
            let failure = object(text).unwrap_err();
            assert!(failure.message.contains(words), "{}", failure.message);
            assert_eq!(failure.kind.exit_code(), 65);
        }
    }
}
