//! What the demo app prints: one plain line for each thing that happens, whatever the daemon put into it.

use std::fmt::Write;

use appduct::{Event, Phase, PostError, SessionChange, ToolDescriptor, ToolErrorType};
use tokio::sync::mpsc;

use crate::error::sentence;
use crate::render::escaped;

/// Something that a handler did.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    Started { tool: String },
    Progress { tool: String, fraction: f64, message: &'static str },
    Ended { tool: String, result: String },
    Failed { tool: String, kind: ToolErrorType, message: String },
}

/// Where handlers write. The queue has no bound of its own: the daemon bounds the calls in flight, and each writes a few
/// lines.
#[derive(Clone)]
pub(super) struct Journal(mpsc::UnboundedSender<Happening>);

impl Journal {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Happening>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    pub(super) fn write(&self, happening: Happening) {
        // At the end of the app nobody reads any more.
        self.0.send(happening).unwrap_or_default();
    }
}

/// What the app shows when it starts.
pub(super) fn opening(tools: &[ToolDescriptor], has_enter: bool) -> String {
    let mut rows: Vec<_> = tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.group.as_ref().map_or("(ungrouped)", |group| group.as_str())))
        .collect();
    rows.sort_unstable();
    let width = rows.iter().map(|(name, _)| name.len()).fold("Tool".len(), usize::max);
    let mut text = "Playground\n  Tool".to_owned();
    write_row(&mut text, width - "Tool".len(), "Group");
    for (name, group) in rows {
        text.push_str("  ");
        text.push_str(name);
        write_row(&mut text, width - name.len(), group);
    }
    text.push_str(if has_enter {
        "\nPress Enter to post an event, Ctrl-C to end it.\n\n"
    } else {
        "\nPress Ctrl-C to end it.\n\n"
    });
    text
}

fn write_row(text: &mut String, padding: usize, last: &str) {
    writeln!(text, "{:padding$}  {last}", "").expect("a string takes everything");
}

pub(super) fn happening(happening: &Happening) -> String {
    match happening {
        Happening::Started { tool } => line("Call", format_args!("{tool} started")),
        Happening::Progress { tool, fraction, message } => {
            line("Call", format_args!("{tool} {:.0}% {message}", fraction * 100.0))
        }
        Happening::Ended { tool, result } => line("Call", format_args!("{tool} returned {result}")),
        Happening::Failed { tool, kind, message } => {
            line("Call", format_args!("{tool} failed: {} ({message})", kind.as_str()))
        }
    }
}

pub(super) fn event(event: &Event) -> String {
    match event {
        Event::State { state, reason } => match reason {
            None => line("State", format_args!("{state}")),
            Some(reason) => line("State", format_args!("{state} ({reason})")),
        },
        Event::Session(change) => match change {
            SessionChange::Claimed { alias, .. } => line("Session", format_args!("claimed as {alias}")),
            SessionChange::Resumed { alias, .. } => line("Session", format_args!("resumed as {alias}")),
            SessionChange::Lost { reason } => line("Session", format_args!("lost ({reason})")),
        },
        // The handler that failed has written it down.
        Event::Error(error) if error.phase == Phase::Tool && error.call.is_some() => String::new(),
        Event::Error(error) => {
            let message = sentence(&error.message);
            // Nobody here can build the app anew.
            match error.hint.as_ref().filter(|_| error.code.as_deref() != Some("public_address")) {
                Some(hint) => line("Error", format_args!("{message} {hint}")),
                None => line("Error", format_args!("{message}")),
            }
        }
        Event::Missed { count } => line("Error", format_args!("{count} events were missed")),
        _ => String::new(),
    }
}

/// What came of posting the event `name`.
pub(super) fn posted(name: &str, result: Result<(), PostError>) -> String {
    match result {
        Ok(()) => line("Event", format_args!("{name} posted")),
        Err(error) => line("Event", format_args!("{name} not posted: {error}")),
    }
}

fn line(label: &str, text: std::fmt::Arguments<'_>) -> String {
    format!("{label:<7}  {}\n", escaped(&text.to_string()))
}

#[cfg(test)]
mod tests {
    use appduct::{Appduct, ClientError, State};

    use super::*;

    #[test]
    fn the_opening_shows_the_group_of_each_tool() {
        let app = Appduct::builder().lease_slot("opening of the playground").build();
        super::super::tools::register(&app, &Journal::new().0).unwrap();
        insta::assert_snapshot!(opening(&app.tools(), false), @r"
        Playground
          Tool           Group
          call_count     counter
          reset_counter  counter
          slow_task      diagnostics/progress
          sum            (ungrouped)
          throwing_tool  diagnostics

        Press Ctrl-C to end it.
        ");
        assert!(opening(&app.tools(), true).ends_with("\nPress Enter to post an event, Ctrl-C to end it.\n\n"));
    }

    #[test]
    fn what_to_do_is_a_sentence_of_its_own() {
        let error = |code: &str| {
            event(&Event::Error(ClientError {
                code: Some(code.to_owned()),
                hint: Some("Try again.".to_owned()),
                phase: Phase::Socket,
                message: "it broke".to_owned(),
                close_reason: None,
                retryable: None,
                tool: None,
                call: None,
            }))
        };
        assert_eq!(error("connection_failed"), "Error    It broke. Try again.\n");
        assert_eq!(error("public_address"), "Error    It broke.\n");
    }

    #[test]
    fn everything_that_happens_is_one_line() {
        let lines = [
            event(&Event::State { state: State::Active, reason: None }),
            event(&Event::Session(SessionChange::Claimed {
                session_id: "s".to_owned(),
                alias: "play\u{1b}[2J\nground".to_owned(),
            })),
            happening(&Happening::Started { tool: "slow_task".to_owned() }),
            happening(&Happening::Progress { tool: "slow_task".to_owned(), fraction: 0.33, message: "warming up" }),
            happening(&Happening::Ended { tool: "sum".to_owned(), result: r#"{"total":5}"#.to_owned() }),
            happening(&Happening::Failed {
                tool: "throwing_tool".to_owned(),
                kind: ToolErrorType::ToolExecutionError,
                message: "on purpose.".to_owned(),
            }),
            posted("playground_ping", Ok(())),
            posted("playground_ping", Err(PostError::NotActive)),
            event(&Event::Session(SessionChange::Lost { reason: "revoked\u{202e}".to_owned() })),
        ];
        insta::assert_snapshot!(lines.concat(), @r#"
        State    active
        Session  claimed as play\u001b[2J\nground
        Call     slow_task started
        Call     slow_task 33% warming up
        Call     sum returned {"total":5}
        Call     throwing_tool failed: tool_execution_error (on purpose.)
        Event    playground_ping posted
        Event    playground_ping not posted: no appduct session is active
        Session  lost (revoked\u202e)
        "#);
    }
}
