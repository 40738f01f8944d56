//! Ids and tokens: how they are made, and the digests that stay of them.

use std::fmt;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

pub(super) const TOKEN_BYTES: usize = 32;
const SESSION_ID_BYTES: usize = 12;
const CALL_ID_BYTES: usize = 16;

/// Peers may pad a token or leave stray bits in it.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The source of every id and token of a host.
#[derive(Debug)]
pub(super) struct Random(ChaCha20Rng);

/// A fresh token. It leaves the host once, in a link or an ack.
pub(super) struct Token(pub(super) [u8; TOKEN_BYTES]);

/// The SHA-256 of a token, which is all that the host keeps of it.
#[derive(Clone, Copy)]
pub(super) struct Digest([u8; 32]);

impl Random {
    pub(super) fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(seed))
    }

    pub(super) fn token(&mut self) -> Token {
        Token(self.bytes())
    }

    /// 16 characters that no command line takes for a flag.
    pub(super) fn session_id(&mut self) -> String {
        loop {
            let id = URL_SAFE_NO_PAD.encode(self.bytes::<SESSION_ID_BYTES>());
            if !id.starts_with('-') {
                return id;
            }
        }
    }

    pub(super) fn call_id(&mut self) -> String {
        format!("call_{}", URL_SAFE_NO_PAD.encode(self.bytes::<CALL_ID_BYTES>()))
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}

impl Token {
    pub(super) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

impl Digest {
    fn of(token: &[u8; TOKEN_BYTES]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Whether `text` is the token, in time that does not depend on how much of it is right.
    pub(super) fn is_of(&self, text: &str) -> bool {
        let token: Option<[u8; TOKEN_BYTES]> = LENIENT.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        token.is_some_and(|token| Self::of(&token).0.ct_eq(&self.0).into())
    }
}

/// In time that does not depend on how much of it is equal.
impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// Records hold a digest as base64url.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digest = LENIENT.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        digest.map(Self).ok_or_else(|| D::Error::custom("no digest"))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_text_padded_or_not() {
        let token = Random::new([1; 32]).token();
        let digest = token.digest();
        assert!(digest.is_of(&token.text()));
        assert!(digest.is_of(&format!("{}=", token.text())));
    }

    #[test]
    fn another_token_a_short_one_and_no_base64_are_not_it() {
        let mut random = Random::new([1; 32]);
        let (token, other) = (random.token(), random.token());
        for text in [other.text(), token.text()[..42].to_owned(), "!".to_owned(), format!("{}AAAA", token.text())] {
            assert!(!token.digest().is_of(&text), "{text}");
        }
    }

    #[test]
    fn session_ids_are_sixteen_characters_and_never_start_with_a_dash() {
        let mut random = Random::new([2; 32]);
        let ids: Vec<_> = (0..2_000).map(|_| random.session_id()).collect();
        assert!(ids.iter().all(|id| id.len() == 16 && !id.starts_with('-')));
        assert!(ids.iter().any(|id| id.contains('-')));
    }

    #[test]
    fn call_ids_have_their_prefix_and_128_bits() {
        let id = Random::new([3; 32]).call_id();
        assert!(id.starts_with("call_"));
        assert_eq!(id.len(), "call_".len() + 22);
    }
}
