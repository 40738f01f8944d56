//! `mcp`

use super::Stage;
use super::control::launcher;
use crate::error::Failure;
use crate::mcp;
use crate::report::{McpListening, Report};
use crate::settings::{McpSettings, Settings};

/// Serves an agent. What stands in the way of links is told and keeps nothing else from working.
pub(super) fn run(settings: &Settings, mcp: &McpSettings, stage: &mut dyn Stage) -> Result<(), Failure> {
    if let Some(fault) = mcp::scheme_fault(settings, mcp) {
        let what = fault.message.lines().next().unwrap_or_default().trim_end_matches(" Tried:");
        stage.notice(&format!("{what} Starting anyway: only appduct_connect needs one."));
    }
    mcp::run(settings, mcp, launcher()?, &mut |listening| {
        stage.announce(&Report::McpListening(McpListening {
            url: listening.url.clone(),
            token_file: listening.token_file.display().to_string(),
        }))
    })
}
