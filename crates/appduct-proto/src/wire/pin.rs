//! Pins: what an app trusts a daemon by.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest, Sha256};

const PREFIX: &str = "sha256/";

/// The shape of a pin leaves the two bits after the digest open: `sha256/[A-Za-z0-9+/]{43}=`.
const SHAPE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// SHA-256 over the DER SubjectPublicKeyInfo of the daemon's certificate, as text `sha256/<base64>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pin([u8; 32]);

/// The text is not wholly `sha256/`, 43 characters of standard base64 and `=`.
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
        let bytes = SHAPE.decode(digest).map_err(|_| PinFault)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_bits_after_the_digest_do_not_count() {
        let pin = Pin([0; 32]);
        let zeros = "A".repeat(42);
        for last in ["A", "B", "C", "D"] {
            assert_eq!(format!("sha256/{zeros}{last}=").parse(), Ok(pin), "{last}");
        }
        assert_ne!(format!("sha256/{zeros}E=").parse(), Ok(pin));
        assert_eq!(pin.to_string(), format!("sha256/{zeros}A="));
    }
}
