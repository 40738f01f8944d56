//! Artifacts of every form and in every state.

use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

const MARKER: &[u8] = b"\0Lcom/callstack/appduct/AppductNativeMarker;\0";

/// An archive of these entries.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (at, (name, bytes)) in entries.iter().enumerate() {
        let method = if at % 2 == 0 { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

struct Artifact {
    path: PathBuf,
    _temp: TempDir,
}

fn artifact(name: &str, bytes: &[u8]) -> Artifact {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join(name);
    fs::write(&path, bytes).unwrap();
    Artifact { path, _temp: temp }
}

fn inspected(name: &str, bytes: &[u8]) -> Result<Findings, String> {
    let artifact = artifact(name, bytes);
    inspect(&artifact.path, format_of(&artifact.path).unwrap()).map_err(|failure| {
        assert_eq!(failure.kind.exit_code(), 66);
        let prefix = format!("Could not inspect {}: ", artifact.path.display());
        failure.message.strip_prefix(&prefix).unwrap().to_owned()
    })
}

fn found(name: &str, entries: &[(&str, &[u8])]) -> (Vec<&'static str>, bool) {
    let findings = inspected(name, &zip(entries)).unwrap();
    (findings.signals, findings.is_present)
}

#[test]
fn a_format_is_known_by_its_extension() {
    for (name, format) in [
        ("a.app", Some(Format::App)),
        ("x/a.IPA", Some(Format::Ipa)),
        ("a.b.Apk", Some(Format::Apk)),
        ("a.aab", Some(Format::Aab)),
        ("a.zip", None),
        ("apk", None),
    ] {
        assert_eq!(format_of(Path::new(name)), format, "{name}");
    }
}

#[test]
fn packed_and_plain_entries_are_searched() {
    let dex = ["android-keep-rule-marker", "android-dex-package-symbol"];
    for manifest in ["AndroidManifest.xml", "base/manifest/AndroidManifest.xml"] {
        let entries = [(manifest, b"".as_slice()), ("other", b""), ("classes.dex", MARKER)];
        assert_eq!(found("a.apk", &entries), (dex.to_vec(), true));
        assert_eq!(found("a.aab", &[entries[0], entries[2]]), (dex.to_vec(), true));
    }
    let library = b"..appduct-rust-core/1.0.0..";
    assert_eq!(
        found("a.apk", &[("AndroidManifest.xml", b""), ("lib/arm64-v8a/libapp.so", library)]),
        (vec!["rust-core-marker"], true)
    );
    assert_eq!(
        found("a.ipa", &[("Payload/Demo.App/Demo", b"AppductCoreMarker")]),
        (vec!["ios-core-marker-symbol"], true)
    );
    assert_eq!(
        found("a.ipa", &[("Payload/Demo.app/Info.plist", b"AppductTrust")]),
        (vec!["ios-info-plist-keys"], false)
    );
    assert_eq!(found("a.apk", &[("AndroidManifest.xml", b"")]), (vec![], false));
}

#[test]
fn a_directory_is_searched_without_following_links() {
    let temp = tempfile::tempdir().unwrap();
    let app = temp.path().join("Demo.app");
    fs::create_dir_all(app.join("Frameworks/Core.framework")).unwrap();
    fs::write(app.join("Demo"), "nothing").unwrap();
    let outside = temp.path().join("outside");
    fs::write(&outside, "AppductCoreMarker").unwrap();
    symlink(&outside, app.join("link")).unwrap();
    symlink(&app, app.join("loop")).unwrap();
    let absent = Findings { signals: vec![], is_present: false };
    assert_eq!(inspect(&app, Format::App).unwrap(), absent);
    fs::write(app.join("Frameworks/Core.framework/Core"), "RCTNativeAppduct").unwrap();
    let present = Findings { signals: vec!["ios-objc-class-symbol"], is_present: true };
    assert_eq!(inspect(&app, Format::App).unwrap(), present);
}

#[test]
fn a_text_does_not_reach_from_one_entry_into_the_next() {
    let entries = [("AndroidManifest.xml", b"appduct-rust".as_slice()), ("x", b"-core/")];
    assert_eq!(found("a.apk", &entries), (vec![], false));
}

#[test]
fn what_is_no_whole_archive_is_never_absent() {
    let whole = zip(&[("AndroidManifest.xml", b"manifest".as_slice()), ("classes.dex", &[7; 5000])]);
    assert_eq!(inspected("a.apk", b"").unwrap_err(), "it is empty.");
    for bytes in [b"not a zip".as_slice(), b"PK\x03\x04", &[0; 100_000]] {
        let why = inspected("a.apk", bytes).unwrap_err();
        assert!(why.starts_with("it is no ZIP archive, or not all of one ("), "{why}");
    }
    for cut in [1, 10, 22, 60, whole.len() / 2, whole.len() - 30] {
        let why = inspected("a.apk", &whole[..whole.len() - cut]).unwrap_err();
        assert!(why.contains("ZIP archive") || why.contains("cannot be unpacked"), "{cut}: {why}");
    }
    assert_eq!(inspected("a.apk", &zip(&[])).unwrap_err(), "the archive has no entries.");
}

#[test]
fn an_archive_of_another_kind_is_refused() {
    let other = zip(&[("README", b"".as_slice())]);
    assert_eq!(
        inspected("a.aab", &other).unwrap_err(),
        "the archive has no AndroidManifest.xml, so it is no Android app."
    );
    assert_eq!(
        inspected("a.ipa", &other).unwrap_err(),
        "no entry of the archive is in an .app directory, so it is no .ipa."
    );
    assert!(inspected("a.apk", &zip(&[("NotAndroidManifest.xml", b"".as_slice())])).is_err());
    assert!(inspected("a.apk", &zip(&[("androidmanifest.xml", b"".as_slice())])).is_err());
}

#[test]
fn a_damaged_entry_is_found_by_its_checksum() {
    let mut bytes = zip(&[("AndroidManifest.xml", b"".as_slice()), ("x", b"stored as it is")]);
    let at = bytes.windows(6).position(|window| window == b"stored").unwrap();
    bytes[at] = b'S';
    let why = inspected("a.apk", &bytes).unwrap_err();
    assert!(why.starts_with("the entry \"x\" cannot be unpacked: "), "{why}");
}

#[test]
fn an_encrypted_entry_is_refused() {
    let mut bytes = zip(&[("AndroidManifest.xml", b"".as_slice()), ("secret", b"x")]);
    // Bit 0 of the flags, in the local header and in the central one.
    for (signature, flags_at) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let headers: Vec<_> = (0..bytes.len() - 4).filter(|&at| &bytes[at..at + 4] == signature).collect();
        bytes[headers[1] + flags_at] |= 1;
    }
    assert_eq!(inspected("a.apk", &bytes).unwrap_err(), "the entry \"secret\" is encrypted.");
}

