//! What somebody may have meant.

use strsim::damerau_levenshtein;

/// How many names are offered.
const MAX_OFFERED: usize = 3;
/// A word that is longer is no slip of the finger, and comparing it takes long.
const MAX_CHARS: usize = 128;
/// A part of a name that is shorter is a part of too many.
const MIN_PART_CHARS: usize = 3;

/// A question that names those of `known` that are close to `word`, if any is.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    question(&closest(word, known))
}

/// The question whether one of these was meant, the likeliest first.
pub(crate) fn question(names: &[impl AsRef<str>]) -> Option<String> {
    let quoted: Vec<_> = names.iter().take(MAX_OFFERED).map(|name| format!("`{}`", name.as_ref())).collect();
    let (last, rest) = quoted.split_last()?;
    Some(if rest.is_empty() {
        format!("Did you mean {last}?")
    } else {
        format!("Did you mean {} or {last}?", rest.join(", "))
    })
}

/// Those of `known` that are close to `word`, the closest first.
fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = word.to_lowercase();
    if typed.is_empty() || typed.chars().nth(MAX_CHARS).is_some() {
        return Vec::new();
    }
    let mut near: Vec<_> =
        known.into_iter().filter_map(|name| distance(&typed, name).map(|distance| (distance, name))).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, name)| name).collect()
}

/// How far a name is from a word in lower case; `None` where it is something else.
fn distance(typed: &str, name: &str) -> Option<usize> {
    if name.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    let known = name.to_lowercase();
    let length = typed.chars().count().max(known.chars().count());
    let slips = damerau_levenshtein(typed, &known);
    if slips <= (length / 3).max(1) && slips < length {
        return Some(slips);
    }
    let is_part = typed.chars().count() >= MIN_PART_CHARS && known.contains(typed);
    // Behind every slip.
    is_part.then_some(MAX_CHARS + slips)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 7] =
        ["sum", "call_count", "reset_counter", "slow_task", "throwing_tool", "diagnostics", "diagnostics/progress"];

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        for (word, meant) in [
            ("sun", &["sum"][..]),
            ("SUM", &["sum"]),
            ("smu", &["sum"]),
            ("slowtask", &["slow_task"]),
            ("slow-tsak", &["slow_task"]),
            ("counter", &["reset_counter"]),
            ("progress", &["diagnostics/progress"]),
            ("Diagnostic", &["diagnostics", "diagnostics/progress"]),
            ("x", &[]),
            ("pay", &[]),
            ("", &[]),
        ] {
            assert_eq!(closest(word, KNOWN), meant, "{word}");
        }
        assert_eq!(closest(&"s".repeat(129), KNOWN), [] as [&str; 0]);
    }

    #[test]
    fn few_are_offered_and_none_twice() {
        assert_eq!(did_you_mean("sun", KNOWN).unwrap(), "Did you mean `sum`?");
        assert_eq!(did_you_mean("tap1", ["tap2", "tap3", "tap2"]).unwrap(), "Did you mean `tap2` or `tap3`?");
        let many = ["tap2", "tap3", "tap4", "tap5"];
        assert_eq!(did_you_mean("tap1", many).unwrap(), "Did you mean `tap2`, `tap3` or `tap4`?");
        assert_eq!(did_you_mean("pay", KNOWN), None);
    }
}
