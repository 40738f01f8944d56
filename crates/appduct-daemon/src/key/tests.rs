//! Loading, refusing and making key files.

use super::made::{ed25519, p256, p384, p521, rsa, small_rsa};
use super::*;

fn load(pem: &str) -> Result<HostKey, KeyError> {
    HostKey::load(&written(pem).path().join("key.pem"))
}

fn written(pem: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    fs::write(&path, pem).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    directory
}

#[test]
fn every_form_of_a_key_gives_its_pin() {
    for (key, section, scheme) in [
        (p256(), "EC PRIVATE KEY", SignatureScheme::ECDSA_NISTP256_SHA256),
        (p384(), "EC PRIVATE KEY", SignatureScheme::ECDSA_NISTP384_SHA384),
        (rsa(), "RSA PRIVATE KEY", SignatureScheme::RSA_PKCS1_SHA256),
    ] {
        let pair = rcgen::KeyPair::from_pem(&key.pkcs8()).unwrap();
        let pin = Pin::of_spki(&rcgen::PublicKeyData::subject_public_key_info(&pair));
        for pem in [key.pkcs8(), key.unwrapped(section)] {
            let loaded = load(&pem).unwrap();
            assert_eq!((loaded.scheme, loaded.pin()), (scheme, pin));
        }
    }
}

#[test]
fn other_keys_are_refused_by_name() {
    for (pem, expected) in [
        (p521().pkcs8(), "P-521"),
        (ed25519().pkcs8(), "Ed25519"),
        (small_rsa().pkcs8(), "2048"),
        (small_rsa().unwrapped("RSA PRIVATE KEY"), "2048"),
    ] {
        let message = load(&pem).unwrap_err().to_string();
        assert!(message.contains(expected) && message.contains("/key.pem"), "{message}");
    }
}

#[test]
fn a_file_without_a_key_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    for content in ["", "hello", "-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----\n"] {
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(HostKey::load_or_generate(&path), Err(KeyError::NotAKey { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_key_that_others_can_read_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    generate_key(&path, false).unwrap();
    let before = fs::read(&path).unwrap();
    for mode in [0o640, 0o604, 0o610, 0o601, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = HostKey::load_or_generate(&path).unwrap_err();
        assert!(error.to_string().contains(&format!("chmod 600 {}", path.display())), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_missing_key_is_made_with_its_directories_and_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/er/key.pem");
    let pin = HostKey::load_or_generate(&path).unwrap().pin();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&path).unwrap().contains("BEGIN PRIVATE KEY"));
    assert_eq!(HostKey::load_or_generate(&path).unwrap().pin(), pin);
    let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "no temporary file stays");
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    let first = generate_key(&path, false).unwrap();
    assert!(matches!(generate_key(&path, false), Err(KeyError::Exists { .. })));
    assert_eq!(HostKey::load(&path).unwrap().pin(), first);
    let second = generate_key(&path, true).unwrap();
    assert_ne!(first, second);
    assert_eq!(HostKey::load(&path).unwrap().pin(), second);
}

#[test]
fn nothing_of_a_key_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    let pin = generate_key(&path, false).unwrap();
    let shown = format!("{:?}", HostKey::load(&path).unwrap());
    assert_eq!(shown, format!("HostKey {{ pin: {pin}, .. }}"));
}

#[test]
fn a_new_rsa_key_is_one_that_the_daemon_takes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    let pin = generate_key_of(KeyKind::Rsa2048, &path, false).unwrap();
    let key = HostKey::load(&path).unwrap();
    assert_eq!(key.pin(), pin);
    assert_eq!(key.scheme, SignatureScheme::RSA_PKCS1_SHA256);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let pem = fs::read_to_string(&path).unwrap();
    assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n") && pem.ends_with("-----END PRIVATE KEY-----\n"));
}

#[test]
fn what_is_no_regular_file_is_said_to_be_none_and_nobody_waits_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let (pipe, folder) = (directory.path().join("pipe"), directory.path().join("folder"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir(&folder).unwrap();
    for path in [pipe, folder] {
        let error = HostKey::load_or_generate(&path).unwrap_err();
        assert!(matches!(error, KeyError::NotAFile { .. }), "{error}");
        assert!(!error.to_string().contains("chmod"), "{error}");
    }
}
