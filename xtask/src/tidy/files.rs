//! Rules about a file as a whole.

use super::Finding;
use super::repo::Repo;

/// How many lines a source file may have.
const LONGEST: usize = 900;

/// Files that may be longer, each with the reason.
const LONGER: &[(&str, &str)] = &[];

/// File names that say what a heap is made of instead of what it is about.
const HEAPS: &[&str] = &["common", "helper", "helpers", "imp", "manager", "misc", "types", "util", "utils"];

pub(super) fn front_line(repo: &Repo) -> Vec<Finding> {
    let without = repo.rust().filter(|file| !file.text.starts_with("//! "));
    without.map(|file| Finding::new(&file.path, 1, "begins without a `//! ` line that says what it is for")).collect()
}

pub(super) fn length(repo: &Repo) -> Vec<Finding> {
    length_with(repo, LONGER)
}

fn length_with(repo: &Repo, longer: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let lines = file.lines().count();
        let excused = longer.iter().any(|(path, _)| *path == file.path);
        if lines > LONGEST && !excused {
            findings.push(Finding::new(
                &file.path,
                LONGEST + 1,
                format!("has {lines} lines: split it by sub-state or by verb"),
            ));
        } else if lines <= LONGEST && excused {
            findings.push(Finding::new(&file.path, lines, "is excused for its length, which it no longer needs"));
        }
    }
    for (path, _) in longer.iter().filter(|(path, _)| !repo.holds(path)) {
        findings.push(Finding::new(path, 1, "is excused for its length, and does not exist"));
    }
    findings
}

pub(super) fn names(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        for part in file.path.split('/') {
            let stem = part.strip_suffix(".rs").unwrap_or(part);
            if HEAPS.contains(&stem) {
                findings.push(Finding::new(
                    &file.path,
                    1,
                    format!("`{stem}` names a heap: name the file for its subject"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_front_line_is_found() {
        let repo = Repo::of(&[("a.rs", "//! A.\n"), ("b.rs", "\n//! B.\n"), ("c.rs", "// C\n"), ("d.md", "D\n")]);
        assert_eq!(front_line(&repo).iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), ["b.rs", "c.rs"]);
    }

    #[test]
    fn a_file_over_the_bound_is_found() {
        let long = "x\n".repeat(901);
        let repo = Repo::of(&[("long.rs", &long), ("fits.rs", &long[2..])]);
        let findings = length(&repo);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].path.as_str(), findings[0].line), ("long.rs", 901));
    }

    #[test]
    fn an_excuse_holds_and_must_be_needed() {
        let long = "x\n".repeat(901);
        let repo = Repo::of(&[("long.rs", &long), ("short.rs", "x\n")]);
        let findings =
            length_with(&repo, &[("long.rs", "generated"), ("short.rs", "was long"), ("gone.rs", "was long")]);
        assert_eq!(findings.iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), ["short.rs", "gone.rs"]);
    }

    #[test]
    fn a_heap_is_found_as_file_and_as_folder() {
        let repo = Repo::of(&[
            ("src/utils.rs", ""),
            ("src/common/mod.rs", ""),
            ("src/util/tests.rs", ""),
            ("src/utility.rs", ""),
        ]);
        assert_eq!(names(&repo).len(), 3);
    }
}
