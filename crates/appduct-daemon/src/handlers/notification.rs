//! Events as clients read them: the kind and data of each, in one place.

use appduct_proto::Timestamp;
use appduct_proto::host::{Event, EventBody, FinishedCall, Outcome};
use appduct_proto::wire::{Device, Object, RawJson, ToolErrorType};
use appduct_rpc::line;
use appduct_rpc::methods::{EventKind, EventNotification};

use super::refusal::error_type;
use super::reply::suspend_reason;
use crate::clock::iso;

/// An event, ready to be sent.
#[derive(Debug)]
pub(crate) struct Notification<'a> {
    kind: EventKind,
    session_id: Option<&'a str>,
    alias: Option<&'a str>,
    data: RawJson,
    ts: Timestamp,
    seq: u64,
}

/// The first event of every daemon.
pub(crate) fn daemon_started(version: &str, ts: Timestamp) -> Notification<'static> {
    let data = Object::new().text("version", version).display("pid", std::process::id()).into_raw();
    Notification { kind: EventKind::DaemonStarted, session_id: None, alias: None, data, ts, seq: 0 }
}

impl<'a> Notification<'a> {
    /// The event in the protocol's words.
    pub(crate) fn of(event: &'a Event) -> Self {
        Self {
            kind: kind(&event.body),
            session_id: Some(&event.session_id),
            alias: event.alias.as_deref(),
            data: data(&event.body),
            ts: event.ts,
            seq: event.seq,
        }
    }

    pub(super) fn kind(&self) -> EventKind {
        self.kind
    }

    /// The event as one JSON object.
    pub(crate) fn json(&self) -> RawJson {
        Object::new()
            .text("kind", self.kind.as_str())
            .optional_text("sessionId", self.session_id)
            .optional_text("alias", self.alias)
            .raw("data", &self.data)
            .display("ts", self.ts.0)
            .display("seq", self.seq)
            .into_raw()
    }

    /// The line to send.
    pub(crate) fn line(&self) -> String {
        line::event(&self.json())
    }

    /// For replies that hold events.
    pub(super) fn into_rpc(self) -> EventNotification {
        EventNotification {
            kind: self.kind.as_str().to_owned(),
            session_id: self.session_id.map(str::to_owned),
            alias: self.alias.map(str::to_owned),
            data: self.data,
            ts: self.ts.0,
            seq: self.seq,
        }
    }
}

/// The kind of an event.
pub(super) fn kind(body: &EventBody) -> EventKind {
    match body {
        EventBody::LinkCreated { .. } => EventKind::LinkCreated,
        EventBody::LinkExpired => EventKind::LinkExpired,
        EventBody::SessionClaimed { .. } => EventKind::SessionClaimed,
        EventBody::SessionSuspended { .. } => EventKind::SessionSuspended,
        EventBody::SessionResumed => EventKind::SessionResumed,
        EventBody::SessionRevoked => EventKind::SessionRevoked,
        EventBody::SessionExpired => EventKind::SessionExpired,
        EventBody::ToolsChanged { .. } => EventKind::ToolsChanged,
        EventBody::EventsChanged { .. } => EventKind::EventsChanged,
        EventBody::AppEvent { .. } | EventBody::AppEventPreview { .. } => EventKind::AppEvent,
        EventBody::ToolCallStarted { .. } => EventKind::ToolCallStarted,
        EventBody::ToolCallProgress { .. } => EventKind::ToolCallProgress,
        EventBody::ToolCallFinished(_) | EventBody::ToolCallDenied { .. } => EventKind::ToolCallFinished,
    }
}

fn data(body: &EventBody) -> RawJson {
    let data = Object::new();
    match body {
        EventBody::LinkCreated { expires_at } => data.text("expiresAt", &iso(*expires_at)),
        EventBody::LinkExpired => data.text("reason", "link_ttl_expired"),
        EventBody::SessionClaimed { device } => data.raw("device", &device_json(device)),
        EventBody::SessionSuspended { reason } => data.text("reason", suspend_reason(*reason)),
        EventBody::SessionResumed | EventBody::SessionRevoked | EventBody::SessionExpired => data,
        EventBody::ToolsChanged { tool_count } => data.display("toolCount", tool_count),
        EventBody::EventsChanged { event_count } => data.display("eventCount", event_count),
        EventBody::AppEvent { name, ts, payload } => {
            data.text("name", name).optional_raw("payload", payload.as_ref()).display("ts", ts)
        }
        EventBody::AppEventPreview { name, payload_preview, payload_bytes } => data
            .text("name", name)
            .text("payloadPreview", payload_preview)
            .display("truncated", true)
            .display("payloadBytes", payload_bytes),
        EventBody::ToolCallStarted { name, call } => data.text("name", name).text("callId", &call.0),
        EventBody::ToolCallProgress { call, progress, message } => {
            let data = data.text("callId", &call.0);
            let data = progress.iter().fold(data, |data, progress| data.display("progress", progress));
            data.optional_text("message", message.as_deref())
        }
        EventBody::ToolCallFinished(finished) => finished_data(data, finished),
        EventBody::ToolCallDenied { name } => data.text("name", name).text("outcome", "denied"),
    }
    .into_raw()
}

