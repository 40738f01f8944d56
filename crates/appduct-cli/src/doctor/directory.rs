//! The files of an `.app`.

use std::fs::{self, File};
use std::path::Path;

use super::fair_play::Watched;
use super::signals::{Findings, Signs};
use super::{cannot_inspect, encrypted, unreadable};
use crate::error::Failure;
use crate::report::Platform;

/// Searches every regular file below `root`. Symbolic links are passed over: what they name is either in the directory
/// itself or does not ship.
pub(super) fn search(root: &Path) -> Result<Findings, Failure> {
    let mut signs = Signs::of(Platform::Ios);
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let unreadable_directory = |error| unreadable(&directory, &error);
        for entry in fs::read_dir(&directory).map_err(unreadable_directory)? {
            let entry = entry.map_err(unreadable_directory)?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() {
                let mut file = File::open(&path).map(Watched::new).map_err(|error| unreadable(&path, &error))?;
                signs.scan().stream(&mut file, |_| Ok(())).map_err(|error| unreadable(&path, &error))?;
                if file.is_encrypted() {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    return Err(cannot_inspect(root, &encrypted(&name)));
                }
            }
        }
    }
    Ok(signs.findings())
}
