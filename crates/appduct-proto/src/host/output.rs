//! What the driver must do next.

use std::collections::VecDeque;
use std::fmt;

use super::session::Label;
use super::{Event, EventBody, FinishedCall, Generation, Records, SocketId};
use crate::wire::{Close, CloseReason, DaemonFrame};
use crate::{Moment, Now};

/// What the driver must do next.
#[derive(Clone, PartialEq)]
pub enum Output {
    /// Send a text message. It may carry a token: `Debug` leaves the text out.
    Send {
        /// To whom.
        socket: SocketId,
        /// The frame, within the frame limit.
        text: String,
    },
    /// Send a WebSocket ping.
    Ping {
        /// To whom.
        socket: SocketId,
    },
    /// Close with a code and reason; nothing more is sent to or taken from this socket.
    Close {
        /// Which.
        socket: SocketId,
        /// How.
        close: Close,
    },
    /// Drop the connection without a handshake: the peer is dead.
    Terminate {
        /// Which.
        socket: SocketId,
    },
    /// Something happened. Comes before the `CallFinished` that it belongs to.
    Event(Event),
    /// A call ended; its caller may be answered.
    CallFinished(FinishedCall),
    /// Write the records down, so that they are on disk even if the machine stops, in place of the last ones. Do it beside
    /// the loop and answer with [`Host::handle_saved`](super::Host::handle_saved); no other save comes before that.
    Save {
        /// What to answer with.
        generation: Generation,
        /// What to write.
        records: Box<Records>,
    },
    /// Nothing more for now. Call [`Host::handle_timeout`](super::Host::handle_timeout) at that moment, if there is one.
    Idle {
        /// The next deadline.
        until: Option<Moment>,
    },
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send { socket, text } => {
                f.debug_struct("Send").field("socket", socket).field("bytes", &text.len()).finish()
            }
            Self::Ping { socket } => f.debug_struct("Ping").field("socket", socket).finish(),
            Self::Close { socket, close } => {
                f.debug_struct("Close").field("socket", socket).field("close", close).finish()
            }
            Self::Terminate { socket } => f.debug_struct("Terminate").field("socket", socket).finish(),
            Self::Event(event) => f.debug_tuple("Event").field(event).finish(),
            Self::CallFinished(call) => f.debug_tuple("CallFinished").field(call).finish(),
            Self::Save { generation, records } => {
                f.debug_struct("Save").field("generation", generation).field("records", records).finish()
            }
            Self::Idle { until } => f.debug_struct("Idle").field("until", until).finish(),
        }
    }
}

/// What one mutation wants done, in order.
#[derive(Debug, Default)]
pub(super) struct Outputs(VecDeque<Output>);

impl Outputs {
    pub(super) fn take(&mut self) -> Option<Output> {
        self.0.pop_front()
    }

    /// Drops what a socket that is gone would still be told; a deadline that came late may have queued something.
    pub(super) fn forget(&mut self, gone: SocketId) {
        self.0.retain(|output| match output {
            Output::Send { socket, .. }
            | Output::Ping { socket }
            | Output::Close { socket, .. }
            | Output::Terminate { socket } => *socket != gone,
            Output::Event(_) | Output::CallFinished(_) | Output::Save { .. } | Output::Idle { .. } => true,
        });
    }

    pub(super) fn send(&mut self, socket: SocketId, label: &Label, frame: &DaemonFrame) {
        self.send_text(socket, frame.encode(&label.session_id));
    }

    pub(super) fn send_text(&mut self, socket: SocketId, text: String) {
        self.0.push_back(Output::Send { socket, text });
    }

    pub(super) fn ping(&mut self, socket: SocketId) {
        self.0.push_back(Output::Ping { socket });
    }

    pub(super) fn close(&mut self, socket: SocketId, reason: CloseReason) {
        self.0.push_back(Output::Close { socket, close: reason.into() });
    }

    pub(super) fn terminate(&mut self, socket: SocketId) {
        self.0.push_back(Output::Terminate { socket });
    }

    /// An event of a link, which has no alias yet.
    pub(super) fn link_event(&mut self, now: Now, session_id: &str, body: EventBody) {
        let session_id = session_id.to_owned();
        self.0.push_back(Output::Event(Event { session_id, alias: None, ts: now.wall, seq: 0, body }));
    }

    /// An event of a session.
    pub(super) fn event(&mut self, now: Now, label: &Label, body: EventBody) {
        self.numbered_event(now, label, 0, body);
    }

    /// An event that the app posted.
    pub(super) fn numbered_event(&mut self, now: Now, label: &Label, seq: u64, body: EventBody) {
        let session_id = label.session_id.to_string();
        let alias = Some(label.alias.to_string());
        self.0.push_back(Output::Event(Event { session_id, alias, ts: now.wall, seq, body }));
    }

    /// The end of a call: first for everyone who listens, then for its caller.
    pub(super) fn finished(&mut self, now: Now, label: &Label, call: FinishedCall) {
        self.event(now, label, EventBody::ToolCallFinished(call.clone()));
        self.0.push_back(Output::CallFinished(call));
    }
}
