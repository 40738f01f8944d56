//! What the app's listeners hear.

use super::fault::{ConnectFault, over_the_limit};
use super::state::State;

/// What the app's listeners hear.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The state changed, or was confirmed with a reason.
    State {
        /// The state.
        state: State,
        /// Why, where that is known: `connect_error`, or the reason of [`SessionChange::Lost`].
        reason: Option<String>,
    },
    /// The session changed.
    Session(SessionChange),
    /// Something went wrong.
    Error(ClientError),
}

/// What happened to the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// A link was claimed.
    Claimed {
        /// The session.
        session_id: String,
        /// Its alias.
        alias: String,
    },
    /// The session has a socket again.
    Resumed {
        /// The session.
        session_id: String,
        /// Its alias.
        alias: String,
    },
    /// The session is over.
    Lost {
        /// Why: `closed_by_app`, `grace_expired`, `revoked`, `rejected_by_daemon`, or the daemon's own reason.
        reason: String,
    },
}

/// Which part of the work an error came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading a link, or connecting by one.
    Bootstrap,
    /// A claim.
    Connect,
    /// An established session.
    Socket,
    /// A tool.
    Tool,
}

impl Phase {
    /// The name that bindings show.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Connect => "connect",
            Self::Socket => "socket",
            Self::Tool => "tool",
        }
    }
}

/// An error for the app's listeners. It loses nothing by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientError {
    /// Where it came from.
    pub phase: Phase,
    /// For people; holds no secret.
    pub message: String,
    /// A stable name, where there is one.
    pub code: Option<String>,
    /// The daemon's close reason, where it closed.
    pub close_reason: Option<String>,
    /// Whether the core tries again.
    pub retryable: Option<bool>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The tool, in phase `Tool`.
    pub tool: Option<String>,
    /// The call, in phase `Tool`.
    pub call: Option<String>,
}

impl ClientError {
    pub(super) fn new(phase: Phase, message: impl Into<String>) -> Self {
        Self {
            phase,
            message: message.into(),
            code: None,
            close_reason: None,
            retryable: None,
            hint: None,
            tool: None,
            call: None,
        }
    }

    /// The error for a connect that came to `fault`.
    pub(super) fn of_fault(phase: Phase, fault: &ConnectFault) -> Self {
        let close_reason = match fault {
            ConnectFault::Rejected(reason) => Some(reason.clone()),
            ConnectFault::InvalidInput(_)
            | ConnectFault::Expired
            | ConnectFault::Busy
            | ConnectFault::NotALink
            | ConnectFault::InvalidPayload
            | ConnectFault::PublicAddress
            | ConnectFault::NoEmbeddedPins
            | ConnectFault::NoLinkPin
            | ConnectFault::UnknownTrustMode(_)
            | ConnectFault::Socket(_)
            | ConnectFault::Superseded
            | ConnectFault::ClosedByApp => None,
        };
        Self {
            code: Some(fault.code().to_owned()),
            close_reason,
            retryable: Some(false),
            hint: fault.hint().map(str::to_owned),
            ..Self::new(phase, fault.to_string())
        }
    }

    /// The error for a frame that was not sent because it has `bytes`.
    pub(super) fn of_size(phase: Phase, bytes: usize) -> Self {
        Self { retryable: Some(false), ..Self::new(phase, over_the_limit(bytes)) }
    }
}
