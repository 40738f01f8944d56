//! Where a client stands.

use std::fmt;

use super::keepalive::Keepalive;
use super::options::ConnectInput;
use super::{AttemptId, Core, Lease, SocketId};
use crate::Moment;
use crate::app::event::ClientEvent;
use crate::app::output::Output;
use crate::wire::Pin;

/// Where the client stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing has been asked for.
    #[default]
    Idle,
    /// A claim is under way.
    Connecting,
    /// The session has a socket.
    Active,
    /// The session lost its socket and will get another.
    Reconnecting,
    /// The session is over.
    Closed,
}

impl State {
    /// The name that every binding shows.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Active => "active",
            Self::Reconnecting => "reconnecting",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A [`State`] with all that belongs to it, so that nothing outlives it.
#[derive(Debug)]
pub(super) enum Standing {
    Idle,
    Claiming(Box<Claim>),
    Active(Box<Active>),
    Resuming(Box<Resuming>),
    Closed,
}

/// A `connect` on its way to the ack.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) input: ConnectInput,
    pub(super) pins: Vec<Pin>,
    pub(super) origin: Origin,
    /// `None` while it waits for its next attempt.
    pub(super) handshake: Option<Handshake>,
    /// Why the latest attempt failed.
    pub(super) last_cause: String,
}

/// Who asked for a claim, and so who hears of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A caller that waits for this attempt to settle.
    Caller(AttemptId),
    /// A URL from the system: nobody waits, listeners hear of a failure.
    Url,
}

/// A socket before its ack.
#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) socket: SocketId,
    pub(super) asked_at: Moment,
    pub(super) is_open: bool,
}

/// A session that was acked, and how to reach its daemon.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    pub(super) pins: Vec<Pin>,
}

/// A session with its socket.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) held: Held,
    pub(super) socket: SocketId,
    /// Whether the ack on this socket allowed event registry frames.
    pub(super) takes_events: bool,
    pub(super) tool_snapshot_waits: bool,
    pub(super) event_snapshot_waits: bool,
    pub(super) keepalive: Keepalive,
}

/// A session without a socket.
#[derive(Debug)]
pub(super) struct Resuming {
    pub(super) held: Held,
    /// `None` while it waits for its next attempt or for the foreground.
    pub(super) handshake: Option<Handshake>,
}

impl Standing {
    pub(super) fn state(&self) -> State {
        match self {
            Self::Idle => State::Idle,
            Self::Claiming(_) => State::Connecting,
            Self::Active(_) => State::Active,
            Self::Resuming(_) => State::Reconnecting,
            Self::Closed => State::Closed,
        }
    }

    pub(super) fn held(&self) -> Option<&Held> {
        match self {
            Self::Active(active) => Some(&active.held),
            Self::Resuming(resuming) => Some(&resuming.held),
            Self::Idle | Self::Claiming(_) | Self::Closed => None,
        }
    }

    pub(super) fn session_id(&self) -> Option<&str> {
        match self {
            Self::Claiming(claim) => Some(&claim.input.session_id),
            Self::Idle | Self::Active(_) | Self::Resuming(_) | Self::Closed => {
                self.held().map(|held| held.lease.session_id.as_str())
            }
        }
    }

    /// The session whose socket is this one.
    pub(super) fn active_on(&mut self, socket: SocketId) -> Option<&mut Active> {
        match self {
            Self::Active(active) => Some(active.as_mut()).filter(|active| active.socket == socket),
            Self::Idle | Self::Claiming(_) | Self::Resuming(_) | Self::Closed => None,
        }
    }

    /// The socket before its ack, if there is one.
    pub(super) fn handshake(&self) -> Option<&Handshake> {
        match self {
            Self::Claiming(claim) => claim.handshake.as_ref(),
            Self::Resuming(resuming) => resuming.handshake.as_ref(),
            Self::Idle | Self::Active(_) | Self::Closed => None,
        }
    }

    /// The one socket that counts; events of any other are stale.
    pub(super) fn socket(&self) -> Option<SocketId> {
        match self {
            Self::Active(active) => Some(active.socket),
            Self::Idle | Self::Claiming(_) | Self::Resuming(_) | Self::Closed => {
                self.handshake().map(|handshake| handshake.socket)
            }
        }
    }
}

impl Core {
    /// Takes a new standing and tells the listeners. Silent only where the state is the same and no reason is given, so
    /// `disconnect` on a closed client is still confirmed. Returns what was there before.
    pub(super) fn enter(&mut self, next: Standing, reason: Option<&str>) -> Standing {
        let before = std::mem::replace(&mut self.standing, next);
        let state = self.standing.state();
        if before.state() != state || reason.is_some() {
            let reason = reason.map(str::to_owned);
            self.outputs.push(Output::Event(ClientEvent::State { state, reason }));
        }
        before
    }
}
