//! What happened, for everyone who listens.

use super::preview::preview;
use super::{CallId, FinishedCall, SuspendReason};
use crate::Timestamp;
use crate::wire::{Device, Number, RawJson};

/// Something that happened, in the order in which it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The session that it is about.
    pub session_id: String,
    /// Its alias, once it has one.
    pub alias: Option<String>,
    /// When.
    pub ts: Timestamp,
    /// Per session, from 1 without gaps, for app events; 0 for every other kind.
    pub seq: u64,
    /// What.
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody {
    /// A link was minted.
    LinkCreated {
        /// When it expires.
        expires_at: Timestamp,
    },
    /// A link passed its time unclaimed.
    LinkExpired,
    /// An app claimed a link.
    SessionClaimed {
        /// The device that it runs on.
        device: Device,
    },
    /// A session lost its socket.
    SessionSuspended {
        /// Why.
        reason: SuspendReason,
    },
    /// An app resumed its session.
    SessionResumed,
    /// Somebody revoked a session or a pending link.
    SessionRevoked,
    /// A session's grace passed.
    SessionExpired,
    /// The tool registry changed.
    ToolsChanged {
        /// Its new size.
        tool_count: usize,
    },
    /// The event registry changed.
    EventsChanged {
        /// Its new size.
        event_count: usize,
    },
    /// The app posted an event.
    AppEvent {
        /// Its name.
        name: String,
        /// The app's own time, milliseconds since the Unix epoch.
        ts: Number,
        /// Anything.
        payload: Option<RawJson>,
    },
    /// An app event whose payload is larger than the reader asked for. No output of the host is one.
    AppEventPreview {
        /// Its name.
        name: String,
        /// The start of the payload's compact JSON, cut at a whole character.
        payload_preview: String,
        /// The size of the payload's compact JSON.
        payload_bytes: usize,
    },
    /// A call was sent to the app.
    ToolCallStarted {
        /// The tool.
        name: String,
        /// The call.
        call: CallId,
    },
    /// The app reported progress.
    ToolCallProgress {
        /// The call.
        call: CallId,
        /// Any finite number; 0 to 1 by custom.
        progress: Option<Number>,
        /// For people.
        message: Option<String>,
    },
    /// A call ended.
    ToolCallFinished(FinishedCall),
    /// The policy refused a call; it has no id and never started.
    ToolCallDenied {
        /// The tool.
        name: String,
    },
}

impl Event {
    /// The same event for a reader who wants no payload over so many bytes; `None` is no limit.
    #[must_use]
    pub fn with_payload_limit(mut self, max_bytes: Option<usize>) -> Self {
        if let Some(max_bytes) = max_bytes
            && let EventBody::AppEvent { name, payload: Some(payload), .. } = &mut self.body
            && let Some((payload_preview, payload_bytes)) = preview(payload.as_str(), max_bytes)
        {
            let name = std::mem::take(name);
            self.body = EventBody::AppEventPreview { name, payload_preview, payload_bytes };
        }
        self
    }
}
