//! Prose in the columns that a terminal has.

use unicode_width::UnicodeWidthStr;

/// Text is not broken into less than this.
const MIN_COLUMNS: usize = 20;

/// `text` after `indent` columns; where a line is longer than `width`, it is broken between words, and goes on after
/// `hanging` columns. A word that is too long for a line stays whole.
pub(super) fn lines(text: &str, width: Option<usize>, indent: usize, hanging: usize) -> Vec<String> {
    let start = " ".repeat(indent);
    let Some(width) = width.filter(|width| *width >= indent.max(hanging) + MIN_COLUMNS) else {
        return vec![start + text];
    };
    if indent + text.width() <= width {
        return vec![start + text];
    }
    let mut lines = Vec::new();
    let mut line = start;
    let mut column = indent;
    let mut is_empty = true;
    for word in words(text) {
        let taken = word.width();
        if !is_empty && column + 1 + taken > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hanging)));
            column = hanging;
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
            column += 1;
        }
        line.push_str(word);
        column += taken;
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The words of `text`. What stands between two backticks is one, so that it can be copied.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |character| {
        is_quoted ^= character == '`';
        character == ' ' && !is_quoted
    })
}

/// `text` in at most `width` columns, with an ellipsis where something had to go.
pub(super) fn truncated(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut end = 0;
    for (at, character) in text.char_indices() {
        let next = at + character.len_utf8();
        if text[..next].width() >= width {
            break;
        }
        end = next;
    }
    format!("{}…", text[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_where_there_is_no_room() {
        let text = "Reports how many times the counted tools have run.";
        assert_eq!(lines(text, None, 4, 4), ["    Reports how many times the counted tools have run."]);
        assert_eq!(lines(text, Some(54), 4, 4).len(), 1);
        assert_eq!(lines(text, Some(30), 4, 6), ["    Reports how many times the", "      counted tools have run."]);
        assert_eq!(
            lines("Run `appduct tools --groups` now", Some(30), 0, 2),
            ["Run `appduct tools --groups`", "  now"]
        );
        assert_eq!(lines("Please run `appduct tools ls`.", Some(28), 0, 2), ["Please run", "  `appduct tools ls`."]);
        // A terminal of a few columns breaks lines itself.
        assert_eq!(lines(text, Some(10), 4, 4).len(), 1);
    }

    #[test]
    fn a_word_without_room_stays_whole_and_wide_ones_count_twice() {
        let long = "x".repeat(40);
        assert_eq!(lines(&format!("a {long} b"), Some(30), 2, 2), ["  a", &format!("  {long}"), "  b"]);
        let wide = "漢字漢字漢字 漢字漢字漢字";
        assert_eq!(lines(wide, Some(24), 0, 2), ["漢字漢字漢字", "  漢字漢字漢字"]);
    }

    #[test]
    fn an_ellipsis_takes_the_place_of_what_had_to_go() {
        for (text, width, shown) in [
            ("Pixel 8", 7, "Pixel 8"),
            ("Pixel 8", 6, "Pixel…"),
            ("漢字漢字", 5, "漢字…"),
            ("漢字漢字", 4, "漢…"),
            ("ab", 1, "…"),
        ] {
            let out = truncated(text, width);
            assert_eq!(out, shown, "{text} in {width}");
            assert!(out.width() <= width);
        }
    }
}
