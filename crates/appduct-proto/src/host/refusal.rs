//! Why the host does not do what a command asks.

use std::time::Duration;

use super::{DeniedReason, SuspendReason};

/// Why the host does not do what a command asks. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No session is live.
    NoSession,
    /// No selector was given and several sessions are live.
    AmbiguousSession {
        /// Their aliases in claim order.
        aliases: Vec<String>,
    },
    /// No live session has this id or alias.
    UnknownSession {
        /// What was given.
        selector: String,
    },
    /// The session has no app connected.
    SessionSuspended {
        /// The session.
        alias: String,
        /// Why.
        reason: SuspendReason,
    },
    /// The session has no such tool.
    ToolNotFound {
        /// What was asked for.
        tool: String,
        /// The session.
        alias: String,
    },
    /// The policy does not allow the call. The event `ToolCallDenied` says so too.
    PolicyDenied {
        /// The tool.
        tool: String,
        /// The session.
        alias: String,
        /// Why.
        reason: DeniedReason,
    },
    /// Too many calls are in flight on this session.
    TooManyCalls {
        /// The session.
        alias: String,
        /// The bound.
        limit: usize,
    },
    /// The call does not fit into a frame.
    CallTooBig {
        /// The tool.
        tool: String,
        /// The size of the frame that would have been sent.
        bytes: usize,
    },
    /// The call does not fit into what the driver can queue for the session.
    QueueFull {
        /// The tool.
        tool: String,
        /// The session.
        alias: String,
        /// The size of the frame that would have been sent.
        bytes: usize,
    },
    /// The TTL is zero or over the bound.
    LinkTtl {
        /// The longest.
        max: Duration,
    },
    /// Too many links are pending.
    TooManyLinks {
        /// The bound.
        limit: usize,
    },
}