fn finished_data(data: Object, finished: &FinishedCall) -> Object {
    data.text("name", &finished.tool)
        .text("callId", &finished.call.0)
        .display("durationMs", finished.duration.as_millis())
        .text("outcome", outcome(&finished.outcome))
        .optional_text("errorType", error_type(&finished.outcome))
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Result(_) => "ok",
        Outcome::Error(fault) if fault.kind == ToolErrorType::ToolCancelled => "cancelled",
        Outcome::Error(_) | Outcome::TimedOut(_) | Outcome::Suspended(_) | Outcome::Resumed | Outcome::SessionGone => {
            "error"
        }
    }
}

fn device_json(device: &Device) -> RawJson {
    Object::new()
        .optional_text("manufacturer", device.manufacturer.as_deref())
        .optional_text("model", device.model.as_deref())
        .optional_text("os", device.os.as_deref())
        .into_raw()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use appduct_proto::host::{CallId, SuspendReason};
    use appduct_proto::wire::{Number, ToolFault};

    use super::*;

    fn check(body: EventBody, kind: &str, data: &str) {
        let event =
            Event { session_id: "s".to_owned(), alias: Some("pixel-8".to_owned()), ts: Timestamp(7), seq: 0, body };
        let expected = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{{\"kind\":\"{kind}\",\"sessionId\":\"s\",\
             \"alias\":\"pixel-8\",\"data\":{data},\"ts\":7,\"seq\":0}}}}\n"
        );
        assert_eq!(Notification::of(&event).line(), expected);
    }

    fn finished(outcome: Outcome) -> EventBody {
        EventBody::ToolCallFinished(FinishedCall {
            call: CallId("call_x".into()),
            alias: "pixel-8".to_owned(),
            tool: "pay".to_owned(),
            outcome,
            duration: Duration::from_millis(12),
        })
    }

    #[test]
    fn every_kind_has_the_data_of_the_protocol() {
        let device = Device { model: Some("Pixel 8".to_owned()), ..Device::default() };
        let call = CallId("call_x".into());
        check(
            EventBody::LinkCreated { expires_at: Timestamp(0) },
            "link_created",
            r#"{"expiresAt":"1970-01-01T00:00:00.000Z"}"#,
        );
        check(EventBody::LinkExpired, "link_expired", r#"{"reason":"link_ttl_expired"}"#);
        check(EventBody::SessionClaimed { device }, "session_claimed", r#"{"device":{"model":"Pixel 8"}}"#);
        let reason = SuspendReason::AppBackgrounded;
        check(EventBody::SessionSuspended { reason }, "session_suspended", r#"{"reason":"app_backgrounded"}"#);
        check(EventBody::SessionResumed, "session_resumed", "{}");
        check(EventBody::SessionRevoked, "session_revoked", "{}");
        check(EventBody::SessionExpired, "session_expired", "{}");
        check(EventBody::ToolsChanged { tool_count: 3 }, "tools_changed", r#"{"toolCount":3}"#);
        check(EventBody::EventsChanged { event_count: 0 }, "events_changed", r#"{"eventCount":0}"#);
        let app_event = EventBody::AppEvent {
            name: "cart".to_owned(),
            ts: Number(5.0),
            payload: Some(RawJson::parse(r#"{"a" : 1.0}"#).unwrap()),
        };
        check(app_event, "app_event", r#"{"name":"cart","payload":{"a" : 1.0},"ts":5}"#);
        let preview = EventBody::AppEventPreview {
            name: "cart".to_owned(),
            payload_preview: "{\"a".to_owned(),
            payload_bytes: 99,
        };
        check(preview, "app_event", r#"{"name":"cart","payloadPreview":"{\"a","truncated":true,"payloadBytes":99}"#);
        let started = EventBody::ToolCallStarted { name: "pay".to_owned(), call: call.clone() };
        check(started, "tool_call_started", r#"{"name":"pay","callId":"call_x"}"#);
        let progress =
            EventBody::ToolCallProgress { call, progress: Some(Number(0.5)), message: Some("half".to_owned()) };
        check(progress, "tool_call_progress", r#"{"callId":"call_x","progress":0.5,"message":"half"}"#);
        check(
            EventBody::ToolCallDenied { name: "pay".to_owned() },
            "tool_call_finished",
            r#"{"name":"pay","outcome":"denied"}"#,
        );
    }

    #[test]
    fn a_finished_call_says_how_it_ended() {
        let app_error = |kind| Outcome::Error(ToolFault { kind, message: "m".to_owned(), details: None });
        for (outcome, end) in [
            (Outcome::Result(RawJson::null()), r#""outcome":"ok""#),
            (app_error(ToolErrorType::ToolCancelled), r#""outcome":"cancelled","errorType":"tool_cancelled""#),
            (app_error(ToolErrorType::ToolExecutionError), r#""outcome":"error","errorType":"tool_execution_error""#),
            (Outcome::TimedOut(Duration::from_secs(1)), r#""outcome":"error","errorType":"tool_timeout""#),
            (Outcome::Resumed, r#""outcome":"error","errorType":"session_suspended""#),
            (Outcome::SessionGone, r#""outcome":"error","errorType":"unknown_session""#),
        ] {
            let data = format!(r#"{{"name":"pay","callId":"call_x","durationMs":12,{end}}}"#);
            check(finished(outcome), "tool_call_finished", &data);
        }
    }

    #[test]
    fn the_daemon_itself_has_no_session() {
        let line = daemon_started("1.0.0", Timestamp(7)).line();
        assert!(line.contains(r#""params":{"kind":"daemon_started","data":{"version":"1.0.0","pid":"#), "{line}");
        assert!(line.ends_with("},\"ts\":7,\"seq\":0}}\n"), "{line}");
    }
}
