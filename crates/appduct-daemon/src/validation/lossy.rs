//! JSON text as the validator's values.

use std::borrow::Cow;

use appduct_proto::wire::RawJson;
use serde_json::Value;

/// The value, for validation only: a lone surrogate in a string is U+FFFD, and numbers are as exact as `serde_json` has them.
/// `None` where the text is nested deeper than 127 levels or has a number that no float can hold.
pub(super) fn value(json: &RawJson) -> Option<Value> {
    serde_json::from_str(&without_lone_surrogates(json.as_str())).ok()
}

/// The text with `\ufffd` for every escape of a surrogate without its partner.
fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut text = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        let escape = at + found;
        let Some(unit) = escaped_unit(json, escape) else {
            // The backslash and what it escapes, which is one ASCII character.
            at = escape + 2;
            continue;
        };
        let after = escape + ESCAPE;
        let next = escaped_unit(json, after);
        at = match (unit, next) {
            (0xD800..=0xDBFF, Some(0xDC00..=0xDFFF)) => after + ESCAPE,
            (0xD800..=0xDFFF, _) => {
                text.push_str(&json[copied..escape]);
                text.push_str("\\ufffd");
                copied = after;
                after
            }
            _ => after,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    text.push_str(&json[copied..]);
    Cow::Owned(text)
}

/// The length of `\ud800`.
const ESCAPE: usize = 6;

/// The unit that the escape at `at` stands for.
fn escaped_unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> Option<Value> {
        value(&RawJson::parse(text).unwrap())
    }

    #[test]
    fn lone_surrogates_are_replaced_and_nothing_else_is() {
        for (text, expected) in [
            (r#"["\ud800","a\uDC00b","\ud83d\ude00"]"#, json!(["\u{FFFD}", "a\u{FFFD}b", "😀"])),
            (r#"["\ud800\ud83d\ude00","\ud800\u0041","\ud800\\"]"#, json!(["\u{FFFD}😀", "\u{FFFD}A", "\u{FFFD}\\"])),
            (r#"["\\ud800","\\\ud800","é\ud800é"]"#, json!(["\\ud800", "\\\u{FFFD}", "é\u{FFFD}é"])),
            (r#"{"\udfff":1,"a":2,"a":3}"#, json!({"\u{FFFD}": 1, "a": 3})),
        ] {
            assert_eq!(of(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_told() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(of(&nested(127)).is_some());
        assert_eq!(of(&nested(100_000)), None);
        assert_eq!(of("[1e400]"), None);
    }
}
