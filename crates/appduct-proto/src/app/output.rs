//! What comes out of a core.

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;

use super::event::{ClientError, ClientEvent};
use super::fault::ConnectFault;
use super::lease::Lease;
use super::{AttemptId, Registration, SocketId};
use crate::Moment;
use crate::wire::{Close, Pin, RawJson};

/// What the driver must do next. Frames may hold tokens and app data: `Debug` shows their size only.
#[derive(Clone, PartialEq)]
pub enum Output {
    /// Open a WebSocket; answer with `handle_opened` or `handle_lost`.
    Open {
        /// Its number.
        socket: SocketId,
        /// Where to.
        address: IpAddr,
        /// Where to.
        port: u16,
        /// The pins of which the peer's key must match one, before a byte is sent. Empty for the browser's plain socket
        /// only.
        pins: Vec<Pin>,
    },
    /// Send a text message.
    Send {
        /// Over which.
        socket: SocketId,
        /// The frame, within the frame limit.
        text: String,
    },
    /// Send a WebSocket ping.
    Ping {
        /// Over which.
        socket: SocketId,
    },
    /// Close, or drop it if it has not opened; whatever the socket says after this is ignored.
    Close {
        /// Which.
        socket: SocketId,
        /// How.
        close: Close,
    },
    /// Store the lease, replacing any other.
    StoreLease(Lease),
    /// Forget the lease.
    ClearLease,
    /// Tell the listeners.
    Event(ClientEvent),
    /// Run a handler; answer with `respond`.
    RunTool {
        /// The call.
        call: String,
        /// The tool; it is registered.
        name: String,
        /// Which registration of it.
        registration: Registration,
        /// A JSON object.
        args: RawJson,
    },
    /// Tell a running handler to stop; its answer will be dropped.
    CancelTool {
        /// The call.
        call: String,
        /// Why: `timeout`, `session_suspended`, or the daemon's reason.
        reason: String,
    },
    /// A `connect` came to its end.
    Settled {
        /// Which.
        attempt: AttemptId,
        /// How.
        result: Result<(), ConnectFault>,
    },
    /// Nothing more for now. Call `handle_timeout` at that moment, if there is one.
    Idle {
        /// The next deadline.
        until: Option<Moment>,
    },
}

/// What waits to be polled.
#[derive(Debug)]
pub(super) enum Queued {
    Output(Output),
    /// A tool snapshot, taken when its turn comes.
    ToolSnapshot(SocketId),
    /// An event snapshot, taken when its turn comes.
    EventSnapshot(SocketId),
}

#[derive(Debug, Default)]
pub(super) struct Outputs(VecDeque<Queued>);

impl Outputs {
    pub(super) fn push(&mut self, output: Output) {
        self.0.push_back(Queued::Output(output));
    }

    pub(super) fn error(&mut self, error: ClientError) {
        self.push(Output::Event(ClientEvent::Error(error)));
    }

    /// Queues a snapshot behind what waits.
    pub(super) fn push_snapshot(&mut self, snapshot: Queued) {
        self.0.push_back(snapshot);
    }

    pub(super) fn pop(&mut self) -> Option<Queued> {
        self.0.pop_front()
    }

    /// Drops what waits to go over a socket that is gone; a timer that came late may have queued something.
    pub(super) fn forget(&mut self, gone: SocketId) {
        self.0.retain(|queued| match queued {
            Queued::ToolSnapshot(socket) | Queued::EventSnapshot(socket) => *socket != gone,
            Queued::Output(output) => match output {
                Output::Open { socket, .. }
                | Output::Send { socket, .. }
                | Output::Ping { socket }
                | Output::Close { socket, .. } => *socket != gone,
                Output::StoreLease(_)
                | Output::ClearLease
                | Output::Event(_)
                | Output::RunTool { .. }
                | Output::CancelTool { .. }
                | Output::Settled { .. }
                | Output::Idle { .. } => true,
            },
        });
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { socket, address, port, pins } => f
                .debug_struct("Open")
                .field("socket", socket)
                .field("address", address)
                .field("port", port)
                .field("pins", pins)
                .finish(),
            Self::Send { socket, text } => {
                f.debug_struct("Send").field("socket", socket).field("bytes", &text.len()).finish()
            }
            Self::Ping { socket } => f.debug_struct("Ping").field("socket", socket).finish(),
            Self::Close { socket, close } => {
                f.debug_struct("Close").field("socket", socket).field("close", close).finish()
            }
            Self::StoreLease(lease) => f.debug_tuple("StoreLease").field(lease).finish(),
            Self::ClearLease => f.write_str("ClearLease"),
            Self::Event(event) => f.debug_tuple("Event").field(event).finish(),
            Self::RunTool { call, name, registration, args } => f
                .debug_struct("RunTool")
                .field("call", call)
                .field("name", name)
                .field("registration", registration)
                .field("args_bytes", &args.len_bytes())
                .finish(),
            Self::CancelTool { call, reason } => {
                f.debug_struct("CancelTool").field("call", call).field("reason", reason).finish()
            }
            Self::Settled { attempt, result } => {
                f.debug_struct("Settled").field("attempt", attempt).field("result", result).finish()
            }
            Self::Idle { until } => f.debug_struct("Idle").field("until", until).finish(),
        }
    }
}
