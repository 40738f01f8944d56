//! A project with a configuration.

use serde_json::json;

use super::{Style, block, escape};
use crate::report::Initialized;

/// What is recorded, how an agent is set up, and what to do next.
pub(super) fn lines(report: &Initialized, style: Style) -> Vec<String> {
    let text = |value: &str| Some(escape::line(value).into_owned());
    let (title, written) = match (report.created, report.changed) {
        (true, _) => ("Project Initialized", "created"),
        (false, true) => ("Project Initialized", "updated"),
        (false, false) => ("Project Already Initialized", "unchanged"),
    };
    let mut lines = vec![style.paint.green(title)];
    let app_id = report.app_id.as_ref();
    lines.extend(block(
        "Config",
        [
            ("Path", text(&report.path)),
            ("Scheme", text(&report.scheme)),
            ("Source", text(report.source)),
            ("Read from", report.origin.as_deref().and_then(text)),
            ("iOS app id", app_id.and_then(|ids| ids.ios.as_deref()).and_then(text)),
            ("Android app id", app_id.and_then(|ids| ids.android.as_deref()).and_then(text)),
            ("Written", text(written)),
        ],
    ));
    if let Some(note) = &report.note {
        lines.extend([String::new(), style.paint.yellow(&format!("Note: {}", escape::line(note)))]);
    }
    lines.extend([String::new(), "MCP server entry".to_owned()]);
    let entry = json!({ "mcpServers": { "appduct": report.mcp_server_entry } });
    lines.extend(format!("{entry:#}").lines().map(|line| format!("  {}", escape::line(line))));
    lines.extend([String::new(), "Next".to_owned()]);
    lines
        .extend(report.next_steps.iter().enumerate().map(|(at, step)| format!("  {}. {}", at + 1, escape::line(step))));
    lines
}
