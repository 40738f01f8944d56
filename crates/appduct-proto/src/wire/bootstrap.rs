//! The bootstrap payload: where the daemon is and the one-time token that claims a session there.
//!
//! Layout, big-endian: version `02` · family `04` or `06` · 4 or 16 address bytes · port u16 · length u8 and that many
//! bytes of session id · 32 token bytes · expiry u64 in Unix seconds. As text: base64url without padding.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const VERSION: u8 = 2;
const FAMILY_V4: u8 = 4;
const FAMILY_V6: u8 = 6;
const TOKEN_BYTES: usize = 32;

/// Readers are lenient about padding and stray bits, as every published SDK is.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A decoded payload.
#[derive(Clone, PartialEq, Eq)]
pub struct Bootstrap {
    /// The daemon's address.
    pub address: IpAddr,
    /// The daemon's port, 1 or greater.
    pub port: u16,
    /// 1 to 255 bytes.
    pub session_id: String,
    /// The one-time token. Never shown.
    pub token: [u8; TOKEN_BYTES],
    /// When the link expires, in Unix seconds. The codec does not check it.
    pub expires_at: u64,
}

/// What cannot be encoded, or is not a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapFault {
    /// Not base64url, or of another version, family or length, or with an invalid id or port.
    Malformed,
    /// A session id to encode that is not 1 to 255 bytes.
    SessionId,
    /// A port to encode that is 0.
    Port,
}

impl Bootstrap {
    /// The payload as base64url.
    pub fn encode(&self) -> Result<String, BootstrapFault> {
        let id = self.session_id.as_bytes();
        let id_length = u8::try_from(id.len()).ok().filter(|&length| length > 0).ok_or(BootstrapFault::SessionId)?;
        if self.port == 0 {
            return Err(BootstrapFault::Port);
        }
        let mut bytes = vec![VERSION];
        match self.address {
            IpAddr::V4(address) => {
                bytes.push(FAMILY_V4);
                bytes.extend(address.octets());
            }
            IpAddr::V6(address) => {
                bytes.push(FAMILY_V6);
                bytes.extend(address.octets());
            }
        }
        bytes.extend(self.port.to_be_bytes());
        bytes.push(id_length);
        bytes.extend(id);
        bytes.extend(self.token);
        bytes.extend(self.expires_at.to_be_bytes());
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads a payload; its expiry is for the caller to check.
    pub fn decode(text: &str) -> Result<Self, BootstrapFault> {
        let bytes = LENIENT.decode(text).map_err(|_| BootstrapFault::Malformed)?;
        parse(&bytes).ok_or(BootstrapFault::Malformed)
    }

    /// The token as base64url, as a claim carries it.
    #[must_use]
    pub fn token_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.token)
    }
}

fn parse(bytes: &[u8]) -> Option<Bootstrap> {
    let ([VERSION, family], rest) = bytes.split_first_chunk()? else { return None };
    let (address, rest) = match *family {
        FAMILY_V4 => {
            let (octets, rest) = rest.split_first_chunk::<4>()?;
            (IpAddr::V4(Ipv4Addr::from(*octets)), rest)
        }
        FAMILY_V6 => {
            let (octets, rest) = rest.split_first_chunk::<16>()?;
            (IpAddr::V6(Ipv6Addr::from(*octets)), rest)
        }
        _ => return None,
    };
    let (port, rest) = rest.split_first_chunk()?;
    let port = u16::from_be_bytes(*port);
    let (&id_length, rest) = rest.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(id_length))?;
    let (token, rest) = rest.split_first_chunk()?;
    let expires_at: &[u8; 8] = rest.try_into().ok()?;
    if port == 0 || id.is_empty() {
        return None;
    }
    Some(Bootstrap {
        address,
        port,
        session_id: std::str::from_utf8(id).ok()?.to_owned(),
        token: *token,
        expires_at: u64::from_be_bytes(*expires_at),
    })
}

/// The text of an address as every peer writes it. An IPv4 address mapped into IPv6 stays in hexadecimal:
/// `::ffff:c0a8:101`.
#[must_use]
pub fn address_text(address: IpAddr) -> String {
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            let [.., high, low] = v6.segments();
            format!("::ffff:{high:x}:{low:x}")
        }
        IpAddr::V4(_) | IpAddr::V6(_) => address.to_string(),
    }
}

impl fmt::Debug for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bootstrap")
            .field("address", &self.address)
            .field("port", &self.port)
            .field("session_id", &self.session_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for BootstrapFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "not an appduct bootstrap payload",
            Self::SessionId => "a session id must be 1 to 255 bytes",
            Self::Port => "a port must be 1 to 65535",
        })
    }
}

impl std::error::Error for BootstrapFault {}

#[cfg(test)]
mod tests {
    use super::*;

    fn bootstrap() -> Bootstrap {
        Bootstrap {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 8443,
            session_id: "session-1".to_owned(),
            token: [0xA5; TOKEN_BYTES],
            expires_at: 1_700_000_300,
        }
    }

    #[test]
    fn padding_and_stray_bits_are_read_over() {
        let payload = Bootstrap { session_id: "session".to_owned(), ..bootstrap() };
        let text = payload.encode().unwrap();
        assert_eq!(text.len() % 4, 3, "one byte of padding is missing");
        assert_eq!(Bootstrap::decode(&format!("{text}=")), Ok(payload.clone()));
        // The last of three characters holds two bits that belong to no byte.
        let (start, last) = text.split_at(text.len() - 1);
        assert_eq!(last, "w");
        assert_eq!(Bootstrap::decode(&format!("{start}x")), Ok(payload));
    }

    #[test]
    fn what_no_reader_takes_is_not_written() {
        for (fault, payload) in [
            (BootstrapFault::Port, Bootstrap { port: 0, ..bootstrap() }),
            (BootstrapFault::SessionId, Bootstrap { session_id: String::new(), ..bootstrap() }),
            (BootstrapFault::SessionId, Bootstrap { session_id: "s".repeat(256), ..bootstrap() }),
        ] {
            assert_eq!(payload.encode(), Err(fault));
        }
    }
}
