//! `tools` against a scripted daemon.

use serde_json::{Value, json};

use crate::fake_daemon::{Answer, FakeDaemon, error, plain_status, result};

const GROUPS: &str = r#"[{"group":"counter","total":2},{"group":null,"total":1}]"#;

fn entry(name: &str, group: &str) -> String {
    format!(
        "{{\"name\":\"{name}\",\"description\":\"Does it.\",\"input_schema\":{{\"type\":\"object\",\"properties\":{{}}, \
         \"x\" : 1.0 }},\"group\":{group},\"policy\":\"allow\"}}"
    )
}

/// One session, `x`, with three tools; the page is whatever is asked for.
fn one_session() -> FakeDaemon {
    FakeDaemon::new(|method, params| match method {
        "daemon.status" => plain_status(),
        "tools.list" => listing(params),
        _ => error("invalid_request", "not in the script"),
    })
}

fn listing(params: &Value) -> Answer {
    if params["selector"].as_str().is_some_and(|selector| selector != "x") {
        return error("unknown_session", &format!("no live session matches {}", params["selector"]));
    }
    let entries = [entry("call_count", "\"counter\""), entry("reset", "\"counter\""), entry("sum", "null")];
    let limit = usize::try_from(params["limit"].as_u64().unwrap_or(3)).unwrap();
    let shown = entries[..limit.min(3)].join(",");
    result(format!("{{\"tools\":[{shown}],\"total\":3,\"groups\":{GROUPS}}}"))
}

#[test]
fn a_listing_in_both_forms() {
    let daemon = one_session();
    let ran = daemon.place.run(&["tools"]);
    assert_eq!(
        ran.ok(),
        "\
Tools
  counter
    call_count()
      Does it.
    reset()
      Does it.
  (ungrouped)
    sum()
      Does it.

Run `appduct tools <name>` for a tool's full schema.
"
    );
    let ran =
        daemon.place.run(&["tools", "--json", "--limit", "1", "--filter", "007", "--group=counter", "--offset=0"]);
    assert_eq!(
        ran.ok(),
        format!(
            "{{\"ok\":true,\"data\":{{\"tools\":[{}],\"total\":3,\"groups\":{GROUPS},\"group\":\"counter\",\"filter\":\"007\",\
             \"limit\":1,\"offset\":0}}}}\n",
            entry("call_count", "\"counter\"")
        )
    );
    assert_eq!(
        daemon.seen()[1],
        ("tools.list".to_owned(), json!({ "group": "counter", "filter": "007", "limit": 1, "offset": 0 }))
    );
}

#[test]
fn the_last_filter_wins_and_text_is_taken_as_it_is() {
    let daemon = one_session();
    daemon.place.run(&["tools", "--filter", "a", "--filter=-1e3"]).ok();
    assert_eq!(daemon.seen()[0].1, json!({ "filter": "-1e3" }));
}

#[test]
fn groups_ask_for_one_tool_only() {
    let daemon = one_session();
    let ran = daemon.place.run(&["tools", "--groups"]);
    assert_eq!(
        ran.ok(),
        "Groups\n  counter      2\n  (ungrouped)  1\n\n3 tools in total. Run `appduct tools --group <name>` to list one group's \
         tools.\n"
    );
    assert_eq!(daemon.seen(), [("tools.list".to_owned(), json!({ "limit": 1 }))]);
    let ran = daemon.place.run(&["tools", "--groups", "--json"]);
    assert_eq!(ran.ok(), format!("{{\"ok\":true,\"data\":{{\"groups\":{GROUPS},\"total\":3}}}}\n"));
}

