//! The one text that stands for a JSON value, whatever its spelling: what JavaScript's `JSON.stringify` gives after
//! `JSON.parse` and a sort of every object's keys.
//!
//! Keys are sorted by UTF-16 unit, except that array indexes come first in rising order, as every JavaScript object keeps
//! them. Numbers and strings are in JavaScript's notation, the last of duplicate keys counts, and there is no white space.
//! The value is read once and written once, in two loops: neither its depth nor its shape can exhaust the stack or the time.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::text::Text;
use super::{JsonKind, RawJson, kind_of};

impl RawJson {
    /// The canonical text.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(self.len_bytes());
        write_canonical(&mut text, self.as_str());
        text
    }

    /// The SHA-256 of the canonical text, in lower-case hex.
    #[must_use]
    pub fn canonical_sha256(&self) -> String {
        let mut hash = Hash(Sha256::new());
        write_canonical(&mut hash, self.as_str());
        let mut hex = String::with_capacity(64);
        for byte in hash.0.finalize() {
            write!(hex, "{byte:02x}").expect("a string takes everything");
        }
        hex
    }
}

fn write_canonical(out: &mut impl Write, text: &str) {
    let values = Values::read(text);
    values.write(out).expect("strings and hashes take everything");
}

struct Hash(Sha256);

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// A value taken apart: the content of every array and object is one run of `items`.
struct Values<'a> {
    root: Value<'a>,
    items: Vec<Item<'a>>,
}

#[derive(Clone)]
enum Value<'a> {
    /// A string, number, boolean or null, as it is spelled.
    Scalar(&'a str),
    Array(Range<usize>),
    Object(Range<usize>),
}

#[derive(Clone)]
struct Item<'a> {
    /// The elements of an array have none.
    key: Option<Text<'a>>,
    value: Value<'a>,
}

/// An array or object of which more is to come.
struct Open<'a> {
    is_object: bool,
    /// Where its items start among those that wait.
    first: usize,
    /// The key of the value that comes next.
    key: Option<Text<'a>>,
}

impl<'a> Values<'a> {
    /// Takes a valid JSON text apart. What is not valid is left out.
    fn read(text: &'a str) -> Self {
        let mut items: Vec<Item<'a>> = Vec::new();
        let mut waiting: Vec<Item<'a>> = Vec::new();
        let mut open: Vec<Open<'a>> = Vec::new();
        let mut root = Value::Scalar("null");
        let mut rest = text;
        while let Some((token, after)) = next_token(rest) {
            rest = after;
            let value = match token.as_bytes()[0] {
                b'{' | b'[' => {
                    open.push(Open { is_object: token == "{", first: waiting.len(), key: None });
                    continue;
                }
                b'}' | b']' => {
                    let Some(Open { is_object, first, .. }) = open.pop() else { break };
                    if is_object {
                        sort(&mut waiting, first);
                    }
                    let start = items.len();
                    items.extend(waiting.drain(first..));
                    if is_object { Value::Object(start..items.len()) } else { Value::Array(start..items.len()) }
                }
                b'"' => match open.last_mut() {
                    Some(Open { is_object: true, key: key @ None, .. }) => {
                        *key = Text::of_json(token);
                        continue;
                    }
                    Some(_) | None => Value::Scalar(token),
                },
                _ => Value::Scalar(token),
            };
            match open.last_mut() {
                Some(container) => waiting.push(Item { key: container.key.take(), value }),
                None => root = value,
            }
        }
        Self { root, items }
    }

    fn write(&self, out: &mut impl Write) -> fmt::Result {
        let mut open: Vec<(Range<usize>, char)> = Vec::new();
        let mut value = Some(&self.root);
        loop {
            match value.take() {
                None => {}
                Some(Value::Scalar(text)) => write_scalar(out, text)?,
                Some(Value::Array(range)) => {
                    out.write_char('[')?;
                    open.push((range.clone(), ']'));
                }
                Some(Value::Object(range)) => {
                    out.write_char('{')?;
                    open.push((range.clone(), '}'));
                }
            }
            let Some((range, end)) = open.last_mut() else { return Ok(()) };
            match range.next() {
                None => {
                    out.write_char(*end)?;
                    open.pop();
                    // The next sibling, if there is one, comes after a comma.
                    if open.last().is_some_and(|(range, _)| range.start < range.end) {
                        out.write_char(',')?;
                    }
                }
                Some(at) => {
                    let Item { key, value: item } = &self.items[at];
                    if let Some(key) = key {
                        key.write_json(out)?;
                        out.write_char(':')?;
                    }
                    if let Value::Scalar(text) = item {
                        write_scalar(out, text)?;
                        if range.start < range.end {
                            out.write_char(',')?;
                        }
                    } else {
                        value = Some(item);
                    }
                }
            }
        }
    }
}

/// The next token but colons, commas and white space, and what follows it.
fn next_token(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', ',', ':']);
    let length = match text.as_bytes().first()? {
        b'{' | b'}' | b'[' | b']' => 1,
        b'"' => string_length(text),
        _ => text.find([' ', '\t', '\n', '\r', ',', ':', '}', ']']).unwrap_or(text.len()),
    };
    Some(text.split_at(length))
}

