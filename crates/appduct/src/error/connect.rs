//! Why a connect failed.

use appduct_proto::app::{ConnectFault, SocketError};

use super::Stopped;

/// The driver's name for a key that none of the trusted pins matches.
pub(crate) const PIN_MISMATCH: &str = "pin_mismatch";

/// Why [`connect`](crate::Appduct::connect) failed. Every message says what to do next; none holds a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The text has no `appduct` query parameter.
    #[error("this is not an appduct link; get one with `appduct link`")]
    NotALink,
    /// The payload of the link cannot be read.
    #[error("the appduct link is damaged; copy it whole, or get a new one with `appduct link`")]
    InvalidPayload,
    /// A part of the link is empty or out of range.
    #[error("the appduct link has an invalid {field}; get a new one with `appduct link`")]
    InvalidInput {
        /// Which part.
        field: &'static str,
    },
    /// The link is past its time.
    #[error("the appduct link has expired; get a new one with `appduct link`")]
    Expired,
    /// A session is connecting or active.
    #[error("an appduct session is already connecting or active; disconnect it first")]
    Busy,
    /// The address is neither loopback nor private.
    #[error(
        "the link leads to a public address, which this app does not dial; put both machines on one network, \
         or build the client with `allow_private_lan_only(false)`"
    )]
    PublicAddress,
    /// The trust mode is `pin`, and no pin was built in.
    #[error("this app trusts built-in pins only and has none; build the client with `embedded_pins`")]
    NoEmbeddedPins,
    /// The link carries no pin, and the app trusts no other.
    #[error("the link carries no valid pin; copy it whole, or get a new one with `appduct link`")]
    NoLinkPin,
    /// The trust mode is not one that exists.
    #[error("the trust mode {mode:?} does not exist; use \"link\" or \"pin\"")]
    UnknownTrustMode {
        /// What was configured.
        mode: String,
    },
    /// The daemon's key matches none of the trusted pins. Nothing was sent to it.
    #[error(
        "the daemon's key does not match the pin that this app trusts, so nothing was sent to it; get a new link from the \
         daemon you mean with `appduct link`, and if the app has built-in pins, compare them with that daemon's pin"
    )]
    PinMismatch,
    /// The daemon refused the link.
    #[error("the daemon refused the link ({reason}); get a new one with `appduct link`")]
    Rejected {
        /// The daemon's own word for it, such as `invalid_token` or `already_claimed`.
        reason: String,
    },
    /// The daemon could not be reached, or the link expired while trying.
    #[error("cannot reach the daemon: {message}; check that it runs and that both machines are on one network")]
    Unreachable {
        /// A stable name: `host_unreachable`, `tls_handshake_failed`, `connection_failed`, `receive_failed`.
        code: &'static str,
        /// What happened.
        message: String,
    },
    /// Another connect took over.
    #[error("a newer connect took over; wait for that one")]
    Superseded,
    /// The app disconnected meanwhile.
    #[error("the app disconnected while it was connecting; connect again if that was not meant")]
    ClosedByApp,
    /// The client is not running.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Appduct is compiled out of this build.
    #[error("appduct is compiled out of this build; build it with the feature `enabled` and without `noop`")]
    Disabled,
}

impl From<ConnectFault> for ConnectError {
    fn from(fault: ConnectFault) -> Self {
        match fault {
            ConnectFault::InvalidInput(field) => Self::InvalidInput { field },
            ConnectFault::Expired => Self::Expired,
            ConnectFault::Busy => Self::Busy,
            ConnectFault::NotALink => Self::NotALink,
            ConnectFault::InvalidPayload => Self::InvalidPayload,
            ConnectFault::PublicAddress => Self::PublicAddress,
            ConnectFault::NoEmbeddedPins => Self::NoEmbeddedPins,
            ConnectFault::NoLinkPin => Self::NoLinkPin,
            ConnectFault::UnknownTrustMode(mode) => Self::UnknownTrustMode { mode },
            ConnectFault::Rejected(reason) => Self::Rejected { reason },
            ConnectFault::Socket(SocketError { code: PIN_MISMATCH, .. }) => Self::PinMismatch,
            ConnectFault::Socket(SocketError { code, message, .. }) => Self::Unreachable { code, message },
            ConnectFault::Superseded => Self::Superseded,
            ConnectFault::ClosedByApp => Self::ClosedByApp,
        }
    }
}
