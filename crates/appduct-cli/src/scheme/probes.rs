//! The project's own files, in the current directory only. Nothing is executed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{config, gradle, manifest, plist, project_yml};
use crate::error::Failure;

/// Larger files are no project files.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

/// A scheme that a file of the project names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probed {
    pub(crate) scheme: String,
    /// The kind of file.
    pub(crate) source: &'static str,
    pub(crate) path: PathBuf,
    /// Where in the file.
    pub(crate) key: &'static str,
}

impl Probed {
    /// Where the scheme stands.
    pub(crate) fn origin(&self) -> String {
        format!("{} (\"{}\")", self.path.display(), self.key)
    }
}

/// What the files say. `app.json` decides alone; the native files must agree.
pub(super) fn run(cwd: &Path) -> Result<Option<Probed>, Failure> {
    if let Some(found) = app_json(cwd)? {
        return Ok(Some(found));
    }
    let found: Vec<_> = [gradle::probe(cwd), manifest::probe(cwd), plist::probe(cwd), project_yml::probe(cwd)]
        .into_iter()
        .flatten()
        .collect();
    let Some(first) = found.first() else { return Ok(None) };
    if found.iter().all(|other| other.scheme == first.scheme) {
        return Ok(Some(first.clone()));
    }
    let sources: Vec<_> = found.iter().map(|found| format!("  {} has \"{}\"", found.origin(), found.scheme)).collect();
    Err(Failure::usage(format!("Conflicting deep-link schemes in this project:\n{}", sources.join("\n")))
        .with_hint("Name the right one with `--scheme <scheme>`."))
}

/// `expo.scheme`: a string, or the first string of a list.
fn app_json(cwd: &Path) -> Result<Option<Probed>, Failure> {
    let path = cwd.join("app.json");
    let Some(value) = config::read(&path)? else { return Ok(None) };
    let scheme = value.get("expo").and_then(|expo| expo.get("scheme"));
    let scheme = match scheme {
        Some(Value::String(scheme)) => Some(scheme.as_str()),
        Some(Value::Array(schemes)) => schemes.iter().filter_map(Value::as_str).find(|scheme| !scheme.is_empty()),
        _ => None,
    };
    Ok(scheme.filter(|scheme| !scheme.is_empty()).map(|scheme| Probed {
        scheme: scheme.to_owned(),
        source: "app.json",
        path: path.clone(),
        key: "expo.scheme",
    }))
}

/// The text of a project file; `None` where it is missing, too large or not text.
pub(super) fn read(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE_BYTES {
        return None;
    }
    std::fs::read_to_string(path).ok()
}
