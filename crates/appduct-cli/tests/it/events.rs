//! `events`: the stream, what is held, and what is declared.

use std::io::{BufRead, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fake_daemon::{Answer, FakeDaemon, error, plain_status, result};
use crate::run::Place;

const CART: &str = r#"{"kind":"app_event","sessionId":"s1","alias":"pixel-8","data":{"name":"cart", "payload":{"n":1.0}},"ts":1773741600000,"seq":4}"#;
const CLAIMED: &str =
    r#"{"kind":"session_claimed","sessionId":"s1","alias":"pixel-8","data":{"device":{}},"ts":1773741600000,"seq":0}"#;
const GONE: &str = r#"{"kind":"session_revoked","sessionId":"s1","ts":1773741600000,"seq":0}"#;

const HUMAN: &str = "\
2026-03-17T10:00:00.000Z session_claimed pixel-8 {\"device\":{}}
2026-03-17T10:00:00.000Z app_event pixel-8 {\"name\":\"cart\",\"payload\":{\"n\":1.0}}
2026-03-17T10:00:00.000Z session_revoked s1
";

fn events() -> Vec<String> {
    [CLAIMED, CART, GONE].map(str::to_owned).to_vec()
}

/// Sends three events and goes.
fn leaving() -> FakeDaemon {
    daemon(|| Answer::Farewell(events()))
}

fn daemon(stream: impl Fn() -> Answer + Send + Sync + 'static) -> FakeDaemon {
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        "events.subscribe" => stream(),
        "sessions.list" => result(
            r#"[{"sessionId":"s1","alias":"pixel-8","state":"active","device":{},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":0}]"#,
        ),
        _ => error("invalid_request", "not in the script"),
    })
}

#[track_caller]
fn subscribed(daemon: &FakeDaemon) -> Value {
    daemon.seen().into_iter().rfind(|(method, _)| method == "events.subscribe").unwrap().1
}

#[test]
fn what_happens_is_shown_until_the_daemon_goes() {
    let daemon = leaving();
    for args in [&["events"][..], &["events", "tail"], &["events", "--follow"], &["events", "tail", "--follow"]] {
        assert_eq!(daemon.place.run(args).ok(), HUMAN, "{args:?}");
        assert_eq!(subscribed(&daemon), json!({}), "{args:?}");
    }
}

#[test]
fn a_program_gets_a_line_for_each_event_whatever_else_is_asked() {
    let daemon = leaving();
    let ran = daemon.place.run(&["events", "--json", "--pretty", "--verbose"]);
    let lines: Vec<Value> = ran.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ran.stdout.lines().nth(1), Some(CART));
    assert_eq!((lines.len(), &lines[2]["kind"]), (3, &json!("session_revoked")));
}

#[test]
fn events_are_narrowed_by_the_daemon() {
    let daemon = leaving();
    for (args, params) in [
        (&["events", "pixel-8"][..], json!({ "sessionSelector": "pixel-8" })),
        (&["events", "--session", "s1"], json!({ "sessionSelector": "s1" })),
        (&["events", "tail", "pixel-8"], json!({ "sessionSelector": "pixel-8" })),
        (&["events", "--name", "cart.*"], json!({ "kinds": ["app_event"], "name": "cart.*" })),
        (
            &["events", "--kind", "app_event,tools_changed", "--kind=link_created"],
            json!({ "kinds": ["app_event", "tools_changed", "link_created"] }),
        ),
        (&["events", "--payload-max-bytes", "100"], json!({ "payloadMaxBytes": 100 })),
    ] {
        daemon.place.run(args).ok();
        assert_eq!(subscribed(&daemon), params, "{args:?}");
    }
}

#[test]
fn a_stream_ends_after_so_many() {
    let daemon = daemon(|| Answer::Stream(events()));
    let ran = daemon.place.run(&["events", "--limit", "2", "--json"]);
    assert_eq!(ran.ok().lines().count(), 2);
}

