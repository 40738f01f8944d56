//! Colour is for terminals; everything here is a pipe.

use crate::fake_daemon::{FakeDaemon, plain_status, result};

fn daemon() -> FakeDaemon {
    FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "tools.list" => result(
            r#"{"tools":[{"name":"a","group":"g","policy":"allow"}],"total":1,"groups":[{"group":"g","total":1}]}"#,
        ),
        _ => result("[]"),
    })
}

const PLAIN: &str = "Tools\n  g\n    a()\n\nRun `appduct tools <name>` for a tool's full schema.\n";
const COLOURED: &str = "\u{1b}[32mTools\u{1b}[39m\n  \u{1b}[36mg\u{1b}[39m\n    a()\n\nRun `appduct tools <name>` for a tool's full \
                        schema.\n";

#[test]
fn a_pipe_gets_plain_text_unless_colour_is_forced() {
    let daemon = daemon();
    for (flags, env, expected) in [
        (&[][..], &[][..], PLAIN),
        (&["--color", "auto"], &[], PLAIN),
        (&["--color", "always"], &[], COLOURED),
        (&["--color=always"], &[("NO_COLOR", "1")], COLOURED),
        (&["--color", "never"], &[("FORCE_COLOR", "1")], PLAIN),
        (&["--no-color"], &[("FORCE_COLOR", "1")], PLAIN),
        (&["--no-color", "--color", "always"], &[], PLAIN),
        (&[], &[("FORCE_COLOR", "1")], COLOURED),
        (&[], &[("FORCE_COLOR", "0")], PLAIN),
        (&[], &[("CLICOLOR_FORCE", "1")], COLOURED),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], PLAIN),
        (&[], &[("TERM", "dumb")], PLAIN),
    ] {
        let ran = daemon.place.run_with(&[&["tools"], flags].concat(), env);
        assert_eq!(ran.ok(), expected, "{flags:?} {env:?}");
    }
}

#[test]
fn json_is_never_coloured() {
    let daemon = daemon();
    let ran = daemon.place.run(&["ls", "--json", "--color", "always"]);
    assert_eq!(ran.ok(), "{\"ok\":true,\"data\":[]}\n");
}

#[test]
fn a_failure_is_red_and_an_empty_listing_dim() {
    let daemon = daemon();
    let ran = daemon.place.run(&["ls", "--color", "always"]);
    assert_eq!(ran.ok(), "\u{1b}[2mSessions\u{1b}[22m\n  No Appduct sessions are registered.\n");
    let ran = daemon.place.run(&["x", "--color", "always"]);
    assert!(ran.stderr.starts_with("\u{1b}[31mCommand Failed\u{1b}[39m\nError\n"), "{ran}");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""));
}

#[test]
fn help_follows_the_same_rules() {
    let place = &daemon().place;
    assert!(!place.run(&["--help"]).ok().contains('\u{1b}'));
    assert!(place.run(&["--help", "--color", "always"]).ok().contains('\u{1b}'));
    assert!(!place.run_with(&["--help", "--color", "always", "--no-color"], &[]).ok().contains('\u{1b}'));
}
