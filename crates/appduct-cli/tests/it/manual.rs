//! `man`.

use std::fs;

use crate::run::Place;

#[test]
fn each_command_has_its_page() {
    let place = Place::new();
    let filters = vec![(env!("CARGO_PKG_VERSION"), "[VERSION]")];
    insta::with_settings!({ filters => filters }, {
        insta::assert_snapshot!("man_appduct", place.run(&["man"]).ok());
        insta::assert_snapshot!("man_sessions_revoke", place.run(&["man", "sessions", "revoke"]).ok());
    });
    let document = place.run(&["man", "doctor", "--json"]).json();
    assert_eq!(document["data"]["name"], "appduct-doctor.1");
    assert_eq!(document["data"]["page"], place.run(&["man", "doctor"]).stdout);
    let refused = place.run(&["man", "sessions", "nope", "--json"]).failure();
    assert_eq!(refused, (64, "usage_error".to_owned(), "There is no command \"sessions nope\".".to_owned()));
}

#[test]
fn every_page_goes_into_a_directory() {
    let place = Place::new();
    let ran = place.run(&["man", "--out", "share/man1"]);
    assert!(ran.ok().starts_with("Manual Written\n  share/man1/appduct.1\n  share/man1/appduct-link.1\n"), "{ran}");
    let mut written: Vec<_> = fs::read_dir(place.work().join("share/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    written.sort();
    assert_eq!(written.len(), ran.stdout.lines().count() - 1);
    for page in ["appduct.1", "appduct-daemon-status.1", "appduct-sessions-link.1", "appduct-man.1"] {
        assert!(written.iter().any(|name| name == page), "{page}: {written:?}");
    }
    fs::write(place.work().join("file"), "").unwrap();
    let (code, kind, _) = place.run(&["man", "--out", "file", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (1, "internal_error"));
}