/// The length of the string that `text` starts with, both quotes included.
fn string_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            // Whatever is escaped is ASCII.
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn write_scalar(out: &mut impl Write, text: &str) -> fmt::Result {
    match kind_of(text) {
        JsonKind::String => Text::of_json(text).ok_or(fmt::Error)?.write_json(out),
        JsonKind::Number => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => out.write_str(ryu_js::Buffer::new().format_finite(number)),
            // JavaScript reads such a number as infinity, which JSON has no word for.
            Ok(_) | Err(_) => out.write_str("null"),
        },
        JsonKind::Null | JsonKind::Boolean | JsonKind::Array | JsonKind::Object => out.write_str(text),
    }
}

/// Sorts the items from `first` on and drops all but the last of each key.
fn sort(items: &mut Vec<Item<'_>>, first: usize) {
    items[first..].sort_by(|a, b| compare(a.key.as_ref(), b.key.as_ref()));
    let mut kept = first;
    for at in first..items.len() {
        if items.get(at + 1).is_some_and(|next| next.key == items[at].key) {
            continue;
        }
        items.swap(kept, at);
        kept += 1;
    }
    items.truncate(kept);
}

fn compare(a: Option<&Text<'_>>, b: Option<&Text<'_>>) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else { return a.is_some().cmp(&b.is_some()) };
    match (a.array_index(), b.array_index()) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.utf16_cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        RawJson::parse(text).unwrap().canonical()
    }

    #[test]
    fn the_vectors_of_the_protocol_hold() {
        for (args, text, hash) in [
            ("{}", "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
            (
                r#"{"b":1,"a":[{"d":null,"c":true}]}"#,
                r#"{"a":[{"c":true,"d":null}],"b":1}"#,
                "075de0079292144e5106daa41bf01626c98a301e7005b44957d31ce95b9f0bce",
            ),
            (
                r#"{"10":1,"9":2,"a":3,"01":4,"-1":5}"#,
                r#"{"9":2,"10":1,"-1":5,"01":4,"a":3}"#,
                "a39104f1dfa4a7e65594058d1d42a68a9a5ba651f7f10f04726cb2bb38b00523",
            ),
            (
                r#"{"x":1.0,"y":1e21,"z":-0,"w":1e-7,"v":100000000000000000000}"#,
                r#"{"v":100000000000000000000,"w":1e-7,"x":1,"y":1e+21,"z":0}"#,
                "39f710a341c1757b5fc9bd4008dafd82870f88d70419019ab18e1825215e3ffd",
            ),
        ] {
            assert_eq!(canonical(args), text);
            assert_eq!(RawJson::parse(args).unwrap().canonical_sha256(), hash, "{args}");
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        for (text, expected) in [
            (" { \"a\" : [ 1 , { } , [ ] , \"x\" ] ,\n\"\\u0062\":2 } ", r#"{"a":[1,{},[],"x"],"b":2}"#),
            (r#"[[],[[]],{"a":{}},null,true,false,"\/"]"#, r#"[[],[[]],{"a":{}},null,true,false,"/"]"#),
            (r#""\u0041\ud83d\ude00\u2028\u0001\b""#, "\"A😀\u{2028}\\u0001\\b\""),
            (r#"["\ud800","\udc00x"]"#, r#"["\ud800","\udc00x"]"#),
            (r#"{"a,b":"}]","\"":"\\\""}"#, r#"{"\"":"\\\"","a,b":"}]"}"#),
            ("-0.0", "0"),
            ("[1E2,1.50,9007199254740993,1e400,-1e400,5e-324]", "[100,1.5,9007199254740992,null,null,5e-324]"),
            ("  7  ", "7"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn the_last_of_duplicate_keys_counts_however_it_is_spelled() {
        assert_eq!(canonical(r#"{"a":1,"b":{"x":1},"\u0061":[2],"b":3,"a":{"z":4}}"#), r#"{"a":{"z":4},"b":3}"#);
    }

    #[test]
    fn keys_are_sorted_by_utf16_unit_and_array_indexes_come_first() {
        for (text, expected) in [
            ("{\"\u{FFFF}\":1,\"😀\":2,\"\u{E000}\":3,\"z\":4}", "{\"z\":4,\"😀\":2,\"\u{E000}\":3,\"\u{FFFF}\":1}"),
            (
                "{\"\\udfff\":1,\"😀\":2,\"\\ud800\":3,\"\u{D7FF}\":4}",
                "{\"\u{D7FF}\":4,\"\\ud800\":3,\"😀\":2,\"\\udfff\":1}",
            ),
            (r#"{"ab":1,"a":2,"":3,"B":4}"#, r#"{"":3,"B":4,"a":2,"ab":1}"#),
            (
                r#"{"4294967295":1,"4294967294":2,"0":3,"00":4,"1.5":5,"+1":6,"10":7,"2":8}"#,
                r#"{"0":3,"2":8,"10":7,"4294967294":2,"+1":6,"00":4,"1.5":5,"4294967295":1}"#,
            ),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn depth_costs_neither_stack_nor_time() {
        let depth = 100_000;
        let arrays = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(canonical(&arrays), arrays);
        let objects = format!("{}0{}", r#"{"b":1,"a":"#.repeat(depth), "}".repeat(depth));
        let sorted = format!("{}0{}", r#"{"a":"#.repeat(depth), r#","b":1}"#.repeat(depth));
        assert_eq!(canonical(&objects), sorted);
    }

    #[test]
    fn the_canonical_text_is_its_own_canonical_text() {
        let text = r#"{"b":[1.0,{"\ud800":[],"2":"\u2028"}],"a":{"y":null,"x":{}}}"#;
        let once = canonical(text);
        assert_eq!(canonical(&once), once);
    }
}
