//! What a shell is given, by its script and at each question.

use serde_json::json;

use crate::fake_daemon::{FakeDaemon, error, plain_status, result};
use crate::run::Place;

/// Two sessions, each with its own tools.
fn daemon() -> FakeDaemon {
    let session = |alias: &str| {
        json!({ "sessionId": format!("id-{alias}"), "alias": alias, "state": "active", "device": { "model": "Pixel" },
            "createdAt": "2026-03-17T10:00:00.000Z", "toolCount": 2 })
    };
    let tools = json!([
        { "name": "sum", "description": "Adds.\u{1b}[2J", "group": "math", "policy": "allow",
          "input_schema": { "type": "object", "properties": { "a": {}, "b": {}, "x y": {} } } },
        { "name": "$(reboot)", "group": null, "policy": "allow" },
    ]);
    let groups = json!([{ "group": "math", "total": 1 }, { "group": null, "total": 1 }]);
    FakeDaemon::new(move |method, params| match (method, params["selector"].as_str()) {
        ("daemon.status", _) => plain_status(),
        ("sessions.list", _) => result(json!([session("one"), session("two")]).to_string()),
        ("events.list", Some("one")) => result(
            r#"{"events":[{"name":"cart.changed","description":"It changed."},{"name":"$(reboot)","description":"x"}],"total":2}"#,
        ),
        (_, Some("one" | "id-one")) => result(json!({ "tools": tools, "total": 2, "groups": groups }).to_string()),
        (_, Some(_)) => error("unknown_session", "no"),
        (_, None) => error("ambiguous_session", "one, two"),
    })
}

/// What is offered for the last of these words, but for options where they are all that is left.
fn offered(place: &Place, shell: &str, words: &[&str]) -> String {
    let index = (words.len()).to_string();
    let env = [("APPDUCT_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", &index), ("_CLAP_IFS", " ")];
    let offered = place.run_with(&[&["--", "appduct"], words].concat(), &env).ok().trim_end().to_owned();
    if offered.starts_with("--") && !words.last().unwrap().starts_with('-') { String::new() } else { offered }
}

#[test]
fn each_shell_has_its_script() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = place.run(&["completions", shell]);
        insta::assert_snapshot!(format!("completions_{shell}"), ran.ok());
        let document = place.run(&["completions", shell, "--json"]).json();
        assert_eq!(document["data"], json!({ "shell": shell, "script": ran.stdout }));
    }
    let (code, _, message) = place.run(&["completions", "tcsh", "--json"]).failure();
    assert_eq!((code, message.as_str()), (64, "\"<shell>\" must be bash, zsh, or fish; got \"tcsh\"."));
    let (code, _, message) = place.run(&["completions", "--json"]).failure();
    assert_eq!((code, message.as_str()), (64, "Usage: completions <shell> (<shell> is required)."));
}

#[test]
fn commands_and_options_need_no_daemon() {
    let place = Place::new();
    assert_eq!(offered(&place, "bash", &["re"]), "revoke");
    assert_eq!(offered(&place, "bash", &["daemon", "st"]), "start stop status");
    assert_eq!(offered(&place, "bash", &["link", "--open", ""]), "android ios-sim ios-device web");
    assert_eq!(offered(&place, "bash", &["tools", ""]), "ls describe call");
    assert_eq!(offered(&place, "bash", &["invoke", ""]), "");
    assert!(!place.state_dir().exists(), "no daemon is started");
}

#[test]
fn options_are_offered_where_a_dash_is_typed_or_nothing_else_is_there() {
    let place = Place::new();
    assert_eq!(offered(&place, "bash", &["link", "--re"]), "--relaunch");
    assert_eq!(offered(&place, "bash", &["tools", "--gr"]), "--group --groups");
    let env = [("APPDUCT_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "2"), ("_CLAP_IFS", " ")];
    let ran = place.run_with(&["--", "appduct", "ls", ""], &env);
    assert!(ran.ok().contains("--json"), "{ran}");
}

#[test]
fn sessions_tools_groups_and_keys_come_from_the_daemon() {
    let daemon = daemon();
    let check =
        |words: &[&str], expected: &str| assert_eq!(offered(&daemon.place, "bash", words), expected, "{words:?}");
    check(&["revoke", ""], "one two");
    check(&["revoke", "tw"], "two");
    check(&["revoke", "one", ""], "");
    check(&["sessions", "revoke", "o"], "one");
    check(&["tools", ""], "ls describe call one two");
    check(&["tools", "one", ""], "sum");
    check(&["tools", "--session", ""], "one two");
    check(&["tools", "--session", "one", ""], "sum");
    check(&["tools", "describe", "one", "s"], "sum");
    check(&["tools", "ls", ""], "one two");
    check(&["tools", "one", "--group", ""], "math");
    check(&["invoke", ""], "one two");
    check(&["invoke", "one", ""], "sum");
    check(&["invoke", "id-one", ""], "sum");
    check(&["invoke", "one", "sum", ""], "a= b=");
    check(&["invoke", "--session", "one", "sum", "a=1", ""], "b=");
    check(&["tools", "call", "one", "sum", "b:=1", ""], "a=");
    check(&["invoke", "two", ""], "");
    check(&["wait", ""], "one two");
    check(&["wait", "one", "--tool", ""], "sum");
    check(&["events", ""], "ls tail since one two");
    check(&["events", "tail", ""], "one two");
    check(&["events", "one", ""], "");
    check(&["events", "one", "--name", ""], "cart.changed");
    check(&["events", "--session", "one", "--name", "ca"], "cart.changed");
    check(&["events", "since", ""], "one two");
    check(&["events", "ls", ""], "one two");
    check(&["policy", "explain", "one", ""], "sum");
    check(&["mcp", "--session", ""], "one two");
    check(&["mcp", "--session", "one", "--group", ""], "math");
    check(&["events", "--kind", "tools"], "tools_changed");
}

#[test]
fn help_of_an_app_is_harmless() {
    let daemon = daemon();
    let env = [("APPDUCT_COMPLETE", "fish")];
    let ran = daemon.place.run_with(&["--", "appduct", "tools", "one", ""], &env);
    assert!(ran.ok().contains("sum\tAdds.[2J\n"), "{ran}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains("reboot"), "{ran}");
}

#[test]
fn a_state_directory_on_the_line_is_asked() {
    let daemon = daemon();
    let place = Place::new();
    let state_dir = daemon.place.state_dir();
    assert_eq!(offered(&place, "bash", &["--state-dir", state_dir.to_str().unwrap(), "revoke", ""]), "one two");
}

#[test]
fn a_daemon_that_does_not_answer_offers_nothing() {
    let daemon = FakeDaemon::new(|_, _| crate::fake_daemon::Answer::Silence);
    assert_eq!(offered(&daemon.place, "bash", &["revoke", ""]), "");
    let daemon = FakeDaemon::new(|_, _| crate::fake_daemon::Answer::Hangup);
    assert_eq!(offered(&daemon.place, "bash", &["invoke", ""]), "");
}
