//! Words that have no place in the project.

use super::Finding;
use super::repo::{Repo, TextFile};

/// Folders that exist on somebody's machine only. `me` is nobody: examples live there.
const PLACES: &[&str] = &["/work/", "/root/", "/Users/", "/home/"];

/// How many characters of base64 make a line of a key.
const KEY_LINE: usize = 40;

pub(super) fn unfinished(repo: &Repo) -> Vec<Finding> {
    let marks = ["todo!(", "unimplemented!(", "TODO", "FIXME", "XXX"];
    let found = |line: &str| marks.iter().any(|mark| line.contains(mark));
    each_line(repo.judged().filter(|file| file.is_rust()), found, "is left to do")
}

pub(super) fn allow(repo: &Repo) -> Vec<Finding> {
    let found = |line: &str| {
        let line = line.trim_start();
        (line.starts_with("#[") || line.starts_with("#![")) && line.contains("allow(")
    };
    each_line(
        repo.judged().filter(|file| file.is_rust()),
        found,
        "write `expect(.., reason = \"..\")` instead of `allow(..)`",
    )
}

pub(super) fn places(repo: &Repo) -> Vec<Finding> {
    let found = |line: &str| {
        PLACES.iter().any(|place| {
            line.match_indices(place)
                .any(|(at, _)| begins_a_path(&line[..at]) && !is_of_nobody(&line[at + place.len()..]))
        })
    };
    each_line(repo.judged(), found, "names a folder of somebody's machine")
}

/// Whether what follows `before` is an absolute path, and not the middle of a longer one or of a link.
fn begins_a_path(before: &str) -> bool {
    !before.ends_with(|last: char| last.is_alphanumeric() || "_-./}>~".contains(last))
}

/// Whether a path that goes on with `after` is an example's.
fn is_of_nobody(after: &str) -> bool {
    after
        .strip_prefix("me")
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || "_-.".contains(next)))
}

pub(super) fn keys(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repo.files {
        for (at, mark) in file.text.match_indices("PRIVATE KEY-----") {
            let line_start = file.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let begins = file.text[line_start..at].contains("-----BEGIN ");
            let body = file.text[at + mark.len()..].replace("\\n", "\n");
            if begins && has_a_key_line(&body) {
                let number = file.text[..at].matches('\n').count() + 1;
                findings.push(Finding::new(&file.path, number, "holds a private key: make one while testing"));
            }
        }
    }
    findings
}

/// Whether the first line that says anything is one of base64.
fn has_a_key_line(body: &str) -> bool {
    let first = body.lines().map(|line| line.trim().trim_matches(['"', '\\'])).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        line.len() >= KEY_LINE && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    })
}

fn each_line<'a>(
    files: impl Iterator<Item = &'a TextFile>,
    found: impl Fn(&str) -> bool,
    message: &str,
) -> Vec<Finding> {
    let lines = files.flat_map(|file| file.lines().map(move |(number, line)| (file, number, line)));
    let broken = lines.filter(|(_, _, line)| found(line));
    broken.map(|(file, number, _)| Finding::new(&file.path, number, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|found| found.line).collect()
    }

    #[test]
    fn what_is_left_to_do_is_found() {
        let repo = Repo::of(&[("a.rs", "todo!()\ndone()\n// TODO: more\nunimplemented!(\"x\")\n"), ("b.md", "TODO\n")]);
        assert_eq!(lines(&unfinished(&repo)), [1, 3, 4]);
    }

    #[test]
    fn an_allowed_lint_is_found_and_an_expected_one_is_not() {
        let source = "#![allow(dead_code)]\n    #[cfg_attr(test, allow(unused))]\n#[expect(dead_code, reason = \"x\")]\nis_allow(x)\n";
        assert_eq!(lines(&allow(&Repo::of(&[("a.rs", source)]))), [1, 2]);
    }

    #[test]
    fn a_folder_of_a_machine_is_found_and_a_link_is_not() {
        let text = "see /work/project\n\"/root/.cargo\"\nhttps://example.com/work/x\n~/work/x and ./work/x\n$HOME/work/x\n\"/home/me/x\"\n/home/meg\n";
        assert_eq!(lines(&places(&Repo::of(&[("a.md", text)]))), [1, 2, 7]);
    }

    #[test]
    fn a_private_key_is_found_whole_or_escaped() {
        let begin = ["-----BEGIN", "PRIVATE KEY-----"].join(" ");
        let body = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg";
        let whole = format!("one\n{begin}\n{body}\n");
        let escaped = format!("let key = \"{begin}\\n{body}\\n\";\n");
        let named = format!("assert!(pem.starts_with(\"{begin}\"));\n");
        let broken = format!("\"{begin}\\nnot a key\\n\"\n");
        let repo = Repo::of(&[("a.pem", &whole), ("b.rs", &escaped), ("c.rs", &named), ("d.rs", &broken)]);
        let found = keys(&repo).into_iter().map(|found| (found.path, found.line)).collect::<Vec<_>>();
        assert_eq!(found, [("a.pem".to_owned(), 2), ("b.rs".to_owned(), 1)]);
    }
}
