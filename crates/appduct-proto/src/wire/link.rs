//! Deep links: `<scheme>:///?appduct=<payload>&pin=<percent-encoded pin>`.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::Pin;

/// What a query value keeps as it is: letters, digits and `- _ . ! ~ * ' ( )`.
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The parts of a deep link. The payload is a secret until it is claimed, so `Debug` leaves it out.
#[derive(Clone, PartialEq, Eq)]
pub struct DeepLink {
    /// The bootstrap payload as base64url, not yet decoded.
    pub payload: String,
    /// `None` where the link has no pin, or one of another shape.
    pub pin: Option<Pin>,
}

/// Why a link scheme cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// The scheme is not a letter followed by letters, digits, `+`, `.` or `-`.
    Scheme,
}

impl DeepLink {
    /// Writes the link for an app that opens `scheme`.
    pub fn compose(&self, scheme: &str) -> Result<String, LinkFault> {
        if !Self::is_scheme(scheme) {
            return Err(LinkFault::Scheme);
        }
        let mut link = format!("{scheme}:///?appduct={}", self.payload);
        if let Some(pin) = &self.pin {
            link.push_str("&pin=");
            link.extend(utf8_percent_encode(&pin.to_string(), QUERY_VALUE));
        }
        Ok(link)
    }

    /// Reads a link; `None` unless its query has an `appduct` parameter, whatever that holds.
    ///
    /// The query ends at `#`, parameters come in any order, the first of equal names wins, and values are percent-decoded
    /// (`+` stays `+`: pins contain it).
    #[must_use]
    pub fn parse(url: &str) -> Option<Self> {
        let url = url.split_once('#').map_or(url, |(before, _)| before);
        let (_, query) = url.split_once('?')?;
        let value = |wanted: &str| {
            query.split('&').find_map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decoded(name) == wanted).then(|| decoded(value))
            })
        };
        Some(Self { payload: value("appduct")?, pin: value("pin").and_then(|pin| pin.parse().ok()) })
    }

    /// Whether `text` can stand before `:///` in a link.
    #[must_use]
    pub fn is_scheme(text: &str) -> bool {
        let mut bytes = text.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

impl fmt::Debug for DeepLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeepLink").field("pin", &self.pin).finish_non_exhaustive()
    }
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scheme is a letter followed by letters, digits, \"+\", \".\" or \"-\"")
    }
}

impl std::error::Error for LinkFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_needs_a_scheme_that_a_system_can_open() {
        let link = DeepLink { payload: "payload".to_owned(), pin: None };
        for scheme in ["shop", "Shop", "com.example.shop", "a+b-c.d1"] {
            assert_eq!(link.compose(scheme), Ok(format!("{scheme}:///?appduct=payload")));
        }
        for scheme in ["", "1shop", "-shop", "shop:", "sh op", "größe", "shop\n", "a/b"] {
            assert_eq!(link.compose(scheme), Err(LinkFault::Scheme), "{scheme:?}");
        }
    }

    #[test]
    fn a_composed_pin_is_percent_encoded() {
        let pin = "sha256/++++////++++////++++////++++////++++////+++=".parse::<Pin>().unwrap();
        let link = DeepLink { payload: "p".to_owned(), pin: Some(pin) }.compose("shop").unwrap();
        let (_, value) = link.split_once("&pin=").unwrap();
        assert!(value.starts_with("sha256%2F%2B%2B"), "{value}");
        assert!(value.ends_with("%3D"), "{value}");
    }
}
