//! Text into messages, or into the replies that say why not.

use std::borrow::Cow;

use memchr::memchr;
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use serde_json::{Value, json};

/// The longest message.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a text is.
#[derive(Debug)]
pub(super) enum Input {
    /// A message for the library.
    Message(Box<ClientJsonRpcMessage>),
    /// None; the reply to send.
    Refused(String),
}

/// The text of bytes, as the library can read it.
pub(super) fn repaired(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match without_lone_surrogates(&text) {
        Cow::Owned(repaired) => repaired,
        Cow::Borrowed(_) => text.into_owned(),
    }
}

/// What a text is, where it is something that anybody waits for.
pub(super) fn input(text: &str) -> Option<Input> {
    match serde_json::from_str::<ClientJsonRpcMessage>(text) {
        Ok(message) => Some(Input::Message(Box::new(message))),
        Err(error) => refused(text, &error),
    }
}

/// The reply to what is no message. A notification gets none: nobody waits for it. A response gets none either, but a
/// question of the server's may wait for it.
fn refused(text: &str, error: &serde_json::Error) -> Option<Input> {
    let id = visible_id(text);
    let reply = match serde_json::from_str::<Value>(text) {
        Err(_) => failure(id, -32700, &format!("the message cannot be read: {error}")),
        Ok(Value::Object(object)) if object.contains_key("method") && !object.contains_key("id") => return None,
        Ok(Value::Object(object)) if object.contains_key("result") || object.contains_key("error") => {
            return failed_response(object.get("id")?);
        }
        Ok(Value::Object(object))
            if object.get("jsonrpc").is_some_and(|version| version == "2.0")
                && object.get("method").is_some_and(Value::is_string)
                && object.get("id").is_some_and(is_id) =>
        {
            failure(id, -32602, "the parameters of the request have the wrong shape")
        }
        Ok(_) => failure(
            id,
            -32600,
            "this is no request of JSON-RPC 2.0 with a method and, as its id, a string or a whole number",
        ),
    };
    Some(Input::Refused(reply))
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64()
}

/// What the library is given for a response that it could not read.
fn failed_response(id: &Value) -> Option<Input> {
    let error = json!({"code": -32603, "message": "the response of the client cannot be read"});
    let response = json!({"jsonrpc": "2.0", "id": Some(id).filter(|id| is_id(id))?, "error": error});
    serde_json::from_value(response).ok().map(Box::new).map(Input::Message)
}

/// The reply to a request with the id of another.
pub(super) fn in_use(id: &RequestId) -> String {
    let id = id.clone().into_json_value();
    failure(Some(id), -32600, "a request with this id is not answered yet")
}

/// The reply to a message that is too long, of which only the beginning and the end are known.
pub(super) fn too_long(head: &[u8], tail: &[u8]) -> Input {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let id = visible_id(&head).or_else(|| last_id(&tail));
    Input::Refused(failure(id, -32600, &format!("the message is over the limit of {MAX_BYTES} bytes")))
}

fn failure(id: Option<Value>, code: i32, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

/// `text` with U+FFFD for every escape of half a surrogate pair: JavaScript writes them, and no parser of Rust takes them.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(next) = memchr(b'\\', &bytes[at..]).map(|next| next + at) {
        at = match (unit(next), unit(next + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => next + 12,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.push_str(&text[copied..next]);
                repaired.push_str("\\ufffd");
                copied = next + 6;
                copied
            }
            (Some(_), _) => next + 6,
            (None, _) => next + 2,
        };
        if at >= bytes.len() {
            break;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    repaired.push_str(&text[copied..]);
    Cow::Owned(repaired)
}

/// The `id` of a message that may be broken or cut off: the value of that key at the outermost level, as far as the text
/// can be followed.
fn visible_id(text: &str) -> Option<Value> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        let character = rest.chars().next()?;
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '"' => {
                let length = string_len(rest)?;
                let key = &rest[..length];
                rest = &rest[length..];
                if depth == 1
                    && key == "\"id\""
                    && let Some(value) = rest.trim_start().strip_prefix(':')
                {
                    return id_at(value);
                }
                continue;
            }
            _ => {}
        }
        rest = &rest[character.len_utf8()..];
    }
}

/// The last `id` of text whose beginning is not known.
fn last_id(text: &str) -> Option<Value> {
    let at = text.rfind("\"id\"")?;
    id_at(text[at + 4..].trim_start().strip_prefix(':')?)
}

/// The number or the string that `text` begins with.
fn id_at(text: &str) -> Option<Value> {
    let text = text.trim_start();
    let length = if text.starts_with('"') {
        string_len(text)?
    } else {
        text.find(|character: char| !character.is_ascii_digit() && !"+-.eE".contains(character)).unwrap_or(text.len())
    };
    serde_json::from_str(&text[..length]).ok()
}

/// The length of the string that `text` starts with, quotes included; `None` where it does not end.
fn string_len(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(line: &str, id: &Value, code: i64) {
        let Some(Input::Refused(reply)) = input(&repaired(line.as_bytes())) else { panic!("{line}") };
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!((&reply["id"], reply["error"]["code"].as_i64()), (id, Some(code)), "{line}");
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        for (text, repaired) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00x\uD83D\ud83d\ude00""#, r#""\ufffdx\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \u0041 \n""#, r#""\\ud83d \u0041 \n""#),
            (r#""\ud8""#, r#""\ud8""#),
            ("\"\\ud83d\\", "\"\\ufffd\\"),
        ] {
            assert_eq!(without_lone_surrogates(text), repaired, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_answered_with_the_id_that_can_be_seen() {
        check_refused("nonsense", &Value::Null, -32700);
        check_refused(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":1e400}}"#, &json!(7), -32700);
        check_refused(r#"{"params":{"id":1,"x":[{"id":2}],"t":"\"id\":3"},"id":"me","method":"#, &json!("me"), -32700);
        check_refused(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &Value::Null, -32600);
        check_refused(r#"{"jsonrpc":"2.0","id":9}"#, &json!(9), -32600);
        check_refused(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, &json!(1.5), -32600);
        check_refused(r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, &json!(1e20), -32600);
        check_refused(r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, &Value::Null, -32600);
        check_refused(r#"{"id":9,"method":"ping"}"#, &json!(9), -32600);
        check_refused(r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#, &json!(9), -32602);
        check_refused("[]", &Value::Null, -32600);
    }

    #[test]
    fn what_nobody_waits_for_is_dropped() {
        for text in [r#"{"jsonrpc":"2.0","method":3}"#, r#"{"jsonrpc":"2.0","id":null,"result":1}"#] {
            assert!(input(text).is_none(), "{text}");
        }
    }

    #[test]
    fn no_text_however_broken_is_too_much() {
        let text = r#"{"jsonrpc":"2.0","id":"é\"\ud83d","method":"tools/call","params":{"a":["\ud83d\ude00\\","ü"]}}"#;
        for (at, _) in text.char_indices() {
            for broken in [&text[..at], &text[at..], &format!("{}\\u{}", &text[..at], &text[at..])] {
                input(&repaired(broken.as_bytes()));
                last_id(broken);
            }
        }
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 0xff;
            input(&repaired(&bytes));
        }
    }
}
