//! What somebody who mistyped may have meant.

use crate::fake_daemon::{FakeDaemon, error, plain_status, result};
use crate::run::Place;

const TOOLS: &str = r#"{"tools":[{"name":"sum","policy":"allow"},{"name":"slow_task","group":"diagnostics","policy":"allow"}],"total":2,"groups":[{"group":"diagnostics","total":1},{"group":null,"total":1}]}"#;

/// One session, `pixel-8`, with two tools.
fn daemon() -> FakeDaemon {
    FakeDaemon::new(|method, params| match (method, params["selector"].as_str()) {
        ("daemon.status", _) => plain_status(),
        ("sessions.list", _) => result(
            r#"[{"sessionId":"s1","alias":"pixel-8","state":"active","device":{},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":2}]"#,
        ),
        (_, Some(selector)) if selector != "pixel-8" => error("unknown_session", "no such session"),
        ("tools.list", _) if params["group"].is_string() => {
            result(r#"{"tools":[],"total":0,"groups":[{"group":"diagnostics","total":1}]}"#)
        }
        ("tools.list", _) => result(TOOLS),
        ("tools.call", _) => error("tool_not_found", "no such tool"),
        _ => error("invalid_request", "not in the script"),
    })
}

#[test]
fn a_word_of_the_command_line_is_corrected() {
    for (args, hint) in [
        (&["toolz"][..], "Did you mean `tools`?"),
        (&["evnts"], "Did you mean `events`?"),
        (&["ls", "--jsn"], "Did you mean `--json`?"),
        (&["tools", "--grup", "x"], "Did you mean `--group`?"),
        (&["daemon", "strt"], "Did you mean `start` or `status`?"),
        (&["sessions", "revke"], "Did you mean `revoke`?"),
        (&["events", "--kind", "app_evnt"], "Did you mean `app_event`?"),
        (&["ls", "--color", "alway"], "Did you mean `always`?"),
        (&["zzz"], "Run `appduct --help` to see how it is used."),
    ] {
        let ran = Place::new().run(args);
        assert_eq!(ran.code, Some(64));
        assert!(ran.stderr.ends_with(&format!("  Hint     {hint}\n")), "{ran}");
    }
}

#[test]
fn a_tool_a_session_or_a_group_is_corrected() {
    let daemon = daemon();
    for (args, code, hint) in [
        (&["invoke", "sun"][..], 72, "Did you mean `sum`?"),
        (&["invoke", "pixel-8", "slow-task"], 72, "Did you mean `slow_task`?"),
        (&["invoke", "pixel", "sum"], 71, "Did you mean `pixel-8`?"),
        (&["tools", "sun"], 71, "Did you mean `sum`?"),
        (&["tools", "pixl-8"], 71, "Did you mean `pixel-8`?"),
        (&["tools", "lss"], 71, "Did you mean `ls`?"),
        (&["tools", "describ", "sum"], 71, "Did you mean `describe`?"),
        (&["tools", "describe", "sun"], 64, "Did you mean `sum`?"),
        (&["tools", "ls", "pixel8"], 71, "Did you mean `pixel-8`?"),
        (&["tools", "--groups", "diagnostic"], 64, "Did you mean `diagnostics`?"),
        (&["tools", "--groups", "pixel"], 64, "Did you mean `pixel-8`?"),
        (&["revoke", "Pixel-8"], 71, "Did you mean `pixel-8`?"),
        (&["events", "ls", "pixel"], 71, "Did you mean `pixel-8`?"),
        (&["events", "--since", "0", "pixel"], 71, "Did you mean `pixel-8`?"),
        (&["revoke", "nothing-like-it"], 71, "`appduct ls` lists the live sessions."),
    ] {
        let ran = daemon.place.run(args);
        assert_eq!(ran.code, Some(code), "{ran}");
        assert!(ran.stderr.ends_with(&format!("  Hint     {hint}\n")), "{ran}");
    }
    let ran = daemon.place.run(&["tools", "--group", "Diagnostics"]);
    assert_eq!(ran.stderr, "Did you mean `diagnostics`?\n");
    assert!(ran.stdout.contains("No tools in group \"Diagnostics\"."), "{ran}");
    assert_eq!(daemon.place.run(&["tools", "--group", "Diagnostics", "--json"]).stderr, "");
}
