//! The settings of `man`.

use std::path::PathBuf;

use crate::args::ManArgs;

/// What to print, and where.
#[derive(Clone, Debug)]
pub(crate) enum ManSettings {
    /// The page of a command; of all of them together without a word.
    Page { words: Vec<String> },
    /// Every page, into this directory.
    Pages { directory: PathBuf },
}

/// Pages are printed unless there is a directory.
pub(super) fn resolve(args: ManArgs) -> ManSettings {
    match args.out {
        Some(directory) => ManSettings::Pages { directory },
        None => ManSettings::Page { words: args.words },
    }
}
