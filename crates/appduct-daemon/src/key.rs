//! The host key: what apps trust a daemon by.
//!
//! A key file is PEM: PKCS#8, PKCS#1 or SEC1, not encrypted. RSA of 2048 to 8192 bits, EC P-256 and EC P-384 are taken. EC
//! P-521 is not: the TLS library that the daemon is built on cannot sign with it.

mod rsa;

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use appduct_proto::wire::Pin;
use rustix::fs::OFlags;
use rustls::SignatureScheme;
use rustls::sign::SigningKey;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use zeroize::{Zeroize, Zeroizing};

/// Longer files are no keys.
const MAX_KEY_BYTES: u64 = 64 * 1024;

/// Why a key cannot be used or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Others may read the file.
    #[error("the host key {} can be read by others (mode {mode:04o}): run chmod 600 {}", path.display(), path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory, a pipe or the like is in its place.
    #[error("the host key {} is not a regular file", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// The file holds no private key in PEM.
    #[error("the host key {} holds no private key: it must be an unencrypted PEM file (PKCS#8, PKCS#1 or SEC1)", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// The key is of a kind that is not taken.
    #[error("the host key {} cannot be used: {what}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is, and what is taken.
        what: &'static str,
    },
    /// A key is there and was not to be replaced.
    #[error("{} exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The system has no randomness.
    #[error("cannot make a key: {0}")]
    Generate(String),
}

/// A loaded key. Its secret part stays in the TLS library.
pub(crate) struct HostKey {
    pub(crate) signer: Arc<dyn SigningKey>,
    /// What a certificate of this key is signed with.
    pub(crate) scheme: SignatureScheme,
    /// DER SubjectPublicKeyInfo.
    pub(crate) spki: Vec<u8>,
}

impl HostKey {
    /// The key at `path`; a new one where nothing is there.
    pub(crate) fn load_or_generate(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            loaded => return loaded,
        }
        match generate_key(path, false) {
            Ok(pin) => tracing::warn!("made a new host key at {}; its pin is {pin}", path.display()),
            // Somebody else was faster; theirs is as good.
            Err(KeyError::Exists { .. }) => {}
            Err(error) => return Err(error),
        }
        Self::load(path)
    }

    fn load(path: &Path) -> Result<Self, KeyError> {
        let io = |what| move |source| KeyError::Io { what, path: path.to_owned(), source };
        // Opening a pipe would wait for its writer.
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        let opened = OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
        let file = opened.map_err(io("open the host key"))?;
        let metadata = file.metadata().map_err(io("look at the host key"))?;
        if !metadata.is_file() {
            return Err(KeyError::NotAFile { path: path.to_owned() });
        }
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed { path: path.to_owned(), mode });
        }
        let mut pem = Zeroizing::new(Vec::new());
        file.take(MAX_KEY_BYTES).read_to_end(&mut pem).map_err(io("read the host key"))?;
        let mut der = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| KeyError::NotAKey { path: path.to_owned() })?;
        let key = Self::from_der(&der).map_err(|what| KeyError::Unsupported { path: path.to_owned(), what });
        der.zeroize();
        key
    }

    fn from_der(der: &PrivateKeyDer<'_>) -> Result<Self, &'static str> {
        let signer = rustls::crypto::ring::sign::any_supported_type(der).map_err(|_| what_it_is(der))?;
        let chosen = signer.choose_scheme(SCHEMES).ok_or_else(|| what_it_is(der))?;
        let scheme = chosen.scheme();
        let spki = signer.public_key().ok_or(OTHER)?.to_vec();
        Ok(Self { signer, scheme, spki })
    }

    /// What apps trust.
    pub(crate) fn pin(&self) -> Pin {
        Pin::of_spki(&self.spki)
    }
}

/// One per kind of key that is taken.
const SCHEMES: &[SignatureScheme] = &[
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
];

const OTHER: &str = "only RSA, EC P-256 and EC P-384 keys are supported";

/// Says why a key is refused, by the identifiers in its DER.
fn what_it_is(key: &PrivateKeyDer<'_>) -> &'static str {
    const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
    const P521: &[u8] = b"\x2b\x81\x04\x00\x23";
    const ED25519: &[u8] = b"\x06\x03\x2b\x65\x70";
    let der = key.secret_der();
    let has = |identifier: &[u8]| der.windows(identifier.len()).any(|window| window == identifier);
    if has(P521) {
        "it is an EC P-521 key, and only RSA, EC P-256 and EC P-384 keys are supported"
    } else if has(ED25519) {
        "it is an Ed25519 key, and only RSA, EC P-256 and EC P-384 keys are supported"
    } else if has(RSA) || matches!(key, PrivateKeyDer::Pkcs1(_)) {
        "an RSA key must have 2048 to 8192 bits"
    } else {
        OTHER
    }
}

/// What kind of key to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA P-256: what a daemon makes for itself.
    EcP256,
    /// RSA with 2048 bits and exponent 65537.
    Rsa2048,
}

/// Makes an ECDSA P-256 key; see [`generate_key_of`].
pub fn generate_key(path: &Path, force: bool) -> Result<Pin, KeyError> {
    generate_key_of(KeyKind::EcP256, path, force)
}

/// Makes a key at `path` (PKCS#8 PEM, mode 0600), parent directories included, and returns its pin.
///
/// An existing file is only replaced with `force`; without it the file appears whole or not at all, and nothing is ever
/// overwritten.
pub fn generate_key_of(kind: KeyKind, path: &Path, force: bool) -> Result<Pin, KeyError> {
    refuse_existing(path, force)?;
    let (pem, pin) = match kind {
        KeyKind::EcP256 => generate_ec()?,
        KeyKind::Rsa2048 => rsa::generate()?,
    };
    write_key(path, pem.as_bytes(), force)?;
    Ok(pin)
}

fn generate_ec() -> Result<(Zeroizing<String>, Pin), KeyError> {
    let mut pair = rcgen::KeyPair::generate().map_err(|error| KeyError::Generate(error.to_string()))?;
    let pem = Zeroizing::new(pair.serialize_pem());
    let pin = Pin::of_spki(&rcgen::PublicKeyData::subject_public_key_info(&pair));
    pair.zeroize();
    Ok((pem, pin))
}

fn refuse_existing(path: &Path, force: bool) -> Result<(), KeyError> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(KeyError::Exists { path: path.to_owned() });
    }
    Ok(())
}

fn write_key(path: &Path, pem: &[u8], force: bool) -> Result<(), KeyError> {
    let io = |what| move |source| KeyError::Io { what, path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(io("create the directory of"))?;
    }
    let temporary = temporary_beside(path);
    let written = (|| {
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&temporary)?;
        file.write_all(pem)?;
        file.sync_all()?;
        if force { fs::rename(&temporary, path) } else { fs::hard_link(&temporary, path) }
    })();
    // After a rename it is gone already.
    fs::remove_file(&temporary).ok();
    written.map_err(|source| {
        if source.kind() == ErrorKind::AlreadyExists {
            KeyError::Exists { path: path.to_owned() }
        } else {
            io("write")(source)
        }
    })
}

fn temporary_beside(path: &Path) -> PathBuf {
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{ms}.tmp", std::process::id()));
    path.with_file_name(name)
}

impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostKey").field("pin", &self.pin()).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod made;
#[cfg(test)]
mod tests;
