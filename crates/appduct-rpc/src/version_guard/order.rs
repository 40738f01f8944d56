//! Which of two versions is newer.

use std::cmp::Ordering;

use semver::Version;

/// How `left` stands to `right` by the rules of Semantic Versioning; `None` if one of them is no version. `1.2` is `1.2.0`,
/// and build metadata does not count.
#[must_use]
pub fn compare(left: &str, right: &str) -> Option<Ordering> {
    if left == right {
        return Some(Ordering::Equal);
    }
    Some(parse(left)?.cmp_precedence(&parse(right)?))
}

fn parse(text: &str) -> Option<Version> {
    let text = text.split_once('+').map_or(text, |(version, _)| version);
    let (core, pre_release) = match text.split_once('-') {
        Some((core, pre_release)) => (core, Some(pre_release)),
        None => (text, None),
    };
    let padding = match core.split('.').count() {
        1 => ".0.0",
        2 => ".0",
        _ => "",
    };
    let pre_release = pre_release.map_or_else(String::new, |text| format!("-{text}"));
    Version::parse(&format!("{core}{padding}{pre_release}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_ascend_as_semantic_versioning_says() {
        let ascending = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2",
            "1.10",
            "2",
        ];
        for (index, lower) in ascending.iter().enumerate() {
            for higher in &ascending[index + 1..] {
                assert_eq!(compare(lower, higher), Some(Ordering::Less), "{lower} {higher}");
                assert_eq!(compare(higher, lower), Some(Ordering::Greater), "{higher} {lower}");
            }
        }
    }

    #[test]
    fn missing_parts_are_zero_and_builds_do_not_count() {
        for (left, right) in
            [("1.2", "1.2.0"), ("1", "1.0.0"), ("1.2.0+a", "1.2.0+b"), ("1.2-rc.1", "1.2.0-rc.1+x-y"), ("what", "what")]
        {
            assert_eq!(compare(left, right), Some(Ordering::Equal), "{left} {right}");
        }
    }

    #[test]
    fn what_is_no_version_has_no_order() {
        for text in
            ["", "dev", "1.2.3.4", "1..2", "01.2.3", "1.2.3-", "1.2.3-01", "v1.2.3", "-1", "99999999999999999999"]
        {
            assert_eq!(compare(text, "1.0.0"), None, "{text:?}");
        }
    }
}
