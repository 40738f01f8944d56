//! Pins: what an app trusts a daemon by.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const PREFIX: &str = "sha256/";

/// SHA-256 over the DER SubjectPublicKeyInfo of the daemon's certificate, as text `sha256/<base64>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pin([u8; 32]);

/// The text is not `sha256/` and 44 characters of standard base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinFault;

impl Pin {
    /// The pin of a DER SubjectPublicKeyInfo.
    #[must_use]
    pub fn of_spki(der: &[u8]) -> Self {
        Self(Sha256::digest(der).into())
    }
}

impl FromStr for Pin {
    type Err = PinFault;

    fn from_str(text: &str) -> Result<Self, PinFault> {
        let digest = text.strip_prefix(PREFIX).ok_or(PinFault)?;
        let bytes = STANDARD.decode(digest).map_err(|_| PinFault)?;
        bytes.try_into().map(Self).map_err(|_| PinFault)
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
