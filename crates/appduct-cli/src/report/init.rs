//! What `init` did.

use serde::Serialize;

/// A project with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialized {
    /// The configuration file.
    pub(crate) path: String,
    pub(crate) scheme: String,
    /// Where the scheme comes from.
    pub(crate) source: &'static str,
    /// The file of the project that names the scheme, and under which key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
    /// Whether there was no configuration before.
    pub(crate) created: bool,
    /// Whether the file was written.
    pub(crate) changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) app_id: Option<AppIds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    pub(crate) mcp_server_entry: McpServerEntry,
    pub(crate) next_steps: Vec<String>,
}

/// The application ids of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct AppIds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ios: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) android: Option<String>,
}

/// How an agent starts the MCP server for this project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct McpServerEntry {
    pub(crate) command: &'static str,
    pub(crate) args: Vec<String>,
}
