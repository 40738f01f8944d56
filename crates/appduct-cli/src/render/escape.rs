//! Text of others, made harmless: no control character, no change of direction and nothing invisible reaches a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character can move the cursor, start a line, change the direction of text or hide.
pub(crate) fn is_dangerous(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'                        // soft hyphen
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
            | '\u{2028}' | '\u{2029}'       // line and paragraph separators
            | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' // no width
            | '\u{fff9}'..='\u{fffb}'       // annotations
            | '\u{e0000}'..='\u{e007f}' // tags
        )
}

/// `text` as part of one line for people: dangerous characters in the form that JSON gives them.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_dangerous)
}

/// `json` with dangerous characters escaped. In valid JSON they can only stand in strings, except for the white space
/// between tokens, which stays.
pub(super) fn json(json: &str) -> Cow<'_, str> {
    escaped(json, |character| !character.is_ascii_control() && is_dangerous(character) || character == '\u{7f}')
}

fn escaped(text: &str, is_dangerous: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.contains(&is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' if is_dangerous(character) => out.push_str("\\n"),
            '\r' if is_dangerous(character) => out.push_str("\\r"),
            '\t' if is_dangerous(character) => out.push_str("\\t"),
            _ if is_dangerous(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("a string takes everything");
                }
            }
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor_starts_a_line_or_hides() {
        for (text, shown) in [
            ("plain é 漢 👩‍👧", "plain é 漢 👩‍👧"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[2J\u{7}\u{0}", "\\u001b[2J\\u0007\\u0000"),
            ("\u{7f}\u{80}\u{9b}1m\u{9f}", "\\u007f\\u0080\\u009b1m\\u009f"),
            ("\u{202e}gpj\u{202c}\u{2066}\u{61c}\u{200f}", "\\u202egpj\\u202c\\u2066\\u061c\\u200f"),
            ("\u{2028}\u{2029}\u{85}", "\\u2028\\u2029\\u0085"),
            ("\u{200b}\u{feff}\u{ad}\u{e0041}", "\\u200b\\ufeff\\u00ad\\udb40\\udc41"),
        ] {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let raw = "{\"a\" :\t\"\u{9b}\u{202e}é\u{7f}\u{e0041}\\u001b\"}";
        let safe = json(raw);
        assert_eq!(safe, "{\"a\" :\t\"\\u009b\\u202eé\\u007f\\udb40\\udc41\\u001b\"}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&safe), value(raw));
    }

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(line("sum"), Cow::Borrowed(_)));
        assert!(matches!(line("Größe"), Cow::Borrowed(_)));
        assert!(matches!(json("{}"), Cow::Borrowed(_)));
    }
}
