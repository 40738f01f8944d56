//! Whether a built app carries Appduct.
//!
//! Every byte that ships is searched for texts that only a build with Appduct has. What cannot be searched whole is an
//! error and never "absent".

mod archive;
mod directory;
mod fair_play;
mod scan;
mod signals;

use std::fs;
use std::path::Path;

use crate::error::{Failure, Kind};
use crate::report::{Format, Platform};

pub(crate) use signals::Findings;

/// What an archive may unpack to. Real apps stay far below; an archive that is made to exhaust a machine does not.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Unpacked bytes of all entries together.
    total_bytes: u64,
    /// Unpacked bytes for each byte of the archive, once `free_bytes` are unpacked.
    ratio: u64,
    /// Unpacked bytes that may have any ratio.
    free_bytes: u64,
}

/// Shops take apps of 4 GiB at most. Deflate makes 1032 bytes of one at best, and real apps two or three.
const LIMITS: Limits = Limits { total_bytes: 16 << 30, ratio: 100, free_bytes: 64 << 20 };

/// The form of an artifact, by its name.
pub(crate) fn format_of(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "app" => Some(Format::App),
        "ipa" => Some(Format::Ipa),
        "apk" => Some(Format::Apk),
        "aab" => Some(Format::Aab),
        _ => None,
    }
}

/// Searches an artifact.
pub(crate) fn inspect(path: &Path, format: Format) -> Result<Findings, Failure> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    match format {
        Format::App if metadata.is_dir() => directory::search(path),
        Format::App => Err(cannot_inspect(path, "an .app is a directory, and this is none")),
        Format::Ipa | Format::Apk | Format::Aab if metadata.is_file() => archive::search(path, format, LIMITS),
        Format::Ipa | Format::Apk | Format::Aab => Err(cannot_inspect(path, "it is not a file")),
    }
}

/// The platform of a form.
pub(crate) fn platform_of(format: Format) -> Platform {
    match format {
        Format::App | Format::Ipa => Platform::Ios,
        Format::Apk | Format::Aab => Platform::Android,
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    cannot_inspect(path, &format!("it cannot be read: {error}"))
}

/// Why a binary of this name cannot be searched.
fn encrypted(name: &str) -> String {
    format!("the binary {name:?} is encrypted (FairPlay): inspect the app as it was before it went to the App Store")
}

fn cannot_inspect(path: &Path, why: &str) -> Failure {
    Failure::new(Kind::Inspection, format!("Could not inspect {}: {why}.", path.display()))
}

#[cfg(test)]
mod tests;
