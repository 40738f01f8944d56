//! Rules about the documents: what they point at is there, and what they say of the project holds.

use super::Finding;
use super::repo::{Repo, TextFile};

/// The document whose every path must exist.
const MAP: &str = "ARCHITECTURE.md";

pub(super) fn map(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.documents().filter(|file| file.path == MAP) {
        for (number, line) in prose(file) {
            for path in line.split('`').skip(1).step_by(2).filter(|word| is_path(word)) {
                if !repo.holds(path) {
                    findings.push(Finding::new(&file.path, number, format!("`{path}` does not exist")));
                }
            }
        }
    }
    findings
}

/// Whether `word` can only be meant as a path of this project.
fn is_path(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let has_extension = [".rs", ".md", ".toml", ".json"].iter().any(|extension| word.ends_with(extension));
    word.bytes().all(plain) && !word.starts_with(['/', '.', '-']) && (word.contains('/') || has_extension)
}

pub(super) fn links(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.documents() {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in prose(file) {
            for target in targets(line) {
                let path = target.split_once('#').map_or(target, |(path, _)| path);
                let outside = target.contains("://") || target.starts_with("mailto:");
                if outside || path.is_empty() {
                    continue;
                }
                let found = joined(folder, path).is_some_and(|path| path.is_empty() || repo.holds(&path));
                if !found {
                    findings.push(Finding::new(&file.path, number, format!("the link to {target} leads nowhere")));
                }
            }
        }
    }
    findings
}

/// The targets of the inline links of one line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        rest.split_once(')').map(|(target, _)| target)
    })
}

/// `path` seen from `folder`, or nothing if it leaves the project.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts = folder.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The lines of a document outside its fenced blocks.
fn prose(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    file.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

pub(super) fn rust_version(repo: &Repo) -> Vec<Finding> {
    let Some(version) = repo.files.iter().find(|file| file.path == "Cargo.toml").and_then(declared) else {
        return vec![Finding::new("Cargo.toml", 1, "declares no `rust-version`")];
    };
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| file.path.ends_with(".md") || file.path.ends_with(".toml")) {
        for (number, line) in file.lines() {
            let named = mentions(line).filter(|named| *named != version);
            findings.extend(named.map(|named| {
                Finding::new(&file.path, number, format!("names Rust {named}, but `rust-version` is {version}"))
            }));
        }
    }
    findings
}

fn declared(manifest: &TextFile) -> Option<&str> {
    manifest.lines().find_map(|(_, line)| line.strip_prefix("rust-version = \"")?.strip_suffix('"'))
}

/// The versions that a line names: after `Rust `, or as the value of a key of cargo, rustup or clippy.
fn mentions(line: &str) -> impl Iterator<Item = &str> {
    let marks = ["Rust 1.", "rust-version = \"1.", "msrv = \"1.", "channel = \"1."];
    marks.into_iter().flat_map(move |mark| line.match_indices(mark)).map(|(at, mark)| {
        let rest = &line[at + mark.len() - "1.".len()..];
        let end = rest.find(|next: char| next != '.' && !next.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(findings: &[Finding]) -> Vec<(usize, &str)> {
        findings.iter().map(|found| (found.line, found.message.as_str())).collect()
    }

    #[test]
    fn a_path_of_the_map_that_does_not_exist_is_found() {
        let map_text =
            "`crates/a` and `a::b`\nsee `crates/gone.rs`, `/etc/passwd` and `key=value/x`\n```\n`no/where`\n```\n";
        let repo = Repo::of(&[("ARCHITECTURE.md", map_text), ("crates/a/src/lib.rs", "")]);
        assert_eq!(messages(&map(&repo)), [(2, "`crates/gone.rs` does not exist")]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page =
            "[up](../README.md) [here](#top) [out](https://example.com/x)\n[gone](gone.md#part) [outside](../../x)\n";
        let repo = Repo::of(&[("docs/page.md", page), ("README.md", "[folder](docs/) [self](./README.md)\n")]);
        let expected = [(2, "the link to gone.md#part leads nowhere"), (2, "the link to ../../x leads nowhere")];
        assert_eq!(messages(&links(&repo)), expected);
    }

    #[test]
    fn a_link_in_a_fenced_block_is_an_example() {
        let repo = Repo::of(&[("README.md", "```md\n[gone](gone.md)\n```\n")]);
        assert_eq!(links(&repo), []);
    }

    #[test]
    fn another_rust_version_is_found() {
        let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
        let repo = Repo::of(&[("Cargo.toml", manifest), ("README.md", "Rust 1.95 or newer.\nNeeds Rust 1.85.\n")]);
        assert_eq!(messages(&rust_version(&repo)), [(2, "names Rust 1.85, but `rust-version` is 1.95")]);
    }

    #[test]
    fn a_manifest_without_a_rust_version_is_found() {
        let repo = Repo::of(&[("Cargo.toml", "[workspace]\n")]);
        assert_eq!(messages(&rust_version(&repo)), [(1, "declares no `rust-version`")]);
    }
}
