//! The certificate that the device listener shows: self-signed by the host key, replaced as needed.
//!
//! Apps pin the key, so a new certificate changes nothing for them; open connections keep the one that they began with.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use appduct_proto::Timestamp;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose, SanType,
    SerialNumber, SignatureAlgorithm,
};
use rustls::SignatureScheme;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::key::HostKey;

/// A clock of a phone may be slow by this much.
const BACKDATED: Duration = Duration::from_secs(5 * 60);
const VALIDITY: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// A leaf with less validity than this is replaced.
const RENEWAL: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// The current leaf.
#[derive(Debug)]
pub(crate) struct Leaf {
    key: HostKey,
    address: Option<IpAddr>,
    renew_at: Timestamp,
    current: watch::Sender<Arc<CertifiedKey>>,
}

/// Hands the current leaf to each new handshake.
#[derive(Debug)]
pub(crate) struct LeafResolver(watch::Receiver<Arc<CertifiedKey>>);

impl Leaf {
    /// Mints the first leaf.
    pub(crate) fn new(key: HostKey, address: Option<IpAddr>, now: Timestamp) -> Result<Self, rcgen::Error> {
        let current = watch::Sender::new(Arc::new(mint(&key, address, now)?));
        Ok(Self { key, address, renew_at: renewal_after(now), current })
    }

    pub(crate) fn resolver(&self) -> LeafResolver {
        LeafResolver(self.current.subscribe())
    }

    /// Mints a new leaf if `address` is not the current one's.
    pub(crate) fn advertise(&mut self, address: IpAddr, now: Timestamp) -> Result<(), rcgen::Error> {
        if self.address == Some(address) { Ok(()) } else { self.replace(Some(address), now) }
    }

    /// Mints a new leaf if the current one is about to expire.
    pub(crate) fn renew_if_due(&mut self, now: Timestamp) {
        if now < self.renew_at {
            return;
        }
        if let Err(error) = self.replace(self.address, now) {
            tracing::warn!(%error, "cannot renew the TLS certificate; trying again in an hour");
            self.renew_at = now + Duration::from_secs(60 * 60);
        }
    }

    fn replace(&mut self, address: Option<IpAddr>, now: Timestamp) -> Result<(), rcgen::Error> {
        let minted = mint(&self.key, address, now)?;
        tracing::info!(address = ?address, "new TLS certificate");
        self.address = address;
        self.renew_at = renewal_after(now);
        self.current.send_replace(Arc::new(minted));
        Ok(())
    }
}

impl ResolvesServerCert for LeafResolver {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.borrow().clone())
    }
}

fn renewal_after(now: Timestamp) -> Timestamp {
    now + (VALIDITY - RENEWAL)
}

fn mint(key: &HostKey, address: Option<IpAddr>, now: Timestamp) -> Result<CertifiedKey, rcgen::Error> {
    let signer = Signer::new(key)?;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "Appduct Host");
    params.not_before = date(now)? - BACKDATED;
    params.not_after = date(now)? + VALIDITY;
    params.serial_number = Some(serial_number()?);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, signer.second_usage];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    params.subject_alt_names = vec![SanType::DnsName("localhost".try_into()?), SanType::IpAddress(loopback)];
    params.subject_alt_names.extend(address.filter(|&address| address != loopback).map(SanType::IpAddress));
    let certificate = params.self_signed(&signer)?;
    Ok(CertifiedKey::new(vec![certificate.der().clone()], Arc::clone(&key.signer)))
}

fn date(at: Timestamp) -> Result<OffsetDateTime, rcgen::Error> {
    let seconds = i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX);
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| rcgen::Error::Time)
}

/// Random, so that no two leaves of one issuer share a number; positive, as the standard asks.
fn serial_number() -> Result<SerialNumber, rcgen::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| rcgen::Error::RingUnspecified)?;
    bytes[0] = (bytes[0] & 0x7F) | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

/// Lets the certificate library sign with the key that the TLS library holds.
struct Signer<'a> {
    key: &'a HostKey,
    public_key: &'a [u8],
    algorithm: &'static SignatureAlgorithm,
    second_usage: KeyUsagePurpose,
}

impl<'a> Signer<'a> {
    fn new(key: &'a HostKey) -> Result<Self, rcgen::Error> {
        let (algorithm, second_usage) = if key.scheme == SignatureScheme::RSA_PKCS1_SHA256 {
            (&rcgen::PKCS_RSA_SHA256, KeyUsagePurpose::KeyEncipherment)
        } else if key.scheme == SignatureScheme::ECDSA_NISTP256_SHA256 {
            (&rcgen::PKCS_ECDSA_P256_SHA256, KeyUsagePurpose::KeyAgreement)
        } else {
            (&rcgen::PKCS_ECDSA_P384_SHA384, KeyUsagePurpose::KeyAgreement)
        };
        let public_key = public_key_bits(&key.spki).ok_or(rcgen::Error::CouldNotParseKeyPair)?;
        Ok(Self { key, public_key, algorithm, second_usage })
    }
}

impl rcgen::PublicKeyData for Signer<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.public_key
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        self.algorithm
    }
}

impl rcgen::SigningKey for Signer<'_> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signer = self.key.signer.choose_scheme(&[self.key.scheme]).ok_or(rcgen::Error::RingUnspecified)?;
        signer.sign(message).map_err(|_| rcgen::Error::RingUnspecified)
    }
}

/// The bits of `SEQUENCE { algorithm, BIT STRING }`.
fn public_key_bits(spki: &[u8]) -> Option<&[u8]> {
    let (content, []) = der_value(spki, 0x30)? else { return None };
    let (_algorithm, rest) = der_value(content, 0x30)?;
    let (bits, []) = der_value(rest, 0x03)? else { return None };
    bits.strip_prefix(&[0])
}

/// The content of the first DER value, which must have this tag, and what follows it.
pub(crate) fn der_value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = der.strip_prefix(&[tag])?.split_first()?;
    let (length, rest) = match length {
        0..=0x7F => (usize::from(length), rest),
        0x81 => {
            let (&length, rest) = rest.split_first()?;
            (usize::from(length), rest)
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests;
