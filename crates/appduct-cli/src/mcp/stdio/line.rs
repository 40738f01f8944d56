//! Lines into messages, or into the replies that say why not.

use std::borrow::Cow;

use memchr::memchr;
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use serde_json::{Value, json};

/// The longest line, its end not counted.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How much of the end of a longer line is kept: many clients write the id last.
const TAIL_BYTES: usize = 1024;

/// What a line is.
#[derive(Debug)]
pub(super) enum Input {
    /// A message for the library.
    Message(Box<ClientJsonRpcMessage>),
    /// None; the reply to send.
    Refused(String),
}

/// Bytes that become lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Where the search for the end of the first line goes on.
    searched: usize,
    /// The beginning and the latest end of a line that is too long.
    too_long: Option<(Vec<u8>, Vec<u8>)>,
}

impl Lines {
    /// Adds bytes as they came.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line that says something.
    pub(super) fn next_input(&mut self) -> Option<Input> {
        loop {
            let Some(end) = memchr(b'\n', &self.buffer[self.searched..]).map(|at| at + self.searched) else {
                self.searched = self.buffer.len();
                self.give_up_if_too_long();
                return None;
            };
            let rest = self.buffer.split_off(end + 1);
            let line = std::mem::replace(&mut self.buffer, rest);
            self.searched = 0;
            let line = line.trim_ascii();
            let input = match self.too_long.take() {
                Some((head, tail)) => Some(too_long(&head, &[&tail, line].concat())),
                None if line.len() > MAX_LINE_BYTES => Some(too_long(line, line)),
                None => input(line),
            };
            if input.is_some() {
                return input;
            }
        }
    }

    fn give_up_if_too_long(&mut self) {
        if self.buffer.len() <= MAX_LINE_BYTES && self.too_long.is_none() {
            return;
        }
        let (head, mut tail) = self.too_long.take().unwrap_or_else(|| (self.buffer[..TAIL_BYTES].to_vec(), Vec::new()));
        tail.append(&mut self.buffer);
        let tail = tail.split_off(tail.len().saturating_sub(TAIL_BYTES));
        self.too_long = Some((head, tail));
        self.searched = 0;
    }
}

fn input(line: &[u8]) -> Option<Input> {
    if line.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let text = without_lone_surrogates(&text);
    match serde_json::from_str::<ClientJsonRpcMessage>(&text) {
        Ok(message) => Some(Input::Message(Box::new(message))),
        Err(error) => refused(&text, &error),
    }
}

/// The reply to what is no message. A notification or a response gets none: nobody waits for it.
fn refused(text: &str, error: &serde_json::Error) -> Option<Input> {
    let id = visible_id(text);
    let reply = match serde_json::from_str::<Value>(text) {
        Err(_) => failure(id, -32700, &format!("the line cannot be read: {error}")),
        Ok(Value::Object(object)) if object.contains_key("method") && !object.contains_key("id") => return None,
        Ok(Value::Object(object)) if object.contains_key("result") || object.contains_key("error") => return None,
        Ok(Value::Object(object))
            if object.get("jsonrpc").is_some_and(|version| version == "2.0")
                && object.get("method").is_some_and(Value::is_string)
                && object.get("id").is_some_and(|id| id.is_string() || id.is_i64()) =>
        {
            failure(id, -32602, "the parameters of the request have the wrong shape")
        }
        Ok(_) => failure(
            id,
            -32600,
            "the line is no request of JSON-RPC 2.0 with a method and, as its id, a string or a whole number",
        ),
    };
    Some(Input::Refused(reply))
}

/// The reply to a request with the id of another.
pub(super) fn in_use(id: &RequestId) -> Input {
    let id = id.clone().into_json_value();
    Input::Refused(failure(Some(id), -32600, "a request with this id is not answered yet"))
}

fn too_long(head: &[u8], tail: &[u8]) -> Input {
    let head = String::from_utf8_lossy(&head[..head.len().min(TAIL_BYTES)]);
    let tail = String::from_utf8_lossy(&tail[tail.len().saturating_sub(TAIL_BYTES)..]);
    let id = visible_id(&head).or_else(|| last_id(&tail));
    Input::Refused(failure(id, -32600, &format!("the line is over the limit of {MAX_LINE_BYTES} bytes")))
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

    fn lines(bytes: &[u8]) -> Vec<Input> {
        let mut lines = Lines::default();
        lines.push(bytes);
        std::iter::from_fn(|| lines.next_input()).collect()
    }

    fn check_refused(line: &str, id: &Value, code: i64) {
        let mut inputs = lines(format!("{line}\n").as_bytes());
        let Some(Input::Refused(reply)) = inputs.pop() else { panic!("{line}: {inputs:?}") };
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
        let text = "\n  \n{\"jsonrpc\":\"2.0\",\"method\":3}\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":1}\n";
        assert!(lines(text.as_bytes()).is_empty());
    }

    #[test]
    fn no_line_however_broken_is_too_much() {
        let text = r#"{"jsonrpc":"2.0","id":"é\"\ud83d","method":"tools/call","params":{"a":["\ud83d\ude00\\","ü"]}}"#;
        for (at, _) in text.char_indices() {
            for broken in [&text[..at], &text[at..], &format!("{}\\u{}", &text[..at], &text[at..])] {
                lines(format!("{broken}\n").as_bytes());
                last_id(broken);
            }
        }
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 0xff;
            bytes.push(b'\n');
            lines(&bytes);
        }
    }

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
        for size in 1..text.len() {
            let mut reader = Lines::default();
            let mut count = 0;
            for part in text.as_bytes().chunks(size) {
                reader.push(part);
                while let Some(input) = reader.next_input() {
                    assert!(matches!(input, Input::Message(_)));
                    count += 1;
                }
            }
            assert_eq!(count, 2, "{size}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_wherever_its_id_stands() {
        let filler = "x".repeat(MAX_LINE_BYTES);
        for line in [
            format!("{{\"id\":5,\"method\":\"tools/call\",\"params\":{{\"a\":\"{filler}\"}}}}\n"),
            format!("{{\"method\":\"tools/call\",\"params\":{{\"a\":\"{filler}\"}},\"id\":5}}\n"),
        ] {
            let mut reader = Lines::default();
            let mut inputs = Vec::new();
            for part in line.as_bytes().chunks(CHUNK) {
                reader.push(part);
                inputs.extend(std::iter::from_fn(|| reader.next_input()));
            }
            let [Input::Refused(reply)] = &inputs[..] else { panic!("{} inputs", inputs.len()) };
            assert!(reply.contains("\"id\":5") && reply.contains("-32600"), "{reply}");
        }
    }

    const CHUNK: usize = 64 * 1024;
}
