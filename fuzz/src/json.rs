//! JSON read in the plainest way, to compare with.

use appduct_proto::wire::RawJson;
use serde_json::Value;
use serde_json::value::RawValue;

/// Whether the bytes are one JSON object, however deep and whatever its strings hold.
pub(crate) fn is_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(bytes).is_ok_and(|raw| raw.get().starts_with('{'))
}

/// The bytes as an ordinary value; `None` also where only the ordinary reader has a limit: at lone surrogates, at numbers
/// that no float holds, and in the deep.
pub(crate) fn plain(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

/// Whether `key` is absent, or passes.
pub(crate) fn absent_or(object: &Value, key: &str, passes: impl FnOnce(&Value) -> bool) -> bool {
    object.get(key).is_none_or(passes)
}

/// Whether `value` is a string of so many UTF-16 units.
pub(crate) fn is_text(value: &Value, min: usize, max: usize) -> bool {
    value.as_str().is_some_and(|text| (min..=max).contains(&text.encode_utf16().count()))
}

/// Whether `value[key]` is a string of 1 to 128 UTF-16 units.
pub(crate) fn has_id(object: &Value, key: &str) -> bool {
    object.get(key).is_some_and(|value| is_text(value, 1, 128))
}

/// Whether `value[key]` is a string of 1 to 4096 UTF-16 units.
pub(crate) fn has_text(object: &Value, key: &str) -> bool {
    object.get(key).is_some_and(|value| is_text(value, 1, 4096))
}

/// Whether `value` is a tool name: 1 to 64 letters, digits, `_` or `-`.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// Whether a tool descriptor is one.
pub(crate) fn is_tool(tool: &Value) -> bool {
    let hint = |value: &Value| value.is_boolean();
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint"];
    tool.is_object()
        && tool.get("name").and_then(Value::as_str).is_some_and(is_name)
        && has_text(tool, "description")
        && absent_or(tool, "input_schema", Value::is_object)
        && absent_or(tool, "output_schema", Value::is_object)
        && absent_or(tool, "annotations", |annotations| {
            annotations
                .as_object()
                .is_some_and(|map| map.iter().all(|(key, value)| hints.contains(&key.as_str()) && hint(value)))
        })
        && absent_or(tool, "timeout_ms", |ms| ms.as_f64().is_some_and(|ms| ms.fract() == 0.0 && ms >= 1.0))
        && absent_or(tool, "group", |group| {
            group.as_str().is_some_and(|group| {
                let segments: Vec<_> = group.split('/').collect();
                segments.len() <= 2 && segments.into_iter().all(is_name)
            })
        })
}

/// Whether an event descriptor is one.
pub(crate) fn is_event(event: &Value) -> bool {
    event.is_object()
        && has_text(event, "name")
        && has_text(event, "description")
        && absent_or(event, "payload_schema", Value::is_object)
}

/// The text without the white space between its tokens. `text` is JSON.
pub(crate) fn packed(text: &str) -> String {
    let mut packed = String::with_capacity(text.len());
    let (mut inside, mut escaped) = (false, false);
    for c in text.chars() {
        if inside {
            inside = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            inside = c == '"';
        }
        packed.push(c);
    }
    packed
}

/// The JSON of an app is a part of the text that it came in, byte for byte.
pub(crate) fn assert_part(text: &[u8], part: &RawJson) {
    let text = std::str::from_utf8(text).expect("what was decoded is UTF-8");
    assert!(text.contains(part.as_str()), "{part:?}");
    assert_eq!(RawJson::parse(part.as_str()).as_ref(), Ok(part), "white space around it does not belong to it");
}
