//! What `completions` and `man` print: text that goes to a file as it is.

use serde::Serialize;

/// A script that a shell loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Script {
    pub(crate) shell: &'static str,
    pub(crate) script: String,
}

/// A page of the manual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Page {
    /// `appduct-link.1`
    pub(crate) name: String,
    /// In roff.
    pub(crate) page: String,
}

/// The manual in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Pages {
    /// The written files.
    pub(crate) files: Vec<String>,
}
