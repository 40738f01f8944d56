//! Why the core does not do what the app asks, and why sockets fail.

use std::fmt;

use crate::wire::MAX_FRAME_BYTES;

/// How a socket ended, or why it never opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketLoss {
    /// The close code that came over the wire, if one did.
    pub code: Option<u16>,
    /// The close reason that came over the wire.
    pub reason: Option<String>,
    /// What the driver knows beyond that.
    pub error: Option<SocketError>,
}

/// What the driver knows of a failed socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketError {
    /// A stable name: `pin_mismatch`, `host_unreachable`, `tls_handshake_failed`, `connection_failed`, `receive_failed`.
    /// The core adds `send_failed`, `keepalive_ping_failed` and `handshake_timeout`.
    pub code: &'static str,
    /// For people; holds no secret.
    pub message: String,
    /// Whether trying again can help where the socket never opened; a native driver says yes to all but configuration, a
    /// browser, which cannot tell a dead daemon from a blocked one, says no. A pin mismatch cannot be retried, whatever
    /// this says.
    pub retryable: bool,
}

/// The code of a socket error that no second attempt can mend.
const PIN_MISMATCH: &str = "pin_mismatch";

impl SocketError {
    /// Whether a claim whose socket never opened may be tried again.
    pub(super) fn is_worth_a_retry(&self) -> bool {
        self.retryable && self.code != PIN_MISMATCH
    }
}

impl SocketLoss {
    /// What happened, for people: what this side knows, else the close reason, else the close code.
    pub(super) fn cause(&self) -> String {
        let reason = self.reason.as_deref().filter(|reason| !reason.is_empty());
        match (&self.error, reason, self.code) {
            (Some(error), _, _) => error.message.clone(),
            (None, Some(reason), _) => reason.to_owned(),
            (None, None, Some(code)) => format!("the connection was closed with code {code}"),
            (None, None, None) => "the connection was lost".to_owned(),
        }
    }

    /// The daemon's reason for closing with 1008, word for word.
    pub(super) fn rejection(&self) -> Option<String> {
        let reason = self.reason.clone().filter(|reason| !reason.is_empty());
        (self.code == Some(1008)).then(|| reason.unwrap_or_else(|| "rejected_by_daemon".to_owned()))
    }
}

/// Why a connect is refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectFault {
    /// A field is empty or out of range.
    InvalidInput(&'static str),
    /// The link is past its time.
    Expired,
    /// A session is connecting or active and `supersede` was not asked for.
    Busy,
    /// The URL is not an appduct link.
    NotALink,
    /// The payload cannot be read.
    InvalidPayload,
    /// The address is not loopback or private, and the build allows no other.
    PublicAddress,
    /// The build trusts embedded pins only and has none.
    NoEmbeddedPins,
    /// The build trusts the link's pin and the link has none.
    NoLinkPin,
    /// The build's trust mode is not one that exists.
    UnknownTrustMode(String),
    /// The daemon closed with 1008.
    Rejected(String),
    /// The socket failed in a way that trying again cannot mend, or the link expired while trying.
    Socket(SocketError),
    /// Another connect took over.
    Superseded,
    /// The app disconnected.
    ClosedByApp,
}

impl ConnectFault {
    /// A stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput(_) => "invalid_input",
            Self::Expired => "expired_payload",
            Self::Busy => "busy",
            Self::NotALink => "missing_payload",
            Self::InvalidPayload => "invalid_payload",
            Self::PublicAddress => "public_address",
            Self::NoEmbeddedPins => "no_embedded_pins",
            Self::NoLinkPin => "no_link_pin",
            Self::UnknownTrustMode(_) => "unknown_trust_mode",
            Self::Rejected(_) => "session_claim_rejected",
            Self::Socket(error) => error.code,
            Self::Superseded => "superseded",
            Self::ClosedByApp => "closed_by_app",
        }
    }

    /// What to do about it, where there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Expired | Self::InvalidPayload | Self::Rejected(_) | Self::NotALink => {
                Some("Links are good once and for a short time: make a new one with `appduct link`.")
            }
            Self::PublicAddress => {
                Some("Reach the daemon by a private address, or build the app with private addresses not required.")
            }
            Self::NoEmbeddedPins => Some("Build the daemon's pin into the app, or set its trust to `link`."),
            Self::NoLinkPin => Some("Use the whole link as `appduct link` prints it, its `pin` included."),
            Self::UnknownTrustMode(_) => Some("Set the app's trust to `link` or `pin`."),
            Self::Socket(error) => socket_hint(error.code),
            Self::InvalidInput(_) | Self::Busy | Self::Superseded | Self::ClosedByApp => None,
        }
    }
}

/// What to do about a socket that failed with this code.
pub(super) fn socket_hint(code: &str) -> Option<&'static str> {
    match code {
        PIN_MISMATCH => Some("The daemon has another key than the app trusts: make a new link with `appduct link`."),
        "host_unreachable" | "connection_failed" | "handshake_timeout" => {
            Some("Check that the daemon runs and that this device is on its network.")
        }
        _ => None,
    }
}

/// Why an event was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostFault {
    /// The session has no socket.
    NotActive,
    /// The name is not 1 to 4096 UTF-16 units.
    Name,
    /// The frame is over the limit.
    TooBig {
        /// Its size.
        bytes: usize,
    },
}

/// The words for a frame of `bytes` that is over the limit.
pub(super) fn over_the_limit(bytes: usize) -> String {
    format!("Appduct frame is {bytes} bytes, over the {MAX_FRAME_BYTES}-byte limit.")
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SocketError {}

impl fmt::Display for ConnectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidInput(field) => write!(f, "\"{field}\" is empty or out of range"),
            Self::Expired => f.write_str("the link has expired"),
            Self::Busy => f.write_str("an appduct session is already connecting or active"),
            Self::NotALink => f.write_str("the URL is not an appduct link"),
            Self::InvalidPayload => f.write_str("the link's payload cannot be read"),
            Self::PublicAddress => f.write_str("the app only connects to loopback and private addresses"),
            Self::NoEmbeddedPins => f.write_str("the app trusts embedded pins only and has none"),
            Self::NoLinkPin => f.write_str("the app trusts the link's pin and the link has none"),
            Self::UnknownTrustMode(mode) => write!(f, "the app's trust {mode:?} is neither \"link\" nor \"pin\""),
            Self::Rejected(reason) => write!(f, "the daemon refused the connection: {reason}"),
            Self::Socket(error) => fmt::Display::fmt(error, f),
            Self::Superseded => f.write_str("a fresh connection took over"),
            Self::ClosedByApp => f.write_str("the app disconnected"),
        }
    }
}

impl std::error::Error for ConnectFault {}

impl fmt::Display for PostFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotActive => f.write_str("no appduct session is active"),
            Self::Name => f.write_str("an event name must be 1 to 4096 characters"),
            Self::TooBig { bytes } => f.write_str(&over_the_limit(*bytes)),
        }
    }
}

impl std::error::Error for PostFault {}
