//! A report as text for people.

mod daemon;
mod doctor;
mod events;
mod init;
mod invoke;
mod key;
mod link;
mod manual;
mod mcp;
mod policy;
mod sessions;
mod table;
mod tool;
mod tools;
mod wrap;

use appduct_proto::wire::{JsonKind, RawJson};

use super::json::{Layout, laid_out};
use super::paint::Paint;
use super::{Meta, escape};
use crate::error::Failure;
use crate::report::{Item, Report};
use crate::settings::Output;

pub(crate) use link::qr_code;

/// Where the text of a list begins: `  1. text`.
const LIST_INDENT: usize = 5;

/// How to write.
#[derive(Clone, Copy)]
struct Style {
    paint: Paint,
    layout: Layout,
    /// The columns that lines are to fit in; `None` where nothing is to be fitted.
    width: Option<usize>,
}

impl Style {
    fn new(is_colored: bool, is_pretty: bool) -> Self {
        let layout = if is_pretty { Layout::Indented } else { Layout::Compact };
        Self { paint: Paint::new(is_colored), layout, width: None }
    }

    /// The same, fitted into `width` columns.
    fn fitted(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// Prose after `indent` columns, its further lines after `hanging`.
    fn prose(self, text: &str, indent: usize, hanging: usize) -> Vec<String> {
        wrap::lines(text, self.width, indent, hanging)
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
    let style = Style::new(output.color_stdout, output.pretty).fitted(output.width_stdout);
    let lines = match report {
        Report::Link(link) => link::lines(link, style),
        Report::WebLink(link) => link::web_lines(link, style),
        Report::Attached(attached) => link::attached_lines(attached, style),
        Report::Sessions(sessions) => sessions::lines(sessions, style),
        Report::Tools(tools) if tools.full => tools::full_lines(tools, style),
        Report::Tools(tools) => tools::lines(tools, style),
        Report::Groups(groups) => tools::group_lines(groups, style),
        Report::Tool(tool) => tool::lines(tool, style),
        Report::Called(result) => invoke::lines(result, style),
        Report::Events(events) => events::declared_lines(events, style),
        Report::Waited(session) => sessions::active_lines(session, style),
        Report::Revoked(revoked) => sessions::revoked_lines(revoked, style),
        Report::PolicyExplained(explained) => policy::lines(explained, style),
        Report::DaemonRunning(running) => daemon::running_lines(running, style),
        Report::DaemonStarted(started) => daemon::started_lines(started, style),
        Report::DaemonStopped(stopped) => daemon::stopped_lines(*stopped, style),
        Report::DaemonStatus(status) => daemon::status_lines(status, style),
        Report::Diagnosis(diagnosis) => doctor::lines(diagnosis, style),
        Report::Initialized(initialized) => init::lines(initialized, style),
        Report::Key(key) => key::lines(key, style),
        Report::McpListening(listening) => mcp::lines(listening, style),
        Report::Pages(pages) => manual::lines(pages, style),
        // These go into a file or to a program, as they are.
        Report::Script(script) => return script.script.clone(),
        Report::Page(page) => return page.page.clone(),
    };
    joined(lines, meta)
}

/// One line of a stream.
pub(super) fn item(item: &Item, output: Output) -> String {
    let style = Style::new(output.color_stdout, output.pretty);
    match item {
        Item::Event(event) => events::line(event, style),
        Item::Cursor(cursor) => events::cursor_line(cursor, style),
    }
}

/// A failure.
pub(super) fn failure(failure: &Failure, meta: Option<&Meta>, output: Output) -> String {
    let style = Style::new(output.color_stderr, output.pretty).fitted(output.width_stderr);
    let message = if failure.has_own_lines() {
        let lines: Vec<_> = failure.message.lines().map(escape::line).collect();
        lines.join("\n")
    } else {
        escape::line(&failure.message).into_owned()
    };
    let mut lines = vec![style.paint.red("Command Failed")];
    let details = failure.details.as_ref();
    let issues = details.and_then(issues);
    let details = if issues.is_some() { None } else { details.map(|details| style.value(details)) };
    let line = |text: Option<&str>| text.map(|text| Value::Prose(escape::line(text).into_owned()));
    lines.extend(fitted_block(
        "Error",
        [
            ("Type", line(Some(failure.kind.as_str()))),
            ("Message", Some(Value::Prose(message))),
            ("Details", details.map(Value::AsIs)),
            ("Issues", issues.map(Value::Prose)),
            ("Signature", line(failure.signature.as_deref())),
            ("Hint", line(failure.hint.as_deref())),
        ],
        style,
    ));
    joined(lines, meta)
}

/// The faults of an input, one on each line; `None` where the details are something else.
fn issues(details: &RawJson) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Details {
        issues: Vec<Issue>,
    }
    #[derive(serde::Deserialize)]
    struct Issue {
        path: String,
        message: String,
    }
    let details: Details = serde_json::from_str(details.as_str()).ok()?;
    let line = |issue: &Issue| {
        let path = if issue.path.is_empty() { "(input)" } else { &issue.path };
        format!("{}: {}", escape::line(path), escape::line(&issue.message))
    };
    (!details.issues.is_empty()).then(|| details.issues.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// A value of a block.
enum Value {
    /// To be copied, so never broken.
    AsIs(String),
    /// To be read: where there is no room, it goes on under itself.
    Prose(String),
}

/// A title and fields in two columns. Fields without a value are left out; without any, so is the title.
fn block<const N: usize>(title: &str, fields: [(&str, Option<String>); N]) -> Vec<String> {
    let unfitted = Style::new(false, false);
    fitted_block(title, fields.map(|(label, value)| (label, value.map(Value::AsIs))), unfitted)
}

/// The same, with values that may be broken. Line breaks in them stay.
fn fitted_block<const N: usize>(title: &str, fields: [(&str, Option<Value>); N], style: Style) -> Vec<String> {
    let shown: Vec<_> = fields.into_iter().filter_map(|(label, value)| Some((label, value?))).collect();
    let Some(width) = shown.iter().map(|(label, _)| label.len()).max() else { return Vec::new() };
    let column = width + 4;
    let mut lines = vec![title.to_owned()];
    for (label, value) in shown {
        match value {
            Value::AsIs(value) => lines.push(format!("  {label:width$}  {value}")),
            Value::Prose(value) => {
                // An indented line is an item of a list, whose text stays behind its mark.
                let hanging = |line: &str| column + if line.starts_with(' ') { LIST_INDENT } else { 0 };
                let broken: Vec<_> =
                    value.split('\n').flat_map(|line| style.prose(line, column, hanging(line))).collect();
                let value = broken.join("\n");
                lines.push(format!("  {label:width$}  {}", value.get(column..).unwrap_or_default()));
            }
        }
    }
    lines
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
