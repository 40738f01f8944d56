//! Outputs as short lines, for logs that tests compare.

use bytes::Bytes;

use super::super::{Event, EventBody, FinishedCall, Outcome, Output, SuspendReason};
use crate::wire::{DaemonFrame, DaemonReceived, RawJson};

pub(super) fn output(output: &Output) -> String {
    match output {
        Output::Send { socket, text } => format!("to {}: {}", socket.0, frame(text)),
        Output::Ping { socket } => format!("ping {}", socket.0),
        Output::Close { socket, close } => format!("close {}: {} {}", socket.0, close.code, close.reason),
        Output::Terminate { socket } => format!("terminate {}", socket.0),
        Output::Event(shown) => event(shown),
        Output::CallFinished(call) => format!("answer {}", finished(call)),
        Output::Save { records, .. } => {
            format!("save {} sessions, {} links", records.session_count(), records.link_count())
        }
        Output::Idle { .. } => "idle".to_owned(),
    }
}

/// Ids and tokens are random: they are left out.
fn frame(text: &str) -> String {
    let frame = match DaemonReceived::decode(&Bytes::copy_from_slice(text.as_bytes())) {
        DaemonReceived::Frame { frame: Ok(Some(frame)), .. } => frame,
        DaemonReceived::Frame { .. } | DaemonReceived::NotAnObject => return "what no app takes".to_owned(),
    };
    match frame {
        DaemonFrame::Ack(ack) => format!("ack {}", ack.alias),
        DaemonFrame::ToolCall { name, args, .. } => format!("call {name} {}", args.as_str()),
        DaemonFrame::ToolCancel { reason, .. } => format!("cancel {reason}"),
    }
}

pub(super) fn event(event: &Event) -> String {
    let alias = event.alias.as_deref().unwrap_or("-");
    let body = match &event.body {
        EventBody::LinkCreated { expires_at } => format!("link_created {}", expires_at.0),
        EventBody::LinkExpired => "link_expired".to_owned(),
        EventBody::SessionClaimed { device } => {
            format!("session_claimed {}", device.model.as_deref().unwrap_or("-"))
        }
        EventBody::SessionSuspended { reason } => format!("session_suspended {}", suspension(*reason)),
        EventBody::SessionResumed => "session_resumed".to_owned(),
        EventBody::SessionRevoked => "session_revoked".to_owned(),
        EventBody::SessionExpired => "session_expired".to_owned(),
        EventBody::ToolsChanged { tool_count } => format!("tools_changed {tool_count}"),
        EventBody::EventsChanged { event_count } => format!("events_changed {event_count}"),
        EventBody::AppEvent { name, ts, payload } => {
            format!("app_event {name} at {ts} {}", payload.as_ref().map_or("-", RawJson::as_str))
        }
        EventBody::AppEventPreview { name, payload_preview, payload_bytes } => {
            format!("app_event {name} {payload_preview} of {payload_bytes}")
        }
        EventBody::ToolCallStarted { name, .. } => format!("tool_call_started {name}"),
        EventBody::ToolCallProgress { progress, message, .. } => {
            let progress = progress.map_or("-".to_owned(), |progress| progress.to_string());
            format!("tool_call_progress {progress} {}", message.as_deref().unwrap_or("-"))
        }
        EventBody::ToolCallFinished(call) => format!("tool_call_finished {}", finished(call)),
        EventBody::ToolCallDenied { name } => format!("tool_call_denied {name}"),
    };
    let seq = if event.seq == 0 { String::new() } else { format!("#{} ", event.seq) };
    format!("event {alias} {seq}{body}")
}

fn finished(call: &FinishedCall) -> String {
    let outcome = match &call.outcome {
        Outcome::Result(result) => format!("result {}", result.as_str()),
        Outcome::Error(fault) => {
            let details = fault.details.as_ref().map_or("-", RawJson::as_str);
            format!("error {} {} {details}", fault.kind.as_str(), fault.message)
        }
        Outcome::TimedOut(after) => format!("timed out after {}", after.as_millis()),
        Outcome::Suspended(reason) => format!("suspended {}", suspension(*reason)),
        Outcome::Resumed => "resumed".to_owned(),
        Outcome::SessionGone => "session gone".to_owned(),
    };
    format!("{} {outcome} ({} ms)", call.tool, call.duration.as_millis())
}

fn suspension(reason: SuspendReason) -> &'static str {
    match reason {
        SuspendReason::AppBackgrounded => "app_backgrounded",
        SuspendReason::ConnectionLost => "connection_lost",
    }
}
