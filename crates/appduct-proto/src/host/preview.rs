//! The start of a payload that is too large to show whole.

/// The start of `json` and its whole size, both as compact JSON; `None` if all of it fits.
pub(super) fn preview(json: &str, max_bytes: usize) -> Option<(String, usize)> {
    if json.len() <= max_bytes {
        return None;
    }
    let mut compact = compact(json);
    let bytes = compact.len();
    if bytes <= max_bytes {
        return None;
    }
    compact.truncate(compact.floor_char_boundary(max_bytes));
    Some((compact, bytes))
}

/// The JSON text without white space between its tokens.
fn compact(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let mut in_string = false;
    let mut escaped = false;
    for char in json.chars() {
        if in_string {
            in_string = escaped || char != '"';
            escaped = !escaped && char == '\\';
        } else if matches!(char, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = char == '"';
        }
        compact.push(char);
    }
    compact
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, max_bytes: usize, expected: Option<(&str, usize)>) {
        assert_eq!(preview(json, max_bytes), expected.map(|(text, bytes)| (text.to_owned(), bytes)), "{json}");
    }

    #[test]
    fn a_payload_within_the_limit_is_whole() {
        check(r#"{"a":1}"#, 7, None);
        check(r#"{"a":1}"#, 6, Some((r#"{"a":1"#, 7)));
    }

    #[test]
    fn white_space_between_tokens_does_not_count() {
        check("{ \"a\" :\t1\r\n}", 7, None);
        check("[ \"a  b\", \"\\\" c\" ]", 10, Some(("[\"a  b\",\"\\", 15)));
        check(r#"["\\" , 1]"#, 6, Some((r#"["\\","#, 8)));
    }

    #[test]
    fn no_character_is_split() {
        check(r#""😀😀""#, 8, Some(("\"😀", 10)));
        check(r#""😀😀""#, 9, Some(("\"😀😀", 10)));
        check(r#""é""#, 2, Some(("\"", 4)));
    }
}
