//! The JSON envelope, and JSON text laid out anew without touching its values.

use serde::Serialize;

use appduct_proto::wire::RawJson;

use super::{Meta, escape};
use crate::error::Failure;
use crate::report::{Item, Report};

#[derive(Serialize)]
struct Success<'a> {
    ok: bool,
    data: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a Meta>,
}

#[derive(Serialize)]
struct Failed<'a> {
    ok: bool,
    error: Fault<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a Meta>,
}

#[derive(Serialize)]
struct Fault<'a> {
    r#type: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// `{"ok":true,"data":..}`
pub(super) fn success(report: &Report, meta: Option<&Meta>, pretty: bool) -> String {
    document(&Success { ok: true, data: report, meta }, pretty)
}

/// `{"ok":false,"error":..}`
pub(super) fn failure(failure: &Failure, meta: Option<&Meta>, pretty: bool) -> String {
    let error = Fault {
        r#type: failure.kind.as_str(),
        message: &failure.message,
        details: failure.details.as_ref(),
        signature: failure.signature.as_deref(),
        hint: failure.hint.as_deref(),
    };
    document(&Failed { ok: false, error, meta }, pretty)
}

/// A line of a stream, never indented.
pub(super) fn item(item: &Item) -> String {
    document(item, false)
}

fn document(value: &impl Serialize, pretty: bool) -> String {
    let text = serde_json::to_string(value).expect("reports are plain data with string keys");
    let text = if pretty { laid_out(&text, Layout::Indented) } else { text };
    // App JSON may hold line breaks between its tokens, where they mean nothing.
    let text = if pretty || !text.contains(['\n', '\r']) { text } else { text.replace(['\n', '\r'], " ") };
    format!("{}\n", escape::json(&text))
}

/// How JSON text is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// No white space between tokens.
    Compact,
    /// Two spaces a level.
    Indented,
}

/// How deep values are indented. What lies deeper stays on one line: an app could nest its JSON so deep that the indents
/// alone are gigabytes.
const INDENTED_DEPTH: usize = 64;

/// `json`, which must be valid, with other white space between its tokens. Numbers and strings stay as they are written.
pub(super) fn laid_out(json: &str, layout: Layout) -> String {
    let mut out = String::with_capacity(json.len());
    let mut depth = 0_usize;
    // `inside` is the depth of the values that the line break sets apart.
    let new_line = |out: &mut String, inside: usize, indent: usize| {
        if layout == Layout::Indented && inside <= INDENTED_DEPTH {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", indent));
        }
    };
    let mut rest = json;
    while let Some(character) = rest.chars().next() {
        let mut taken = character.len_utf8();
        match character {
            ' ' | '\t' | '\n' | '\r' => {}
            '"' => {
                taken = string_len(rest);
                out.push_str(&rest[..taken]);
            }
            '{' | '[' => {
                out.push(character);
                let after = rest[taken..].trim_start();
                if after.starts_with(['}', ']']) {
                    out.extend(after.chars().next());
                    taken = rest.len() - after.len() + 1;
                } else {
                    depth += 1;
                    new_line(&mut out, depth, depth);
                }
            }
            '}' | ']' => {
                new_line(&mut out, depth, depth.saturating_sub(1));
                depth = depth.saturating_sub(1);
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth, depth);
            }
            ':' => out.push_str(if layout == Layout::Indented { ": " } else { ":" }),
            _ => out.push(character),
        }
        rest = &rest[taken..];
    }
    out
}

/// The length of the string that `json` starts with, quotes included.
fn string_len(json: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_text() {
        let json = r#" { "a" : 1.0 , "b":[ ], "c" : { } ,"d":["x, {\"}\\", -0, 1e400],"e":"\ud800" } "#;
        assert_eq!(
            laid_out(json, Layout::Compact),
            r#"{"a":1.0,"b":[],"c":{},"d":["x, {\"}\\",-0,1e400],"e":"\ud800"}"#
        );
        let indented = "{\n  \"a\": 1.0,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    \"x, {\\\"}\\\\\",\n    -0,\n    1e400\n  \
                        ],\n  \"e\": \"\\ud800\"\n}";
        assert_eq!(laid_out(json, Layout::Indented), indented);
    }

    #[test]
    fn what_lies_deep_is_not_indented() {
        let json = format!("{}1,2{}", "[".repeat(100_000), "]".repeat(100_000));
        let indented = laid_out(&json, Layout::Indented);
        assert!(indented.len() < json.len() + 20_000, "{}", indented.len());
        assert_eq!(laid_out(&indented, Layout::Compact), json);
        let shallow = laid_out("[[1,2]]", Layout::Indented);
        assert_eq!(shallow, "[\n  [\n    1,\n    2\n  ]\n]");
    }

    #[test]
    fn a_failure_says_what_people_are_told_too() {
        let bare = Failure { hint: None, ..Failure::validation("No.") };
        assert_eq!(
            failure(&bare, None, false),
            "{\"ok\":false,\"error\":{\"type\":\"validation_error\",\"message\":\"No.\"}}\n"
        );
        let full =
            Failure { signature: Some("sum()".into()), ..bare }.with_hint("Try.").with_details(RawJson::empty_object());
        assert_eq!(
            failure(&full, None, false),
            "{\"ok\":false,\"error\":{\"type\":\"validation_error\",\"message\":\"No.\",\"details\":{},\
             \"signature\":\"sum()\",\"hint\":\"Try.\"}}\n"
        );
    }

    #[test]
    fn a_result_stays_byte_for_byte_and_on_one_line() {
        let result = RawJson::parse("{\"b\" : 1.0,\n\"a\":\"\\ud800 \u{9b}\"}").unwrap();
        let line = success(&Report::Called(result), None, false);
        assert_eq!(line, "{\"ok\":true,\"data\":{\"b\" : 1.0, \"a\":\"\\ud800 \\u009b\"}}\n");
    }
}
