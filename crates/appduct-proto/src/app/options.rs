//! What goes into a core: how it is made, and what it connects with.

use std::fmt;
use std::net::IpAddr;

use super::fault::ConnectFault;
use super::trust::Trust;
use crate::Now;
use crate::wire::{Bootstrap, Device, Length, MAX_DEVICE_UNITS, Pin, utf16_len};

/// What a core is made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Sent with every claim.
    pub device: Device,
    /// Whom the app trusts.
    pub trust: Trust,
    /// Where backoff takes its randomness from.
    pub jitter: Jitter,
    /// Whether the driver can send WebSocket pings (a browser cannot).
    pub pings: bool,
}

/// Randomness for the reconnect backoff, which needs to be spread, not secret.
#[derive(Clone, Copy, Debug)]
pub enum Jitter {
    /// A sequence that follows from this seed.
    Seeded(u64),
    /// Always this number, 0 to 1; for tests.
    Fixed(f64),
}

/// Where to connect and with what. Tokens are secret: `Debug` leaves them out.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectInput {
    /// The daemon's address.
    pub address: IpAddr,
    /// The daemon's port.
    pub port: u16,
    /// The session to claim or resume.
    pub session_id: String,
    /// What to show for it.
    pub secret: Secret,
    /// When this input stops being good, in Unix seconds.
    pub expires_at: u64,
    /// Replaces fields of [`Options::device`].
    pub device: Device,
    /// The pin that came with the link.
    pub link_pin: Option<Pin>,
}

/// What proves the right to a session.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// A link's one-time token.
    Token(String),
    /// A resume token.
    ResumeToken(String),
}

impl ConnectInput {
    /// The input that a link's payload and pin make.
    #[must_use]
    pub fn of_bootstrap(bootstrap: &Bootstrap, link_pin: Option<Pin>) -> Self {
        Self {
            address: bootstrap.address,
            port: bootstrap.port,
            session_id: bootstrap.session_id.clone(),
            secret: Secret::Token(bootstrap.token_text()),
            expires_at: bootstrap.expires_at,
            device: Device::default(),
            link_pin,
        }
    }

    /// Whether a daemon could take this input at all. A payload may hold an id that is longer than the wire allows: it is
    /// refused here, where the reason is plain.
    pub(super) fn check(&self, now: Now) -> Result<(), ConnectFault> {
        let (secret_name, secret) = match &self.secret {
            Secret::Token(token) => ("token", token),
            Secret::ResumeToken(token) => ("resume_token", token),
        };
        for (field, is_good) in [
            ("session_id", fits(&self.session_id, Length::ID)),
            ("port", self.port != 0),
            (secret_name, fits(secret, Length::ID)),
        ] {
            if !is_good {
                return Err(ConnectFault::InvalidInput(field));
            }
        }
        if self.has_expired(now) { Err(ConnectFault::Expired) } else { Ok(()) }
    }

    /// The second of expiry itself is too late.
    pub(super) fn has_expired(&self, now: Now) -> bool {
        self.expires_at <= now.wall.unix_seconds()
    }
}

/// The device of a claim: `own` with the fields of `input` in place of its own, each cut to what the wire takes, because
/// one field that is too long costs the whole claim.
pub(super) fn claimed_device(own: &Device, input: &Device) -> Device {
    let field = |input: &Option<String>, own: &Option<String>| {
        input.as_deref().or(own.as_deref()).map(|text| clipped(text, MAX_DEVICE_UNITS).to_owned())
    };
    Device {
        manufacturer: field(&input.manufacturer, &own.manufacturer),
        model: field(&input.model, &own.model),
        os: field(&input.os, &own.os),
    }
}

pub(super) fn fits(text: &str, length: Length) -> bool {
    // A UTF-16 unit is at most three bytes of UTF-8: what is longer need not be counted.
    text.len() <= length.max.saturating_mul(3) && (length.min..=length.max).contains(&utf16_len(text))
}

/// The longest start of `text` that has at most `max_units` UTF-16 units and cuts no character.
pub(super) fn clipped(text: &str, max_units: usize) -> &str {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > max_units {
            return &text[..at];
        }
    }
    text
}

impl fmt::Debug for ConnectInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectInput")
            .field("address", &self.address)
            .field("port", &self.port)
            .field("session_id", &self.session_id)
            .field("secret", &self.secret)
            .field("expires_at", &self.expires_at)
            .field("link_pin", &self.link_pin)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token(..)",
            Self::ResumeToken(_) => "ResumeToken(..)",
        })
    }
}
