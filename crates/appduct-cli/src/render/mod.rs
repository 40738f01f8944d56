//! A report as text for people or as JSON for programs.

mod escape;
mod human;
mod json;
mod paint;
mod progress;

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Failure;
use crate::report::{Item, Report};
use crate::settings::Output;

pub(crate) use escape::is_dangerous;
pub(crate) use escape::line as escaped;
pub(crate) use human::qr_code;
pub(crate) use progress::Progress;

/// When a command ran.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Meta {
    command: String,
    /// When it ended.
    timestamp: String,
    duration_ms: u64,
}

impl Meta {
    /// The meta block of a command that ended at `end` after `duration`.
    pub(crate) fn new(command: &str, end: Timestamp, duration: Duration) -> Self {
        Self {
            command: command.to_owned(),
            timestamp: iso(end),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// What goes to stdout when a command succeeds.
pub(crate) fn success(report: &Report, meta: Option<&Meta>, output: Output) -> String {
    if output.json { json::success(report, meta, output.pretty) } else { human::success(report, meta, output) }
}

/// What a failed command prints: to stdout as JSON, to stderr for people.
pub(crate) fn failure(failure: &Failure, meta: Option<&Meta>, output: Output) -> String {
    if output.json { json::failure(failure, meta, output.pretty) } else { human::failure(failure, meta, output) }
}

/// A notice for people, as one line.
pub(crate) fn notice(text: &str, output: Output) -> String {
    format!("{}\n", paint::Paint::new(output.color_stderr).yellow(&escape::line(text)))
}

/// Tells somebody who watches that a command waits, as one line.
pub(crate) fn waiting(text: &str, output: Output) -> String {
    format!("{}\n", paint::Paint::new(output.color_stderr).dim(&escape::line(text)))
}

/// One line of a stream.
pub(crate) fn item(item: &Item, output: Output) -> String {
    if output.json { json::item(item) } else { human::item(item, output) }
}

/// ISO 8601 in UTC with milliseconds.
fn iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
