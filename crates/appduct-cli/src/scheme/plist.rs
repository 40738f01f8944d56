//! `CFBundleURLSchemes` of the nearest `Info.plist`.

use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node, ParsingOptions};

use super::probes::{self, Probed};

const SKIPPED: &[&str] = &["Pods", "build", "node_modules", "DerivedData"];
const MAX_DEPTH: usize = 2;
const MAX_ENTRIES: usize = 5_000;

/// The first scheme of the nearest file; files of the same depth in the order of their paths.
pub(super) fn probe(cwd: &Path) -> Option<Probed> {
    files(cwd).into_iter().find_map(|path| {
        let scheme = scheme(&probes::read(&path)?)?;
        Some(Probed { scheme, source: "ios-info-plist", path, key: "CFBundleURLSchemes" })
    })
}

fn files(cwd: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut visited = 0;
    let mut level = vec![cwd.to_owned()];
    for depth in 0..=MAX_DEPTH {
        let mut below = Vec::new();
        for directory in std::mem::take(&mut level) {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                visited += 1;
                if visited > MAX_ENTRIES {
                    return nearest_first(found);
                }
                // Symbolic links are neither files nor directories here.
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if kind.is_file() && name == "Info.plist" {
                    found.push((depth, entry.path()));
                } else if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
                    below.push(entry.path());
                }
            }
        }
        level = below;
    }
    nearest_first(found)
}

fn nearest_first(mut found: Vec<(usize, PathBuf)>) -> Vec<PathBuf> {
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The first non-empty scheme of an XML property list; a binary one has none that we can read.
fn scheme(text: &str) -> Option<String> {
    if text.starts_with("bplist") {
        return None;
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).ok()?;
    let root = document.root_element().children().find(|node| node.has_tag_name("dict"))?;
    let types = value(root, "CFBundleURLTypes")?;
    types
        .children()
        .filter(|node| node.has_tag_name("dict"))
        .filter_map(|kind| value(kind, "CFBundleURLSchemes"))
        .flat_map(|schemes| schemes.descendants().filter(|node| node.has_tag_name("string")).collect::<Vec<_>>())
        .filter_map(|node| node.text())
        .map(str::trim)
        .find(|scheme| !scheme.is_empty())
        .map(str::to_owned)
}

/// The element after the `<key>` of that name.
fn value<'a, 'input>(dict: Node<'a, 'input>, key: &str) -> Option<Node<'a, 'input>> {
    let mut elements = dict.children().filter(Node::is_element);
    elements.find(|node| node.has_tag_name("key") && node.text() == Some(key))?;
    elements.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plist(schemes: &str) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\"><dict>\
             <key>CFBundleName</key><string>Demo</string>\
             <key>CFBundleURLTypes</key><array><dict><key>CFBundleURLName</key><string>x</string>\
             <key>CFBundleURLSchemes</key>{schemes}</dict></array></dict></plist>"
        )
    }

    #[test]
    fn the_first_scheme_that_is_not_empty_counts() {
        for (schemes, expected) in [
            ("<array><string></string><string>demo</string><string>other</string></array>", Some("demo")),
            ("<string>demo</string>", Some("demo")),
            ("<array/>", None),
        ] {
            assert_eq!(scheme(&plist(schemes)).as_deref(), expected, "{schemes}");
        }
        assert_eq!(scheme("bplist00"), None);
        assert_eq!(scheme("<plist/>"), None);
    }

    #[test]
    fn the_nearest_file_comes_first_and_some_directories_are_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let file = |path: &str| {
            let path = temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        for path in
            ["b/Info.plist", "a/c/Info.plist", "a/Info.plist", "Pods/Info.plist", "a/b/c/Info.plist", "a/Other.plist"]
        {
            file(path);
        }
        let found: Vec<_> = files(temp.path())
            .iter()
            .map(|path| path.strip_prefix(temp.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(found, ["a/Info.plist", "b/Info.plist", "a/c/Info.plist"]);
    }
}
