//! What `keygen` made.

use serde::Serialize;

/// A key on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Key {
    pub(crate) path: String,
    /// What apps trust it by.
    pub(crate) pin: String,
}
