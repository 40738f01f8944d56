//! A report as text for people.

mod daemon;
mod doctor;
mod init;
mod invoke;
mod key;
mod link;
mod manual;
mod sessions;
mod tool;
mod tools;

use appduct_proto::wire::{JsonKind, RawJson};

use super::json::{Layout, laid_out};
use super::paint::Paint;
use super::{Meta, escape};
use crate::error::Failure;
use crate::report::Report;
use crate::settings::Output;

/// How to write.
#[derive(Clone, Copy)]
struct Style {
    paint: Paint,
    layout: Layout,
}

impl Style {
    fn new(is_colored: bool, is_pretty: bool) -> Self {
        let layout = if is_pretty { Layout::Indented } else { Layout::Compact };
        Self { paint: Paint::new(is_colored), layout }
    }

    /// A value: strings and scalars plain, everything else as JSON.
    fn value(self, value: &RawJson) -> String {
        match value.kind() {
            // A string with half a surrogate pair has no plain form.
            JsonKind::String => serde_json::from_str::<String>(value.as_str())
                .map_or_else(|_| escape::line(value.as_str()).into_owned(), |text| escape::line(&text).into_owned()),
            JsonKind::Null | JsonKind::Boolean | JsonKind::Number => value.as_str().to_owned(),
            JsonKind::Object | JsonKind::Array => self.json(value),
        }
    }

    /// A value as JSON, over several lines where JSON is to be indented.
    fn json(self, value: &RawJson) -> String {
        escape::json(&laid_out(value.as_str(), self.layout)).into_owned()
    }
}

/// A report.
pub(super) fn success(report: &Report, meta: Option<&Meta>, output: Output) -> String {
    let style = Style::new(output.color_stdout, output.pretty);
    let lines = match report {
        Report::Link(link) => link::lines(link, style),
        Report::Sessions(sessions) => sessions::lines(sessions, style),
        Report::Tools(tools) if tools.full => tools::full_lines(tools, style),
        Report::Tools(tools) => tools::lines(tools, style),
        Report::Groups(groups) => tools::group_lines(groups, style),
        Report::Tool(tool) => tool::lines(tool, style),
        Report::Called(result) => invoke::lines(result, style),
        Report::Revoked(_) => vec![style.paint.green("Session Revoked")],
        Report::DaemonRunning(running) => daemon::running_lines(running, style),
        Report::DaemonStarted(started) => daemon::started_lines(started, style),
        Report::DaemonStopped(stopped) => daemon::stopped_lines(*stopped, style),
        Report::DaemonStatus(status) => daemon::status_lines(status, style),
        Report::Diagnosis(diagnosis) => doctor::lines(diagnosis, style),
        Report::Initialized(initialized) => init::lines(initialized, style),
        Report::Key(key) => key::lines(key, style),
        Report::Pages(pages) => manual::lines(pages, style),
        // These go into a file or to a program, as they are.
        Report::Script(script) => return script.script.clone(),
        Report::Page(page) => return page.page.clone(),
    };
    joined(lines, meta)
}

/// A failure.
pub(super) fn failure(failure: &Failure, meta: Option<&Meta>, output: Output) -> String {
    let style = Style::new(output.color_stderr, output.pretty);
    let message = if failure.has_own_lines() {
        let lines: Vec<_> = failure.message.lines().map(escape::line).collect();
        lines.join("\n")
    } else {
        escape::line(&failure.message).into_owned()
    };
    let mut lines = vec![style.paint.red("Command Failed")];
    lines.extend(block(
        "Error",
        [
            ("Type", Some(escape::line(failure.kind.as_str()).into_owned())),
            ("Message", Some(message)),
            ("Details", failure.details.as_ref().map(|details| style.value(details))),
            ("Signature", failure.signature.as_deref().map(|signature| escape::line(signature).into_owned())),
            ("Hint", failure.hint.as_deref().map(|hint| escape::line(hint).into_owned())),
        ],
    ));
    joined(lines, meta)
}

/// A title and fields in two columns. Fields without a value are left out; without any, so is the title.
fn block<const N: usize>(title: &str, fields: [(&str, Option<String>); N]) -> Vec<String> {
    let shown: Vec<_> = fields.into_iter().filter_map(|(label, value)| Some((label, value?))).collect();
    let Some(width) = shown.iter().map(|(label, _)| label.len()).max() else { return Vec::new() };
    let fields = shown.into_iter().map(|(label, value)| format!("  {label:width$}  {value}"));
    std::iter::once(title.to_owned()).chain(fields).collect()
}

/// `1 tool`, `5 tools`
fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The lines and the meta block, with no blank line first, last or next to another.
fn joined(mut lines: Vec<String>, meta: Option<&Meta>) -> String {
    if let Some(meta) = meta {
        lines.push(String::new());
        lines.extend([
            "Meta".to_owned(),
            format!("  Command: {}", meta.command),
            format!("  Timestamp: {}", meta.timestamp),
            format!("  Duration: {} ms", meta.duration_ms),
        ]);
    }
    let mut out = String::new();
    let mut blank_due = false;
    for line in lines {
        if line.is_empty() {
            blank_due = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut blank_due) {
            out.push('\n');
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}
