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
        ("policy", &["policy", "--help"]),
        ("policy_explain", &["policy", "explain", "--help"]),
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

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    let place = Place::new();
    for args in
        [&["--help"][..], &[], &["tools", "--help"], &["--version"], &["man", "tools"], &["completions", "bash"]]
    {
        let ran = place.run_into(args, "/dev/full");
        assert_eq!(ran.code, Some(1), "{args:?}");
        assert!(ran.stderr.contains("The output cannot be written: "), "{args:?} {ran}");
    }
}

#[test]
fn the_word_help_is_the_option() {
    let place = Place::new();
    for (words, option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "tools"], &["tools", "--help"]),
        (&["help", "daemon", "run"], &["daemon", "run", "--help"]),
    ] {
        assert_eq!(place.run(words).ok(), place.run(option).ok());
    }
    assert_eq!(place.run(&["help", "nonsense"]).code, Some(64));
}
