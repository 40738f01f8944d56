//! The entries of an `.ipa`, `.apk` or `.aab`, which are ZIP archives.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::fair_play::Watched;
use super::signals::{Findings, Signs};
use super::{Limits, cannot_inspect, encrypted, platform_of, unreadable};
use crate::error::Failure;
use crate::report::Format;

/// Searches what the entries unpack to, within `limits`.
pub(super) fn search(path: &Path, format: Format, limits: Limits) -> Result<Findings, Failure> {
    let cannot = |why: &str| cannot_inspect(path, why);
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let archive_bytes = file.metadata().map_err(|error| unreadable(path, &error))?.len();
    if archive_bytes == 0 {
        return Err(cannot("it is empty"));
    }
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| cannot(&not_an_archive(&error)))?;
    if archive.is_empty() {
        return Err(cannot("the archive has no entries"));
    }
    if archive.has_duplicate_names() {
        return Err(cannot("the archive has two entries of one name, and only one of them can be read"));
    }
    if !archive.file_names_raw().any(|name| is_typical(name, format)) {
        return Err(cannot(match format {
            Format::App | Format::Ipa => "no entry of the archive is in an .app directory, so it is no .ipa",
            Format::Apk | Format::Aab => "the archive has no AndroidManifest.xml, so it is no Android app",
        }));
    }

    let mut signs = Signs::of(platform_of(format));
    let mut budget = Budget { limits, archive_bytes, unpacked_bytes: 0 };
    for index in 0..archive.len() {
        let name = archive.by_index_data(index).map(|entry| String::from_utf8_lossy(entry.name_raw()).into_owned());
        let name = name.map_err(|error| cannot(&not_an_archive(&error)))?;
        let entry = archive.by_index(index).map_err(|error| cannot(&bad_entry(&name, &error)))?;
        let mut entry = Watched::new(entry);
        let searched = signs.scan().stream(&mut entry, |bytes| budget.spend(bytes));
        searched.map_err(|error| cannot(&format!("the entry {name:?} cannot be unpacked: {error}")))?;
        if format == Format::Ipa && entry.is_encrypted() {
            return Err(cannot(&encrypted(&name)));
        }
    }
    Ok(signs.findings())
}

/// Whether an archive of this form has entries of this name.
fn is_typical(name: &[u8], format: Format) -> bool {
    match format {
        Format::App | Format::Ipa => name.windows(5).any(|window| window.eq_ignore_ascii_case(b".app/")),
        Format::Apk | Format::Aab => name == b"AndroidManifest.xml" || name.ends_with(b"/AndroidManifest.xml"),
    }
}

/// What may still be unpacked.
struct Budget {
    limits: Limits,
    archive_bytes: u64,
    unpacked_bytes: u64,
}

impl Budget {
    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let Limits { total_bytes, ratio, free_bytes } = self.limits;
        self.unpacked_bytes += bytes;
        if self.unpacked_bytes > total_bytes {
            return Err(io::Error::other(format!("the archive unpacks to more than {total_bytes} bytes")));
        }
        if self.unpacked_bytes > free_bytes && self.unpacked_bytes / ratio > self.archive_bytes {
            return Err(io::Error::other(format!("the archive unpacks to more than {ratio} times its size")));
        }
        Ok(())
    }
}

fn not_an_archive(error: &ZipError) -> String {
    if let ZipError::InvalidArchive(what) = error {
        format!("it is no ZIP archive, or not all of one ({what})")
    } else {
        format!("it is a ZIP archive that cannot be read ({error})")
    }
}

fn bad_entry(name: &str, error: &ZipError) -> String {
    if let ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) = error {
        format!("the entry {name:?} is encrypted")
    } else {
        format!("the entry {name:?} cannot be unpacked: {error}")
    }
}