#[test]
fn a_signal_ends_a_stream_well() {
    for signal in [Signal::INT, Signal::TERM] {
        let daemon = daemon(|| Answer::Stream(events()));
        let mut child = daemon.place.command(&["events"]).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut shown = String::new();
        for _ in 0..3 {
            stdout.read_line(&mut shown).unwrap();
        }
        // Each line comes at once, also through a pipe.
        assert_eq!(shown, HUMAN);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(daemon.place.ended(child).ok(), "");
    }
}

#[test]
fn a_reader_that_goes_ends_a_stream_quietly() {
    // More than a pipe holds.
    let daemon = daemon(|| Answer::Stream(std::iter::repeat_with(|| CART.to_owned()).take(10_000).collect()));
    for args in [&["events"][..], &["events", "--json"]] {
        let mut child = daemon.place.command(args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("app_event"), "{line}");
        assert_eq!(daemon.place.ended(child).ok(), "");
    }
}

#[test]
fn a_session_that_is_not_there_is_told_of_and_waited_for() {
    let daemon = daemon(|| Answer::Stream(events()));
    let ran = daemon.place.run(&["events", "pixel-9", "--limit", "3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), HUMAN));
    assert_eq!(ran.stderr, "No live session has the id or alias \"pixel-9\" yet. Did you mean `pixel-8`?\n");
    assert_eq!(daemon.place.run(&["events", "pixel-9", "--limit", "3", "--json"]).stderr, "");
}

fn holding(page: &'static str) -> FakeDaemon {
    FakeDaemon::new(move |method, params| match (method, params["selector"].as_str()) {
        ("daemon.status", _) => plain_status(),
        ("events.since", Some("nobody")) => error("unknown_session", "no such session"),
        ("events.since", _) => result(page),
        ("sessions.list", _) => result("[]"),
        _ => error("invalid_request", "not in the script"),
    })
}

#[test]
fn what_is_held_is_printed_with_a_cursor_at_the_end() {
    let daemon = holding(
        r#"{"events":[{"kind":"app_event","sessionId":"s1","alias":"pixel-8","data":{"name":"cart"},"ts":1773741600000,"seq":4}],"cursor":4,"dropped":1,"remaining":2}"#,
    );
    let shown = "2026-03-17T10:00:00.000Z app_event pixel-8 {\"name\":\"cart\"}\n";
    let ran = daemon.place.run(&["events", "--since", "2"]);
    assert_eq!(
        ran.ok(),
        format!("{shown}cursor: 4, dropped: 1, remaining: 2. Go on with `appduct events --since 4`.\n")
    );
    for args in [
        &["events", "pixel-8", "--since", "2", "--limit", "1", "--name", "c*", "--payload-max-bytes=9"][..],
        &["events", "since", "pixel-8", "2", "--limit", "1", "--name", "c*", "--payload-max-bytes=9"],
        &["events", "since", "2", "--session=pixel-8", "--limit", "1", "--name", "c*", "--payload-max-bytes=9"],
    ] {
        let ran = daemon.place.run(args);
        let resume = "appduct events --since 4 --session=pixel-8 --name='c*' --limit=1 --payload-max-bytes=9";
        assert!(ran.ok().ends_with(&format!("remaining: 2. Go on with `{resume}`.\n")), "{ran}");
        let params = json!({ "selector": "pixel-8", "since": 2, "limit": 1, "name": "c*", "payloadMaxBytes": 9 });
        assert_eq!(daemon.seen().last().unwrap().1, params);
    }
    let ran = daemon.place.run(&["events", "--since", "0", "--json"]);
    assert_eq!(ran.ok().lines().last(), Some(r#"{"cursor":4,"dropped":1,"remaining":2}"#));
}

#[test]
fn an_older_daemon_says_less_of_what_it_holds() {
    let daemon = holding(r#"{"events":[],"cursor":0}"#);
    assert_eq!(daemon.place.run(&["events", "--since", "0", "--json"]).ok(), "{\"cursor\":0}\n");
    let ran = daemon.place.run(&["events", "since", "0"]);
    assert_eq!(ran.ok(), "cursor: 0. Go on with `appduct events --since 0`.\n");
}

#[test]
fn what_cannot_be_printed_is_an_error_like_any_other() {
    let daemon = holding("{}");
    let (code, kind, _) = daemon.place.run(&["events", "--since", "0", "nobody", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (71, "unknown_session"));
    let refusing = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => error("invalid_request", "no"),
    });
    assert_eq!(refusing.place.run(&["events", "--json"]).failure().0, 65);
}

#[test]
fn declared_events_are_listed_in_both_forms() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(
            r#"{"events":[{"name":"cart","description":"The cart changed.","payload_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}],"total":2}"#,
        ),
    });
    let ran = daemon.place.run(&["events", "ls", "pixel-8", "--name", "c*", "--limit", "1", "--offset", "0"]);
    assert_eq!(
        ran.ok(),
        "Events\n  cart(n?: int)\n    The cart changed.\n\nShowing 1 of 2 events (offset 0). Narrow with --name <glob> or page \
         with --offset <n>.\n"
    );
    let params = json!({ "selector": "pixel-8", "name": "c*", "limit": 1, "offset": 0 });
    assert_eq!(daemon.seen(), [("events.list".to_owned(), params)]);
    let document = daemon.place.run(&["events", "ls", "--json", "--limit", "1"]).json();
    assert_eq!(document["data"]["total"], 2);
    assert_eq!(document["data"]["limit"], 1);
    assert!(document["data"].get("name").is_none());
}

#[test]
fn what_makes_no_sense_is_refused_before_a_daemon_is_asked() {
    for (args, message) in [
        (&["events", "--since", "1", "--follow"][..], "\"--since\" cannot be combined with \"--follow\"."),
        (&["events", "--since", "-1"], "\"--since\" must be a non-negative integer."),
        (&["events", "--since"], "\"--since\" must be a non-negative integer."),
        (&["events", "--since", "1", "--since", "2"], "\"--since\" must be a non-negative integer."),
        (&["events", "--payload-max-bytes", "0"], "\"--payload-max-bytes\" must be a positive integer."),
        (&["events", "--limit", "x"], "\"--limit\" must be a positive integer."),
        (&["events", "--name"], "\"--name\" requires a value."),
        (&["events", "--since", "1", "--kind", "app_event"], "\"--kind\" does not apply to `events --since`."),
        (&["events", "--offset", "1"], "\"--offset\" does not apply to `events`."),
        (&["events", "tail", "--since", "1"], "\"--since\" does not apply to `events tail`."),
        (&["events", "since", "1", "--follow"], "\"--follow\" does not apply to `events since`."),
        (&["events", "ls", "--payload-max-bytes", "1"], "\"--payload-max-bytes\" does not apply to `events ls`."),
        (&["events", "ls", "--kind", "app_event"], "\"--kind\" does not apply to `events ls`."),
        (
            &["events", "since"],
            "Usage: events since [selector] <cursor> (a cursor is required; 0 is everything that is held).",
        ),
        (&["events", "since", "a", "1", "2"], "Usage: events since [selector] <cursor> (too many arguments)."),
        (&["events", "since", "x"], "\"<cursor>\" must be a non-negative integer."),
        (&["events", "since", "-1"], "\"<cursor>\" must be a non-negative integer."),
        (&["events", "a", "b"], "Usage: events [selector] (too many arguments)."),
        (&["events", "ls", "a", "b"], "Usage: events ls [selector] (too many arguments)."),
        (
            &["events", "--kind", "app_evnt"],
            "\"--kind\" must be daemon_started, link_created, link_expired, session_claimed, session_suspended, \
             session_resumed, session_revoked, session_expired, tools_changed, events_changed, app_event, \
             tool_call_started, tool_call_progress, or tool_call_finished; got \"app_evnt\".",
        ),
    ] {
        let place = Place::new();
        let failure = place.run(&[args, &["--json"]].concat()).failure();
        assert_eq!(failure, (64, "usage_error".to_owned(), message.to_owned()), "{args:?}");
        assert!(!place.state_dir().exists());
    }
}
