//! One session: an app that claimed a link, connected or not.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::call::CallNo;
use super::registry::{EventRegistry, ToolRegistry};
use super::ring::Ring;
use super::secret::Digest;
use super::socket::Turn;
use super::{Refusal, SocketId, Transport};
use crate::wire::Device;
use crate::{Moment, Timestamp};

/// Why a session has no socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspendReason {
    /// The app said that it goes to the background.
    AppBackgrounded,
    /// Anything else.
    ConnectionLost,
}

/// A live session as listings show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub session_id: String,
    /// Its name for people.
    pub alias: String,
    /// What the app said of its device.
    pub device: Device,
    /// The listener that it was claimed on.
    pub transport: Transport,
    /// When its link was minted.
    pub created_at: Timestamp,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// Since when and why it has no socket; `None` while it is active.
    pub suspended: Option<(Timestamp, SuspendReason)>,
    /// The size of its tool registry.
    pub tool_count: usize,
    /// Whether its app has yet to say which tools it has, since the claim or since the host began.
    pub tools_pending: bool,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) label: Label,
    pub(super) device: Device,
    pub(super) transport: Transport,
    pub(super) created_at: Timestamp,
    pub(super) claimed_at: Timestamp,
    pub(super) state: State,
    /// The newest token.
    pub(super) resume_token: Digest,
    /// What the app may show instead while nothing proves that it has the newest ack.
    pub(super) unproven: Option<Unproven>,
    /// Whether the newest token has left, on the socket that the session has. Until then no frame proves that the app has
    /// it.
    pub(super) ack_left: bool,
    /// The turn of the socket of the newest claim or resume that was accepted.
    pub(super) turn: Turn,
    /// The socket of a resume whose ack waits for its save.
    pub(super) parked: Option<SocketId>,
    pub(super) tools: ToolRegistry,
    /// Whether the app has not told them yet.
    pub(super) tools_pending: bool,
    pub(super) events: EventRegistry,
    pub(super) ring: Ring,
    /// The calls in flight, in the order in which they were sent.
    pub(super) calls: BTreeSet<CallNo>,
}

/// How events and replies name a session.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) session_id: Arc<str>,
    pub(super) alias: Arc<str>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Active {
        socket: SocketId,
        /// Pings in a row that no pong answered.
        missed: u8,
    },
    Suspended {
        since: Timestamp,
        reason: SuspendReason,
        /// When the grace ends.
        until: Moment,
    },
}

/// What the app had to show before an ack that it may not have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unproven {
    /// The token of the link, good until the link would have expired.
    Claim { token: Digest, expires: Moment },
    /// The resume token before the newest.
    Resume { token: Digest },
}

impl Session {
    /// A session that has registered nothing.
    pub(super) fn new(
        session_id: Arc<str>,
        alias: Arc<str>,
        device: Device,
        state: State,
        resume_token: Digest,
    ) -> Self {
        Self {
            label: Label { session_id, alias },
            device,
            transport: Transport::default(),
            created_at: Timestamp::default(),
            claimed_at: Timestamp::default(),
            state,
            resume_token,
            unproven: None,
            ack_left: false,
            turn: Turn::default(),
            parked: None,
            tools: ToolRegistry::default(),
            tools_pending: true,
            events: EventRegistry::default(),
            ring: Ring::default(),
            calls: BTreeSet::new(),
        }
    }

    pub(super) fn socket(&self) -> Option<SocketId> {
        match self.state {
            State::Active { socket, .. } => Some(socket),
            State::Suspended { .. } => None,
        }
    }

    /// The socket, or why a command that needs one is refused.
    pub(super) fn active_socket(&self) -> Result<SocketId, Refusal> {
        match self.state {
            State::Active { socket, .. } => Ok(socket),
            State::Suspended { reason, .. } => {
                Err(Refusal::SessionSuspended { alias: self.label.alias.to_string(), reason })
            }
        }
    }

    pub(super) fn summary(&self) -> SessionSummary {
        SessionSummary {
            session_id: self.label.session_id.to_string(),
            alias: self.label.alias.to_string(),
            device: self.device.clone(),
            transport: self.transport,
            created_at: self.created_at,
            claimed_at: self.claimed_at,
            suspended: match self.state {
                State::Active { .. } => None,
                State::Suspended { since, reason, .. } => Some((since, reason)),
            },
            tool_count: self.tools.len(),
            tools_pending: self.tools_pending,
        }
    }
}
