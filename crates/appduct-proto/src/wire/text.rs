//! JSON strings as JavaScript has them: any row of UTF-16 units, lone surrogates included.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{self, Write};

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The content of one JSON string. Ordered by code point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text<'a>(Cow<'a, [u8]>);

/// A run of ordinary characters, or one surrogate without its partner.
enum Piece<'a> {
    Str(&'a str),
    Surrogate(u16),
}

impl<'a> Text<'a> {
    /// The content of `raw`; `None` unless that is a string.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::of_json(raw.get())
    }

    /// The content of the string that the JSON text `json` is; `None` unless it is one.
    pub(crate) fn of_json(json: &'a str) -> Option<Self> {
        let content = json.strip_prefix('"')?.strip_suffix('"')?;
        if content.contains('\\') {
            serde_json::from_str(json).ok()
        } else {
            Some(Self(Cow::Borrowed(content.as_bytes())))
        }
    }

    /// The bytes: UTF-8, in which a lone surrogate has its three-byte form.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number that JavaScript takes the text for as a key: `0` to `4294967294` in their shortest form.
    pub(crate) fn array_index(&self) -> Option<u32> {
        let text = std::str::from_utf8(&self.0).ok()?;
        let canonical = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
        text.parse().ok().filter(|&index| canonical && index < u32::MAX)
    }

    /// Compares as JavaScript does, unit by unit.
    pub(crate) fn utf16_cmp(&self, other: &Self) -> Ordering {
        let differ = self.0.iter().zip(other.0.iter()).find(|(a, b)| a != b);
        match differ {
            None => self.0.len().cmp(&other.0.len()),
            // Below the surrogates the order of bytes is that of units.
            Some((a, b)) if *a.max(b) < 0xED => a.cmp(b),
            Some(_) => self.units().cmp(other.units()),
        }
    }

    fn units(&self) -> impl Iterator<Item = u16> {
        pieces(&self.0).flat_map(|piece| {
            let (text, surrogate) = match piece {
                Piece::Str(text) => (text, None),
                Piece::Surrogate(unit) => ("", Some(unit)),
            };
            text.encode_utf16().chain(surrogate)
        })
    }

    /// The text, with U+FFFD for each lone surrogate.
    pub(crate) fn into_lossy(self) -> Cow<'a, str> {
        match self.0 {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(replace_surrogates(bytes)),
            },
            Cow::Owned(bytes) => {
                Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|fault| replace_surrogates(fault.as_bytes())))
            }
        }
    }

    /// Writes the text as `JSON.stringify` does: non-ASCII as it is, a lone surrogate as its escape.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> fmt::Result {
        out.write_char('"')?;
        for piece in pieces(&self.0) {
            match piece {
                Piece::Str(text) => write_escaped(out, text)?,
                Piece::Surrogate(unit) => write!(out, "\\u{unit:04x}")?,
            }
        }
        out.write_char('"')
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn write_json_str(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    write_escaped(out, text)?;
    out.write_char('"')
}

fn write_escaped(out: &mut impl Write, text: &str) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        let (plain, special) = rest.split_at(at);
        out.write_str(plain)?;
        match special.as_bytes()[0] {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            0x08 => out.write_str("\\b")?,
            0x0C => out.write_str("\\f")?,
            control => write!(out, "\\u{control:04x}")?,
        }
        rest = &special[1..];
    }
    out.write_str(rest)
}

fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for piece in pieces(bytes) {
        match piece {
            Piece::Str(run) => text.push_str(run),
            Piece::Surrogate(_) => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    text
}

fn pieces(mut rest: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        let length = std::str::from_utf8(rest).map_or_else(|fault| fault.valid_up_to(), str::len);
        if length > 0 {
            let (run, after) = rest.split_at(length);
            rest = after;
            return std::str::from_utf8(run).ok().map(Piece::Str);
        }
        let (surrogate, after) = rest.split_first_chunk::<3>()?;
        rest = after;
        // `ED A0 80` to `ED BF BF`: the low four bits of the first byte are 0xD, then six bits and six bits.
        let [_, middle, low] = surrogate.map(u16::from);
        Some(Piece::Surrogate(0xD000 | (middle & 0x3F) << 6 | (low & 0x3F)))
    })
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(bytes.to_owned())))
            }
        }

        // Asked for bytes, serde_json hands over a lone surrogate in its three-byte form instead of failing.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Text<'_> {
        Text::of(serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn a_lone_surrogate_becomes_one_replacement_character() {
        for (json, expected) in [
            (r#""x\ud800y""#, "x\u{FFFD}y"),
            (r#""\udc00\ud800""#, "\u{FFFD}\u{FFFD}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud800\ud83d\ude00""#, "\u{FFFD}😀"),
            (r#""\ud800\n""#, "\u{FFFD}\n"),
            (r#""""#, ""),
        ] {
            assert_eq!(text(json).into_lossy(), expected, "{json}");
        }
    }

    #[test]
    fn strings_are_written_as_javascript_writes_them() {
        for (json, expected) in [
            (r#""\ud800\ud83d\ude00\udfff""#, r#""\ud800😀\udfff""#),
            (r#""\u0041\/é\u2028""#, "\"A/é\u{2028}\""),
            (r#""\u0008\u000c\u001b\u007f\"\\""#, "\"\\b\\f\\u001b\u{7f}\\\"\\\\\""),
        ] {
            let mut out = String::new();
            text(json).write_json(&mut out).unwrap();
            assert_eq!(out, expected, "{json}");
        }
    }

    #[test]
    fn only_a_string_is_a_text() {
        for json in ["1", "null", "[\"a\"]", "{\"a\":\"b\"}"] {
            assert_eq!(Text::of(serde_json::from_str(json).unwrap()), None, "{json}");
        }
    }
}
