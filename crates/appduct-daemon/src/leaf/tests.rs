//! The certificate as another library reads it.

use appduct_proto::wire::Pin;
use x509_parser::prelude::*;

use super::*;
use crate::key::made::{p256, p384, rsa};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn current(leaf: &Leaf) -> Arc<CertifiedKey> {
    leaf.resolver().0.borrow().clone()
}

fn addresses(leaf: &Leaf) -> Vec<String> {
    let current = current(leaf);
    let (_, certificate) = X509Certificate::from_der(&current.cert[0]).unwrap();
    let names = certificate.subject_alternative_name().unwrap().unwrap();
    let shown = |name: &GeneralName<'_>| {
        let GeneralName::IPAddress(octets) = name else { return name.to_string() };
        match <[u8; 4]>::try_from(*octets) {
            Ok(v4) => IpAddr::from(v4).to_string(),
            Err(_) => IpAddr::from(<[u8; 16]>::try_from(*octets).unwrap()).to_string(),
        }
    };
    names.value.general_names.iter().map(shown).collect()
}

#[test]
fn the_certificate_says_what_the_protocol_asks_for() {
    for (key, signature_oid, is_rsa) in [
        (p256(), "1.2.840.10045.4.3.2", false),
        (p384(), "1.2.840.10045.4.3.3", false),
        (rsa(), "1.2.840.113549.1.1.11", true),
    ] {
        let key = key.loaded();
        let pin = key.pin();
        let leaf = Leaf::new(key, Some("192.168.1.4".parse().unwrap()), NOW).unwrap();
        let current = current(&leaf);
        let (rest, certificate) = X509Certificate::from_der(&current.cert[0]).unwrap();
        assert!(rest.is_empty());
        assert_eq!(certificate.version(), X509Version::V3);
        assert_eq!(certificate.signature_algorithm.algorithm.to_id_string(), signature_oid);
        assert!(certificate.verify_signature(None).is_ok(), "it is signed by its own key");
        assert_eq!(Pin::of_spki(certificate.public_key().raw), pin);
        assert_eq!(certificate.subject().to_string(), "CN=Appduct Host");
        assert_eq!(certificate.issuer().to_string(), "CN=Appduct Host");
        let now = i64::try_from(NOW.unix_seconds()).unwrap();
        assert_eq!(certificate.validity().not_before.timestamp(), now - 5 * 60);
        assert_eq!(certificate.validity().not_after.timestamp(), now + 7 * 24 * 60 * 60);

        let basic = certificate.basic_constraints().unwrap().unwrap();
        assert!(basic.critical && !basic.value.ca);
        let usage = certificate.key_usage().unwrap().unwrap();
        assert!(usage.critical && usage.value.digital_signature());
        assert_eq!((usage.value.key_encipherment(), usage.value.key_agreement()), (is_rsa, !is_rsa));
        let extended = certificate.extended_key_usage().unwrap().unwrap();
        assert!(!extended.critical && extended.value.server_auth && !extended.value.client_auth);
        assert!(!certificate.subject_alternative_name().unwrap().unwrap().critical);
        let has = |oid| certificate.extensions().iter().any(|extension| extension.oid == oid);
        assert!(has(oid_registry::OID_X509_EXT_SUBJECT_KEY_IDENTIFIER));
        assert_eq!(certificate.extensions().len(), 5);
        assert_eq!(addresses(&leaf), ["DNSName(localhost)", "127.0.0.1", "192.168.1.4"]);
    }
}

#[test]
fn loopback_is_not_named_twice() {
    for address in [None, Some("127.0.0.1".parse().unwrap())] {
        let leaf = Leaf::new(p256().loaded(), address, NOW).unwrap();
        assert_eq!(addresses(&leaf), ["DNSName(localhost)", "127.0.0.1"]);
    }
}

#[test]
fn an_ipv6_address_is_named_too() {
    let leaf = Leaf::new(p256().loaded(), Some("fd00::5".parse().unwrap()), NOW).unwrap();
    assert_eq!(addresses(&leaf)[2], "fd00::5");
}

#[test]
fn only_another_address_or_a_near_end_mints_anew() {
    let mut leaf = Leaf::new(p256().loaded(), Some("10.0.0.1".parse().unwrap()), NOW).unwrap();
    let pin = leaf.key.pin();
    let first = current(&leaf);
    leaf.advertise("10.0.0.1".parse().unwrap(), NOW).unwrap();
    leaf.renew_if_due(NOW + (VALIDITY - RENEWAL - Duration::from_secs(1)));
    assert!(Arc::ptr_eq(&first, &current(&leaf)));

    leaf.advertise("10.0.0.2".parse().unwrap(), NOW).unwrap();
    let second = current(&leaf);
    assert_ne!(first.cert, second.cert);
    assert!(addresses(&leaf).contains(&"10.0.0.2".to_owned()));

    leaf.renew_if_due(NOW + (VALIDITY - RENEWAL));
    assert_ne!(second.cert, current(&leaf).cert);
    assert!(addresses(&leaf).contains(&"10.0.0.2".to_owned()));
    assert_eq!(leaf.key.pin(), pin);
}
