//! What a connected app says.

use super::registry::{Full, Room};
use super::ring::{Capacity, starts_block};
use super::saves::Haste;
use super::sessions::SessionNo;
use super::{EventBody, Host, Outcome};
use crate::Now;
use crate::wire::{AppFrame, CloseReason, FieldFault, Received};

impl Host {
    /// Takes a message of a claimed socket, or says how the socket is closed. The first check that fails decides.
    pub(super) fn take_message(&mut self, now: Now, no: SessionNo, received: Received) -> Result<(), CloseReason> {
        let (session_id, frame, is_registry) = match received {
            Received::NotAnObject => return Err(CloseReason::InvalidJson),
            Received::Hello(_) | Received::Unknown => return Err(CloseReason::UnknownMessageType),
            Received::Frame { session_id, frame, is_registry } => (session_id, frame, is_registry),
        };
        let session = self.sessions.get_mut(no).ok_or(CloseReason::UnknownSession)?;
        if session_id.as_deref() != Some(&*session.label.session_id) {
            return Err(CloseReason::SessionMismatch);
        }
        // The app speaks as this session after the ack left, so it has the ack and its newest token.
        if session.ack_left && session.unproven.take().is_some() {
            self.changed(now, Haste::Soon);
        }
        let frame =
            frame.map_err(
                |FieldFault { .. }| {
                    if is_registry { CloseReason::InvalidRegistry } else { CloseReason::InvalidMessage }
                },
            )?;
        self.take_frame(now, no, frame).map_err(|Full| CloseReason::InvalidRegistry)
    }

    fn take_frame(&mut self, now: Now, no: SessionNo, frame: AppFrame) -> Result<(), Full> {
        let bytes = self.settings.max_registry_bytes;
        let tool_room = Room { entries: self.settings.max_tools, bytes };
        let event_room = Room { entries: self.settings.max_events, bytes };
        let Some(session) = self.sessions.get_mut(no) else { return Ok(()) };
        match frame {
            AppFrame::ToolSnapshot(tools) => {
                session.tools.replace(tools, tool_room)?;
                self.tools_changed(now, no);
            }
            AppFrame::ToolUpsert(tool) => {
                session.tools.upsert(*tool, tool_room)?;
                self.tools_changed(now, no);
            }
            AppFrame::ToolRemove(name) => {
                if session.tools.remove(&name) {
                    self.tools_changed(now, no);
                }
            }
            AppFrame::EventSnapshot(events) => {
                session.events.replace(events, event_room)?;
                self.events_changed(now, no);
            }
            AppFrame::EventUpsert(event) => {
                session.events.upsert(*event, event_room)?;
                self.events_changed(now, no);
            }
            AppFrame::EventRemove(name) => {
                if session.events.remove(&name).is_some() {
                    self.events_changed(now, no);
                }
            }
            AppFrame::ToolResult { id, result } => self.take_answer(now, no, &id, Outcome::Result(result)),
            AppFrame::ToolError { id, error } => self.take_answer(now, no, &id, Outcome::Error(error)),
            AppFrame::ToolCallProgress { id, progress, message } => {
                if let Some((_, call)) = self.calls.find(&id, no) {
                    let body = EventBody::ToolCallProgress { call: call.clone(), progress, message };
                    self.outputs.event(now, &session.label, body);
                }
            }
            AppFrame::Event { name, ts, payload } => {
                let capacity = Capacity { events: self.settings.event_buffer, bytes: self.settings.event_buffer_bytes };
                let seq = session.ring.push(capacity, now.wall, &name, ts, payload.as_ref());
                self.outputs.numbered_event(now, &session.label, seq, EventBody::AppEvent { name, ts, payload });
                if starts_block(seq) {
                    self.changed(now, Haste::Soon);
                }
            }
        }
        Ok(())
    }

    /// An answer to a call that has ended, or that was never made, is dropped.
    fn take_answer(&mut self, now: Now, no: SessionNo, id: &str, outcome: Outcome) {
        if let Some((call, _)) = self.calls.find(id, no) {
            self.answer(now, no, call, outcome);
        }
    }

    fn tools_changed(&mut self, now: Now, no: SessionNo) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        session.tools_pending = false;
        self.outputs.event(now, &session.label, EventBody::ToolsChanged { tool_count: session.tools.len() });
    }

    fn events_changed(&mut self, now: Now, no: SessionNo) {
        let Some(session) = self.sessions.get(no) else { return };
        self.outputs.event(now, &session.label, EventBody::EventsChanged { event_count: session.events.len() });
    }
}
