//! Name patterns of event queries.

/// A pattern that a whole name must match, case and all: `*` stands for any run of characters, nothing else is special.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Box<str>);

impl Glob {
    /// Takes any text; every text is a pattern.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.into())
    }

    /// The pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `name` matches, in time linear in both lengths.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some((prefix, rest)) = self.0.split_once('*') else { return name == &*self.0 };
        let (middle, suffix) = rest.rsplit_once('*').unwrap_or(("", rest));
        // Each end is cut off before the next is looked at, so none of them overlap.
        let Some(mut name) = name.strip_prefix(prefix).and_then(|name| name.strip_suffix(suffix)) else { return false };
        // The leftmost place of a piece leaves the most room for those after it.
        for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
            let Some((_, after)) = name.split_once(piece) else { return false };
            name = after;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run() {
        for (pattern, name, matches) in [
            ("cart", "cart", true),
            ("cart", "Cart", false),
            ("cart", "cart.add", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("**", "anything", true),
            ("cart.*", "cart.add", true),
            ("cart.*", "cart.", true),
            ("cart.*", "cart", false),
            ("*.add", "cart.add", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("ab*ab", "ab", false),
            ("ab*ab", "aba", false),
            ("ab*ab", "abab", true),
            ("a*b*c", "a-c-b-c", true),
            ("a*b*b*c", "a-b-c", false),
            ("*aa*aa*", "aaa", false),
            ("*aa*aa*", "aaaa", true),
            ("a**b", "ab", true),
            ("a.c", "abc", false),
            ("a?c", "abc", false),
            ("[ab]", "a", false),
            ("é*", "été", true),
            ("*😀", "x😀", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn a_long_literal_that_nearly_matches_everywhere_takes_linear_time() {
        let pattern = Glob::new(&format!("*{}b*", "a".repeat(2048)));
        let name = "a".repeat(4096);
        assert!((0..256).all(|_| !pattern.matches(&name)));
    }

    #[test]
    fn many_stars_take_linear_time() {
        let pattern = Glob::new(&"*a".repeat(2048));
        assert!(pattern.matches(&"a".repeat(4096)));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(4095))));
    }
}
