//! The settings of `keygen`.

use std::path::PathBuf;

use crate::args::{KeyType, KeygenArgs};

/// What key to make, and where.
#[derive(Clone, Debug)]
pub(crate) struct KeygenSettings {
    /// The state directory's key where there is none.
    pub(crate) path: Option<PathBuf>,
    pub(crate) key_type: KeyType,
    /// Whether a key that is there is replaced.
    pub(crate) force: bool,
}

/// Takes an empty path for none.
pub(super) fn resolve(args: KeygenArgs) -> KeygenSettings {
    let path = args.out.filter(|path| !path.as_os_str().is_empty());
    KeygenSettings { path, key_type: args.key_type.unwrap_or(KeyType::Ec), force: args.force }
}
