//! An MCP server over HTTP that listens.

use super::{Style, block, escape};
use crate::report::McpListening;

/// Where it is. The token stays in its file.
pub(super) fn lines(listening: &McpListening, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("MCP Server Running")];
    lines.extend(block(
        "Server",
        [
            ("URL", Some(listening.url.clone())),
            (
                "Token",
                Some(format!("in {}, sent as \"Authorization: Bearer <token>\"", escape::line(&listening.token_file))),
            ),
        ],
    ));
    lines
}
