//! Keys for tests, made when the tests run.

use std::process::Command;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use super::HostKey;
use crate::leaf::der_value;

/// A private key in PKCS#8.
pub(crate) struct MadeKey(Vec<u8>);

/// P-256.
pub(crate) fn p256() -> MadeKey {
    MadeKey(rcgen::KeyPair::generate().unwrap().serialize_der())
}

/// P-384.
pub(crate) fn p384() -> MadeKey {
    MadeKey(rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap().serialize_der())
}

/// Ed25519.
pub(crate) fn ed25519() -> MadeKey {
    MadeKey(rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap().serialize_der())
}

/// RSA of 2048 bits; it takes a while, so there is one for all tests.
pub(crate) fn rsa() -> MadeKey {
    static PEM: OnceLock<String> = OnceLock::new();
    MadeKey::from_pem(
        PEM.get_or_init(|| openssl(&["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])),
    )
}

/// RSA of 1024 bits.
pub(crate) fn small_rsa() -> MadeKey {
    MadeKey::from_pem(&openssl(&["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]))
}

/// P-521.
pub(crate) fn p521() -> MadeKey {
    MadeKey::from_pem(&openssl(&["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]))
}

/// Makes what no library here can make.
fn openssl(arguments: &[&str]) -> String {
    let output = Command::new("openssl").args(arguments).output().expect("the openssl command is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

impl MadeKey {
    fn from_pem(pem: &str) -> Self {
        Self(PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap().secret_der().to_vec())
    }

    pub(crate) fn pkcs8(&self) -> String {
        pem("PRIVATE KEY", &self.0)
    }

    /// The key without its wrapping: PKCS#1 or SEC1, whose sections have these names.
    pub(crate) fn unwrapped(&self, section: &str) -> String {
        let (content, _) = der_value(&self.0, 0x30).unwrap();
        let (_version, rest) = der_value(content, 0x02).unwrap();
        let (_algorithm, rest) = der_value(rest, 0x30).unwrap();
        let (key, _) = der_value(rest, 0x04).unwrap();
        pem(section, key)
    }

    pub(crate) fn loaded(&self) -> HostKey {
        HostKey::from_der(&PrivateKeyDer::try_from(self.0.as_slice()).unwrap()).unwrap()
    }
}

fn pem(section: &str, der: &[u8]) -> String {
    let lines: Vec<_> = STANDARD.encode(der).into_bytes().chunks(64).map(<[u8]>::to_vec).collect();
    let body = String::from_utf8(lines.join(&b'\n')).unwrap();
    format!("-----BEGIN {section}-----\n{body}\n-----END {section}-----\n")
}
