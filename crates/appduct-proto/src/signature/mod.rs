//! One-line signatures and description summaries of tools.
//!
//! A signature is for reading, not for checking: objects open one level deep, long unions and long literals are cut, and
//! whatever has no short form is `...`. Schemas come from apps, so every schema has a signature and a hostile one costs
//! no more than its size.

mod json;
mod shape;

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::wire::{Fields, RawJson};
use shape::{Group, TooLong, group, shape};

/// The longest summary, in characters.
const MAX_SUMMARY_CHARS: usize = 120;

/// A tool as one line: `sum(a: number, b: number) -> { total: number }`.
///
/// Never fails: a part that cannot be shown is `...`, and parameters and result are `(...)` where the line would be longer
/// than the longest frame.
#[must_use]
pub fn signature(name: &str, input_schema: Option<&RawJson>, output_schema: Option<&RawJson>) -> String {
    let rest = params(input_schema).and_then(|params| Ok(params + &result(output_schema)?));
    match rest {
        Ok(rest) => format!("{name}{rest}"),
        Err(TooLong) => format!("{name}(...)"),
    }
}

/// The first line of a description without control characters, at most 120 characters and `…`.
#[must_use]
pub fn summary(description: &str) -> String {
    let line = description.split(['\n', '\r', '\u{2028}', '\u{2029}']).next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    cut(trimmed(&line), MAX_SUMMARY_CHARS)
}

fn params(schema: Option<&RawJson>) -> Result<String, TooLong> {
    let Some(schema) = schema else { return Ok(Group::PARAMS.empty.to_owned()) };
    match Fields::parse(schema.as_str()).filter(|fields| fields.is_text("type", "object")) {
        Some(fields) => group(&fields, &Group::PARAMS, true),
        None => Ok(Group::PARAMS.unresolved.to_owned()),
    }
}

fn result(schema: Option<&RawJson>) -> Result<String, TooLong> {
    let schema: Option<&RawValue> = schema.and_then(|schema| serde_json::from_str(schema.as_str()).ok());
    schema.map_or_else(|| Ok(String::new()), |schema| Ok(format!(" -> {}", shape(schema, true, 0)?)))
}

/// `text` without white space at its ends, as JavaScript trims: the byte order mark counts as white space.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// The first `max` characters, and `…` if there are more.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
