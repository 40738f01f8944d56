//! An MCP server over HTTP that listens.

use serde::Serialize;

/// Where it is, and what its clients must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpListening {
    pub(crate) url: String,
    /// The file that holds the token.
    pub(crate) token_file: String,
}