#[test]
fn a_single_word_is_a_tool_first_and_a_session_second() {
    let daemon = one_session();
    let ran = daemon.place.run(&["tools", "sum"]);
    assert_eq!(
        ran.ok(),
        "Tool: sum\n  Signature     sum()\n  Description   Does it.\n  Input schema  \
         {\"type\":\"object\",\"properties\":{},\"x\":1.0}\n"
    );
    let ran = daemon.place.run(&["tools", "sum", "--json"]);
    assert_eq!(ran.ok(), format!("{{\"ok\":true,\"data\":{}}}\n", entry("sum", "null")));
    let ran = daemon.place.run(&["tools", "x", "--limit", "1"]);
    assert!(ran.ok().starts_with("Tools\n  counter\n"), "{ran}");
    assert_eq!(daemon.seen().last().unwrap().1, json!({ "selector": "x", "limit": 1 }));
    let (code, kind, _) = daemon.place.run(&["tools", "y", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (71, "unknown_session"));
}

#[test]
fn a_listing_flag_next_to_a_tool_is_refused_after_the_probe() {
    let daemon = one_session();
    for flags in [&["--groups"][..], &["--group", "counter"], &["--filter", "a"], &["--limit", "1"], &["--offset", "0"]]
    {
        let (code, kind, message) = daemon.place.run(&[&["tools", "sum", "--json"], flags].concat()).failure();
        assert_eq!((code, kind.as_str()), (64, "usage_error"));
        assert!(message.ends_with("only apply to a tools listing, not a single tool lookup."), "{message}");
    }
    daemon.place.run(&["tools", "sum", "--full"]).ok();
}

#[test]
fn groups_take_no_value() {
    let daemon = one_session();
    let (code, kind, message) = daemon.place.run(&["tools", "--groups", "diagnostics", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (64, "usage_error"));
    assert_eq!(
        message,
        "No session matches \"diagnostics\". \"--groups\" takes no value; to list one group's tools, use \"--group \
         diagnostics\"."
    );
}

#[test]
fn a_named_session_and_tool_need_no_probe() {
    let daemon = one_session();
    for args in [&["tools", "x", "sum"][..], &["tools", "--session", "x", "sum"], &["tools", "describe", "x", "sum"]] {
        assert!(daemon.place.run(args).ok().starts_with("Tool: sum\n"));
        assert_eq!(daemon.seen().last().unwrap().1, json!({ "selector": "x" }));
    }
    assert_eq!(daemon.seen().len(), 3);
    let document = daemon.place.run(&["tools", "x", "nope", "--json"]).json();
    assert_eq!(
        document["error"],
        json!({
            "type": "usage_error",
            "message": "Tool \"nope\" is not registered on session \"x\".",
            "details": { "available": ["call_count", "reset", "sum"] },
            "hint": "Run `appduct tools` to see the session's tools.",
        })
    );
    let ran = daemon.place.run(&["tools", "describe", "nope", "--json"]);
    assert_eq!(ran.failure(), (64, "usage_error".to_owned(), "Tool \"nope\" is not registered.".to_owned()));
}

#[test]
fn both_grammars_do_the_same() {
    let daemon = one_session();
    let place = &daemon.place;
    assert_eq!(place.run(&["tools", "ls"]).ok(), place.run(&["tools"]).ok());
    assert_eq!(place.run(&["tools", "--full", "ls", "x"]).ok(), place.run(&["tools", "x", "--full"]).ok());
    assert_eq!(place.run(&["tools", "--json", "describe", "sum"]).ok(), place.run(&["tools", "sum", "--json"]).ok());
    assert_eq!(place.run(&["tools", "--session", "x", "--groups"]).ok(), place.run(&["tools", "ls", "--groups"]).ok());
}

#[test]
fn a_verb_wins_over_a_tool_of_its_name() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(format!(
            "{{\"tools\":[{}],\"total\":1,\"groups\":[{{\"group\":null,\"total\":1}}]}}",
            entry("ls", "null")
        )),
    });
    assert!(daemon.place.run(&["tools", "ls"]).ok().starts_with("Tools\n"));
    assert!(daemon.place.run(&["tools", "describe", "ls"]).ok().starts_with("Tool: ls\n"));
    assert!(daemon.place.run(&["tools", "x", "ls"]).ok().starts_with("Tool: ls\n"));
}

#[test]
fn a_daemon_without_groups_lists_plainly_and_refuses_groups() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result("{\"tools\":[{\"name\":\"sum\",\"policy\":\"allow\"}],\"total\":1}"),
    });
    assert!(daemon.place.run(&["tools"]).ok().starts_with("Tools\n  sum()\n"));
    let ran = daemon.place.run(&["tools", "--json"]);
    assert_eq!(ran.ok(), "{\"ok\":true,\"data\":{\"tools\":[{\"name\":\"sum\",\"policy\":\"allow\"}],\"total\":1}}\n");
    for flags in [&["--groups"][..], &["--group", "a"]] {
        let (code, kind, message) = daemon.place.run(&[&["tools", "--json"], flags].concat()).failure();
        assert_eq!((code, kind.as_str()), (70, "connection_error"));
        for words in ["does not support tool groups", "appduct daemon stop", "--daemon-restart"] {
            assert!(message.contains(words), "{message}");
        }
    }
}

#[test]
fn hostile_text_stays_harmless_in_both_forms() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(
            "{\"tools\":[{\"name\":\"a\",\"description\":\"x\u{9b}2J\u{202e}\\u001b[2J\\u2028y\",\"group\":\"g\\n\",\
             \"policy\":\"allow\"}],\"total\":1,\"groups\":[{\"group\":\"g\\n\",\"total\":1}]}",
        ),
    });
    let harmless = |text: &str| {
        !text.chars().any(|character| {
            (character.is_control() && character != '\n') || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202e}')
        })
    };
    for args in [&["tools"][..], &["tools", "--full"], &["tools", "a"], &["tools", "--groups"], &["tools", "--json"]] {
        let ran = daemon.place.run(args);
        assert!(harmless(ran.ok()), "{ran}");
    }
    let ran = daemon.place.run(&["tools", "--json"]);
    assert!(ran.stdout.contains("x\\u009b2J\\u202e\\u001b[2J\\u2028y"), "{ran}");
    let ran = daemon.place.run(&["tools", "a"]);
    assert!(ran.stdout.contains("Description  x\\u009b2J\\u202e\\u001b[2J\\u2028y\n"), "{ran}");
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let daemon = one_session();
    for args in [&["tools"][..], &["tools", "--json"]] {
        let ran = daemon.place.run_into(args, "/dev/full");
        assert_eq!(ran.code, Some(1), "{args:?}");
        assert!(ran.stderr.contains("internal_error"), "{args:?} {ran}");
        assert!(ran.stderr.contains("The output cannot be written: "), "{args:?} {ran}");
    }
    // A refusal keeps its own status, and is told where it can be.
    let ran = daemon.place.run_into(&["tools", "--json", "--nonsense"], "/dev/full");
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("nonsense"), "{ran}");
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let daemon = one_session();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = daemon.place.command(&["tools", "--json"]).stdout(writer).spawn().unwrap();
    let ran = daemon.place.ended(child);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
