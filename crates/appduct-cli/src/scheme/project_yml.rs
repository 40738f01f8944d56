//! `CFBundleURLSchemes` of an XcodeGen project.

use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::probes::{self, Probed};

static SCHEMES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)CFBundleURLSchemes["']?[ \t]*:[ \t]*(?:\[[ \t\n]*["']?([^"'\],\s]+)|(?:#[^\n]*)?\n[ \t]*-[ \t]*["']?([^"'#\s]+))"#,
    )
    .expect("the pattern is valid")
});

/// The first scheme, in a list on one line or over several.
pub(super) fn probe(cwd: &Path) -> Option<Probed> {
    let path = cwd.join("project.yml");
    let scheme = scheme(&probes::read(&path)?)?;
    Some(Probed { scheme, source: "ios-project-yml", path, key: "CFBundleURLSchemes" })
}

fn scheme(text: &str) -> Option<String> {
    let captures = SCHEMES.captures(text)?;
    captures.get(1).or_else(|| captures.get(2)).map(|scheme| scheme.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_list_are_read() {
        for (text, expected) in [
            ("  CFBundleURLSchemes: [demo, other]", Some("demo")),
            ("  CFBundleURLSchemes: [ \"demo\" ]", Some("demo")),
            ("  CFBundleURLSchemes:\n    - demo\n    - other", Some("demo")),
            ("  CFBundleURLSchemes:\n    - 'demo' # why", Some("demo")),
            ("  CFBundleURLSchemes: []", None),
            ("  CFBundleURLName: demo", None),
        ] {
            assert_eq!(scheme(text).as_deref(), expected, "{text}");
        }
    }
}