#[test]
fn a_binary_from_the_app_store_is_refused_and_not_absent() {
    let words: [u32; 14] = [0xFEED_FACF, 0, 0, 2, 1, 24, 0, 0, 0x2C, 24, 0, 0, 1, 0];
    let binary: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let why = "encrypted (FairPlay): inspect the app as it was before it went to the App Store.";
    let ipa = zip(&[("Payload/A.app/Info.plist", b"AppductTrust"), ("Payload/A.app/A", &binary)]);
    assert_eq!(inspected("a.ipa", &ipa).unwrap_err(), format!("the binary \"Payload/A.app/A\" is {why}"));

    let temp = tempfile::tempdir().unwrap();
    let app = temp.path().join("A.app");
    fs::create_dir(&app).unwrap();
    fs::write(app.join("A"), &binary).unwrap();
    let failure = inspect(&app, Format::App).unwrap_err();
    assert_eq!(failure.kind.exit_code(), 66);
    assert_eq!(failure.message, format!("Could not inspect {}: the binary \"A\" is {why}", app.display()));
}

#[test]
fn an_entry_packed_in_an_unknown_way_is_refused() {
    let mut bytes = zip(&[("AndroidManifest.xml", b"".as_slice()), ("x", b"y")]);
    for (signature, method_at) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
        let headers: Vec<_> = (0..bytes.len() - 4).filter(|&at| &bytes[at..at + 4] == signature).collect();
        bytes[headers[1] + method_at] = 99;
    }
    let why = inspected("a.apk", &bytes).unwrap_err();
    assert!(why.starts_with("the entry \"x\" cannot be unpacked: "), "{why}");
}

#[test]
fn two_entries_of_one_name_are_refused() {
    let mut bytes = zip(&[("AndroidManifest.xml", b"".as_slice()), ("name-1", MARKER), ("name-2", b"")]);
    while let Some(at) = bytes.windows(6).position(|window| window == b"name-2") {
        bytes[at + 5] = b'1';
    }
    let why = inspected("a.apk", &bytes).unwrap_err();
    assert!(why.starts_with("the archive has two entries of one name"), "{why}");
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    let bytes = zip(&[("AndroidManifest.xml", b"".as_slice()), ("other", b""), ("zeros", &[0; 1_000_000])]);
    let bomb = artifact("a.apk", &bytes);
    let search = |limits| archive::search(&bomb.path, Format::Apk, limits).map_err(|failure| failure.message);
    let loose = Limits { total_bytes: 1_000_000, ratio: 10_000, free_bytes: 0 };
    assert!(search(loose).is_ok());
    let why = search(Limits { total_bytes: 999_999, ..loose }).unwrap_err();
    assert!(
        why.ends_with("the entry \"zeros\" cannot be unpacked: the archive unpacks to more than 999999 bytes."),
        "{why}"
    );
    let why = search(Limits { ratio: 100, ..loose }).unwrap_err();
    assert!(why.ends_with("the archive unpacks to more than 100 times its size."), "{why}");
    assert!(search(Limits { ratio: 100, free_bytes: 1_000_000, ..loose }).is_ok());
}

#[test]
fn the_wrong_kind_of_file_is_refused() {
    assert_eq!(inspected("a.app", b"x").unwrap_err(), "an .app is a directory, and this is none.");
    let temp = tempfile::tempdir().unwrap();
    for name in ["missing.apk", "missing.app"] {
        let path = temp.path().join(name);
        let failure = inspect(&path, format_of(&path).unwrap()).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 66);
        assert!(failure.message.contains("it cannot be read: "), "{}", failure.message);
    }
    let directory = temp.path().join("a.ipa");
    fs::create_dir(&directory).unwrap();
    let failure = inspect(&directory, Format::Ipa).unwrap_err();
    assert!(failure.message.ends_with("it is not a file."), "{}", failure.message);
}
