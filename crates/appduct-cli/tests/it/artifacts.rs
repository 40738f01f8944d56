//! `doctor`: what it says of an artifact.

use std::fs;
use std::io::{Cursor, Write};

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::run::Place;

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A place with one app of each kind in its working directory.
fn place() -> Place {
    let place = Place::new();
    let work = place.work();
    let debug = [
        ("AndroidManifest.xml", b"m".as_slice()),
        ("classes.dex", b"Lcom/callstack/appduct/AppductNativeMarker;"),
        ("lib/arm64-v8a/libapp.so", b"appduct-rust-core/1.0.0"),
    ];
    fs::write(work.join("debug.apk"), zip(&debug)).unwrap();
    fs::write(work.join("release.aab"), zip(&[("base/manifest/AndroidManifest.xml", b"com.callstack.appduct")]))
        .unwrap();
    fs::write(work.join("broken.ipa"), "no archive").unwrap();
    fs::create_dir(work.join("Demo.app")).unwrap();
    fs::write(work.join("Demo.app/Demo"), "AppductCoreMarker").unwrap();
    place
}

#[test]
fn what_is_found_in_both_forms() {
    let place = place();
    for (name, args) in [
        ("present", &["doctor", "debug.apk"][..]),
        ("absent", &["doctor", "release.aab"]),
        ("holds", &["doctor", "Demo.app", "--assert-present"]),
        ("does_not_hold", &["doctor", "release.aab", "--assert-present"]),
        ("broken", &["doctor", "broken.ipa", "--assert-absent"]),
    ] {
        insta::assert_snapshot!(format!("doctor_{name}"), place.run(args));
        insta::assert_snapshot!(format!("doctor_{name}_json"), place.run(&[args, &["--json"]].concat()));
    }
    assert!(!place.state_dir().exists());
}

#[test]
fn an_assertion_decides_the_exit_status() {
    let place = place();
    for (artifact, assertion, code) in [
        ("debug.apk", "--assert-present", 0),
        ("debug.apk", "--assert-absent", 3),
        ("release.aab", "--assert-absent", 0),
        ("release.aab", "--assert-present", 3),
        ("broken.ipa", "--assert-absent", 66),
        ("broken.ipa", "--assert-present", 66),
        ("missing.app", "--assert-absent", 66),
    ] {
        assert_eq!(place.run(&["doctor", artifact, assertion]).code, Some(code), "{artifact} {assertion}");
    }
    let document = place.run(&["doctor", "debug.apk", "--assert-absent", "--json"]).json();
    assert_eq!(document["error"]["type"], "assertion_error");
    assert_eq!(
        document["error"]["details"],
        json!({
            "artifact": "debug.apk",
            "platform": "android",
            "format": "apk",
            "present": true,
            "signals": ["android-keep-rule-marker", "android-dex-package-symbol", "rust-core-marker"],
        })
    );
}

#[test]
fn an_archive_that_is_made_to_exhaust_a_machine_is_refused() {
    let place = Place::new();
    let bomb = zip(&[("AndroidManifest.xml", b"".as_slice()), ("zeros", &vec![0; 70 << 20])]);
    assert!(bomb.len() < 1 << 20);
    fs::write(place.work().join("bomb.apk"), bomb).unwrap();
    let (code, kind, message) = place.run(&["doctor", "bomb.apk", "--assert-absent", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (66, "inspection_error"));
    assert!(message.ends_with("the archive unpacks to more than 100 times its size."), "{message}");
}

#[test]
fn what_is_no_artifact_is_a_usage_error() {
    let place = place();
    for (args, message) in [
        (&["doctor"][..], "Usage: doctor <artifact> (an artifact is required)."),
        (&["doctor", "a.apk", "b.apk"], "Usage: doctor <artifact> (too many arguments)."),
        (
            &["doctor", "debug.apk", "--assert-present", "--assert-absent"],
            "\"--assert-present\" cannot be combined with \"--assert-absent\".",
        ),
        (
            &["doctor", "a.zip"],
            "\"a.zip\" is no artifact that can be inspected: its name must end in .app, .ipa, .apk or .aab.",
        ),
    ] {
        let refused = place.run(&[args, &["--json"]].concat()).failure();
        assert_eq!(refused, (64, "usage_error".to_owned(), message.to_owned()));
    }
}

#[test]
fn a_program_with_the_working_core_carries_its_marker() {
    // This command contains the demo app. What it looks for itself is the marker without a version.
    let program = fs::read(env!("CARGO_BIN_EXE_appduct")).unwrap();
    let marker = concat!("appduct-rust-core/", env!("CARGO_PKG_VERSION"));
    assert!(memchr::memmem::find(&program, marker.as_bytes()).is_some());
}
