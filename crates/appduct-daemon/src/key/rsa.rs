//! A new RSA key, for whoever needs one: the TLS library reads them and makes none.

use appduct_proto::wire::Pin;
use getrandom::SysRng;
use rsa::PrivateKey;
use rsa::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
use zeroize::Zeroizing;

use super::KeyError;

const BITS: usize = 2048;

/// The key in PKCS#8 PEM, and its pin.
pub(super) fn generate() -> Result<(Zeroizing<String>, Pin), KeyError> {
    let key = PrivateKey::new(&mut SysRng, BITS).map_err(|error| KeyError::Generate(error.to_string()))?;
    let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(|error| KeyError::Generate(error.to_string()))?;
    let public = key.to_public_key().to_public_key_der().map_err(|error| KeyError::Generate(error.to_string()))?;
    Ok((pem, Pin::of_spki(public.as_bytes())))
}
