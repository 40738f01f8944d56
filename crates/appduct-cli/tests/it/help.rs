//! Help and version: snapshots of every page.

use crate::run::Place;

#[test]
fn every_command_has_its_page() {
    let place = Place::new();
    for (name, args) in [
        ("appduct", &["--help"][..]),
        ("link", &["link", "--help"]),
        ("ls", &["ls", "-h"]),
        ("tools", &["tools", "--help"]),
        ("invoke", &["invoke", "--help"]),
        ("events", &["events", "--help"]),
        ("wait", &["wait", "--help"]),
        ("revoke", &["revoke", "--help"]),
        ("daemon", &["daemon", "--help"]),
        ("daemon_run", &["daemon", "run", "--help"]),
        ("playground", &["playground", "--help"]),
        ("sessions", &["sessions", "--help"]),
        ("init", &["init", "--help"]),
        ("doctor", &["doctor", "--help"]),
        ("keygen", &["keygen", "--help"]),
        ("completions", &["completions", "--help"]),
        ("man", &["man", "--help"]),
    ] {
        insta::assert_snapshot!(format!("help_{name}"), place.run(args).ok());
    }
}

#[test]
fn nothing_typed_is_a_question_for_help() {
    let place = Place::new();
    let ran = place.run(&[]);
    assert_eq!(ran.ok(), place.run(&["-h"]).ok());
    assert!(!place.state_dir().exists());
}

#[test]
fn the_version_is_printed_and_nothing_else_runs() {
    let place = Place::new();
    for args in [&["--version"][..], &["-v"], &["-V"]] {
        assert_eq!(place.run(args).ok(), format!("appduct {}\n", env!("CARGO_PKG_VERSION")));
    }
    assert!(!place.state_dir().exists());
}
