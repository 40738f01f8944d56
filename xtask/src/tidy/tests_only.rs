//! Rules about tests.

use super::Finding;
use super::repo::Repo;

/// What a test may not contain, and what to do instead.
const HABITS: &[(&str, &str)] = &[
    ("#[ignore", "a test runs or is not there"),
    ("thread::sleep", "wait for a condition with a deadline"),
    ("time::sleep", "wait for a condition with a deadline"),
    ("fn test_", "a test is named by the sentence that it proves"),
];

pub(super) fn habits(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.judged().filter(|file| file.is_rust()) {
        let lines = file.tests().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in lines {
            for (_, instead) in HABITS.iter().filter(|(habit, _)| line.contains(habit)) {
                findings.push(Finding::new(&file.path, number, *instead));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_habit_is_found_in_tests_and_a_sleep_only_there() {
        let source = "//! A.\nfn wait() { std::thread::sleep(second) }\n#[cfg(test)]\nmod tests {\n    #[ignore = \"slow\"]\n    \
                      fn test_wait() {\n        thread::sleep(second);\n        tokio::time::sleep(second).await;\n    }\n}\n";
        let repo = Repo::of(&[("a.rs", source)]);
        assert_eq!(habits(&repo).iter().map(|found| found.line).collect::<Vec<_>>(), [5, 6, 7, 8]);
    }
}
