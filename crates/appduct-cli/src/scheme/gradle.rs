//! `manifestPlaceholders["appductScheme"]` of a Gradle build file.

use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::probes::{self, Probed};

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"manifestPlaceholders\s*(?:\[\s*["']appductScheme["']\s*\]|\.\s*appductScheme)\s*=\s*(?:"([^"\n]+)"|'([^'\n]+)')"#,
    )
    .expect("the pattern is valid")
});

/// The Kotlin file first, then the Groovy one.
pub(super) fn probe(cwd: &Path) -> Option<Probed> {
    ["build.gradle.kts", "build.gradle"].iter().find_map(|name| {
        let path = cwd.join("app").join(name);
        let scheme = scheme(&probes::read(&path)?)?;
        Some(Probed { scheme, source: "android-gradle", path, key: "manifestPlaceholders.appductScheme" })
    })
}

fn scheme(text: &str) -> Option<String> {
    let captures = PLACEHOLDER.captures(text)?;
    captures.get(1).or_else(|| captures.get(2)).map(|scheme| scheme.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_and_both_quotes_are_read() {
        for (text, expected) in [
            (r#"manifestPlaceholders["appductScheme"] = "demo""#, Some("demo")),
            ("manifestPlaceholders[ 'appductScheme' ]='demo'", Some("demo")),
            (r#"    manifestPlaceholders.appductScheme   =   "demo""#, Some("demo")),
            (r#"manifestPlaceholders["other"] = "demo""#, None),
            (r#"manifestPlaceholders["appductScheme"] = name"#, None),
            ("", None),
        ] {
            assert_eq!(scheme(text).as_deref(), expected, "{text}");
        }
    }
}
