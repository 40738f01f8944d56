//! Frames of an active session, in both directions.

use bytes::Bytes;

use super::{Core, PostFault};
use crate::Now;
use crate::app::event::{ClientError, Phase};
use crate::app::fault::SocketError;
use crate::app::options::fits;
use crate::app::output::Output;
use crate::app::state::{Active, Standing};
use crate::wire::{
    AppFrame, CloseReason, DaemonFrame, DaemonReceived, Fields, Length, MAX_FRAME_BYTES, Number, RawJson,
};

impl Core {
    /// A text message came over the current socket.
    pub(super) fn take_text(&mut self, now: Now, text: &Bytes) {
        match &self.standing {
            Standing::Active(_) => self.take_frame(now, text),
            Standing::Claiming(_) | Standing::Resuming(_) => {
                if self.standing.handshake().is_some_and(|handshake| handshake.is_open) {
                    self.take_first(now, DaemonReceived::decode(text));
                }
            }
            Standing::Idle | Standing::Closed => {}
        }
    }

    /// The session is checked for every frame, one of an unknown type included; an unknown type itself is ignored, like a
    /// second ack, and like a `tool_call` without an id, a name, or an object of arguments.
    fn take_frame(&mut self, now: Now, text: &Bytes) {
        let (session_id, frame) = match DaemonReceived::decode(text) {
            DaemonReceived::NotAnObject => {
                self.refuse(now, CloseReason::InvalidMessage, "the daemon sent something that is not a JSON object");
                return;
            }
            DaemonReceived::Frame { session_id, frame, .. } => (session_id, frame),
        };
        if session_id.as_deref() != self.session_id() {
            self.refuse(now, CloseReason::SessionMismatch, "the daemon sent a frame of another session");
            return;
        }
        match frame {
            Ok(Some(DaemonFrame::ToolCall { id, name, args })) => self.start_call(now, id, name, args),
            Ok(Some(DaemonFrame::ToolCancel { id, reason })) => self.cancel_call(id, reason),
            Ok(Some(DaemonFrame::Ack(_)) | None) => {}
            // Only a cancel has a reason to get wrong. A call must not go on because of how its end was worded.
            Err(fault) if fault.field == "reason" => {
                let id = std::str::from_utf8(text).ok().and_then(Fields::parse);
                if let Some(Ok(id)) = id.map(|fields| fields.text("id", Length::ID).map(std::borrow::Cow::into_owned)) {
                    self.cancel_call(id, "client_cancelled".to_owned());
                }
            }
            Err(_) => {}
        }
    }

    /// The daemon broke the protocol: the socket closes with 1008, and the session ends as with the daemon's own 1008.
    fn refuse(&mut self, now: Now, reason: CloseReason, message: &str) {
        let error = SocketError { code: reason.as_str(), message: message.to_owned(), retryable: false };
        self.close_and_lose(now, reason.into(), Some(error));
    }

    pub(super) fn take_binary(&mut self, now: Now) {
        let reason = CloseReason::BinaryNotSupported;
        let message = "the daemon sent a binary message".to_owned();
        let error = SocketError { code: reason.as_str(), message, retryable: true };
        self.close_and_lose(now, reason.into(), Some(error));
    }

    pub(super) fn take_send_failure(&mut self, now: Now) {
        let reason = CloseReason::SendFailed;
        let message = "a write to the socket failed".to_owned();
        let error = SocketError { code: reason.as_str(), message, retryable: true };
        self.close_and_lose(now, reason.into(), Some(error));
    }

    /// No ack came in time.
    pub(super) fn time_handshake_out(&mut self, now: Now) {
        let message = "the daemon did not answer in time".to_owned();
        let error = SocketError { code: "handshake_timeout", message, retryable: true };
        self.close_and_lose(now, CloseReason::SendFailed.into(), Some(error));
    }

    pub(super) fn post(&mut self, now: Now, name: &str, payload: Option<&RawJson>) -> Result<(), PostFault> {
        if !matches!(self.standing, Standing::Active(_)) {
            return Err(PostFault::NotActive);
        }
        if !fits(name, Length::TEXT) {
            return Err(PostFault::Name);
        }
        // Milliseconds of this era are far below what a float holds exactly.
        let ts = Number(now.wall.0 as f64);
        let frame = AppFrame::Event { name: name.to_owned(), ts, payload: payload.cloned() };
        self.send(&frame).map_err(|bytes| {
            self.outputs.error(ClientError::of_size(Phase::Socket, bytes));
            PostFault::TooBig { bytes }
        })
    }

    /// Queues a frame for the active session; the size of a frame that is over the limit otherwise.
    pub(super) fn send(&mut self, frame: &AppFrame) -> Result<(), usize> {
        if let Standing::Active(active) = &self.standing {
            self.outputs.push(active.output(frame)?);
        }
        Ok(())
    }
}

impl Active {
    /// The output that sends `frame`, or the size of a frame that is over the limit.
    pub(super) fn output(&self, frame: &AppFrame) -> Result<Output, usize> {
        let text = frame.encode(&self.held.lease.session_id);
        if text.len() > MAX_FRAME_BYTES { Err(text.len()) } else { Ok(Output::Send { socket: self.socket, text }) }
    }
}
