//! The lease: what a reload needs to resume the session.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use super::grace::{MIN_KEEPALIVE, milliseconds};
use super::options::fits;
use crate::Timestamp;
use crate::wire::{Fields, IntegerFrom, Length, Number, Object, Pin};

/// What a core keeps so that a reload can resume the session. Holds the resume token: never log it.
///
/// Where it is kept, and which reloads it survives, is the driver's choice; native apps keep it in memory, never on disk.
#[derive(Clone, PartialEq)]
pub struct Lease {
    /// The session.
    pub session_id: String,
    /// The newest resume token.
    pub resume_token: String,
    /// The session's alias.
    pub alias: String,
    /// The daemon's address.
    pub address: IpAddr,
    /// The daemon's port.
    pub port: u16,
    /// From the ack, in seconds.
    pub keepalive_interval_s: f64,
    /// From the ack, in seconds.
    pub grace_s: f64,
    /// When the socket was lost first; `None` while it is there.
    pub disconnected_at: Option<Timestamp>,
    /// The pin that came with the link.
    pub link_pin: Option<Pin>,
}

const SCHEMA_VERSION: u64 = 1;

impl Lease {
    /// The lease as JSON, for stores that take text. Holds the resume token.
    #[must_use]
    pub fn encode(&self) -> String {
        let endpoint = Object::new().text("ip", &self.address.to_string()).display("port", self.port).into_raw();
        let lease = Object::new()
            .display("schemaVersion", SCHEMA_VERSION)
            .text("sessionId", &self.session_id)
            .text("resumeToken", &self.resume_token)
            .text("alias", &self.alias)
            .raw("endpoint", &endpoint)
            .display("keepaliveIntervalS", Number(self.keepalive_interval_s))
            .display("graceS", Number(self.grace_s));
        let lease = match self.disconnected_at {
            Some(at) => lease.display("disconnectedAtMs", at.0),
            None => lease.display("disconnectedAtMs", "null"),
        };
        match self.link_pin {
            Some(pin) => lease.text("linkPin", &pin.to_string()),
            None => lease.display("linkPin", "null"),
        }
        .finish()
    }

    /// Reads what [`Lease::encode`] wrote. `None` for anything else: it must be cleared and counts as no lease.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let fields = Fields::parse(text)?;
        if fields.optional_integer("schemaVersion", IntegerFrom::One).ok()? != Some(SCHEMA_VERSION) {
            return None;
        }
        let endpoint = Fields::parse(fields.get("endpoint")?.get())?;
        let port = endpoint.optional_integer("port", IntegerFrom::One).ok()??;
        let present = |key| fields.get(key).is_some_and(|value| value.get() != "null");
        let disconnected_at = match present("disconnectedAtMs") {
            true => fields.optional_integer("disconnectedAtMs", IntegerFrom::Zero).ok()?.map(Timestamp),
            false => None,
        };
        let link_pin = match present("linkPin") {
            true => Some(fields.text("linkPin", Length::ANY).ok()?.parse().ok()?),
            false => None,
        };
        let lease = Self {
            session_id: fields.text("sessionId", Length::ID).ok()?.into_owned(),
            resume_token: fields.text("resumeToken", Length::ID).ok()?.into_owned(),
            alias: fields.text("alias", Length::ID).ok()?.into_owned(),
            address: endpoint.text("ip", Length::TEXT).ok()?.parse().ok()?,
            port: u16::try_from(port).ok()?,
            keepalive_interval_s: fields.optional_number("keepaliveIntervalS").ok()??,
            grace_s: fields.optional_number("graceS").ok()??,
            disconnected_at,
            link_pin,
        };
        lease.is_valid().then_some(lease)
    }

    /// Whether every field is within its bounds; a lease that went through a foreign store may be anything.
    pub(super) fn is_valid(&self) -> bool {
        let ids = [&self.session_id, &self.resume_token, &self.alias];
        let seconds = [self.keepalive_interval_s, self.grace_s];
        ids.into_iter().all(|id| fits(id, Length::ID))
            && seconds.into_iter().all(|seconds| seconds.is_finite() && seconds > 0.0)
            && self.port != 0
    }

    /// How long the session may be without a socket.
    pub(super) fn grace(&self) -> Duration {
        milliseconds(self.grace_s)
    }

    /// How often to ping. An interval of under a second is taken as a second: a daemon must not make the app spin.
    pub(super) fn keepalive_interval(&self) -> Duration {
        milliseconds(self.keepalive_interval_s).max(MIN_KEEPALIVE)
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("session_id", &self.session_id)
            .field("alias", &self.alias)
            .field("disconnected_at", &self.disconnected_at)
            .finish_non_exhaustive()
    }
}
