//! The environment variables of the project are written down in one place.

use std::collections::BTreeMap;

use super::Finding;
use super::repo::Repo;

/// The one list.
const LIST: &str = "docs/environment.md";

const PREFIX: &str = "APPDUCT_";

/// Every variable that the sources name as a text is in the list, and the list names no other.
pub(super) fn listed(repo: &Repo) -> Vec<Finding> {
    let mut used = BTreeMap::new();
    for file in repo.judged().filter(|file| file.is_rust()) {
        for (number, line) in file.production() {
            for name in quoted(line, '"') {
                used.entry(name).or_insert((file.path.as_str(), number));
            }
        }
    }
    let mut listed = BTreeMap::new();
    for file in repo.files.iter().filter(|file| file.path == LIST) {
        for (number, line) in file.lines().filter(|(_, line)| line.starts_with('|')) {
            // Only the first column names; the others may speak of any variable.
            for name in line.split('|').nth(1).into_iter().flat_map(|cell| quoted(cell, '`')) {
                listed.entry(name).or_insert(number);
            }
        }
    }
    let unlisted = used.iter().filter(|(name, _)| !listed.contains_key(*name));
    let unlisted =
        unlisted.map(|(name, (path, line))| Finding::new(path, *line, format!("{name} is not listed in {LIST}")));
    let unused = listed.iter().filter(|(name, _)| !used.contains_key(*name));
    let unused = unused.map(|(name, line)| Finding::new(LIST, *line, format!("no source names {name}")));
    unlisted.chain(unused).collect()
}

/// The variables in `line` that stand between two `mark`s.
fn quoted(line: &str, mark: char) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        let rest = word.strip_prefix(PREFIX);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
    };
    line.split(mark).skip(1).step_by(2).filter(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| Variable | Meaning |\n|---|---|\n| `APPDUCT_SCHEME` | not `APPDUCT_OTHER` |\n";

    #[test]
    fn a_variable_that_is_not_listed_is_found() {
        let source = "env::var(\"APPDUCT_SCHEME\");\nenv::var(\"APPDUCT_SECRET\");\n// APPDUCT_TALK\n";
        let repo = Repo::of(&[(LIST, PAGE), ("a.rs", source)]);
        assert_eq!(listed(&repo), [Finding::new("a.rs", 2, "APPDUCT_SECRET is not listed in docs/environment.md")]);
    }

    #[test]
    fn a_listed_variable_that_nobody_names_is_found() {
        let repo = Repo::of(&[(LIST, PAGE)]);
        assert_eq!(listed(&repo), [Finding::new(LIST, 3, "no source names APPDUCT_SCHEME")]);
    }
}
