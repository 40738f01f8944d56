//! `wait`, and `link --wait`.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::fake_daemon::{Answer, FakeDaemon, error, plain_status, result};
use crate::run::Place;

fn session(state: &str) -> String {
    format!(
        r#"{{"sessionId":"s1","alias":"pixel-8","state":"{state}","device":{{"model":"Pixel 8"}},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":1}}"#
    )
}

fn event(kind: &str) -> String {
    format!(r#"{{"kind":"{kind}","sessionId":"s1","data":{{}},"ts":0,"seq":0}}"#)
}

/// What each look at the sessions finds, and what happens right after it.
fn daemon(looks: &'static [(&'static str, &'static str)]) -> FakeDaemon {
    let at = AtomicUsize::new(0);
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        "events.subscribe" => result("{\"ok\":true}"),
        "link.create" => result(
            r#"{"sessionId":"s1","deepLinkPayload":"AAAA","endpoint":{"family":4,"address":"127.0.0.1","port":1},"expiresAt":1773741600,"pin":"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}"#,
        ),
        "sessions.list" => {
            let (state, next) = looks[at.fetch_add(1, Ordering::SeqCst).min(looks.len() - 1)];
            let sessions = if state.is_empty() { "[]".to_owned() } else { format!("[{}]", session(state)) };
            let events = if next.is_empty() { Vec::new() } else { vec![event(next)] };
            Answer::Events(events, sessions)
        }
        "tools.list" if at.load(Ordering::SeqCst) > 1 => {
            result(r#"{"tools":[{"name":"sum","policy":"allow"}],"total":1,"groups":[]}"#)
        }
        "tools.list" => result(r#"{"tools":[],"total":0,"groups":[]}"#),
        _ => error("invalid_request", "not in the script"),
    })
}

/// A daemon with one session, whose app has told its tools by look number `told`.
fn pending(told: usize, then: &'static str) -> FakeDaemon {
    let at = AtomicUsize::new(0);
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        "events.subscribe" => result("{\"ok\":true}"),
        "sessions.list" => {
            let is_told = at.fetch_add(1, Ordering::SeqCst) + 1 >= told;
            let pending = session("active").replace("\"toolCount\":1", "\"toolCount\":0,\"toolsPending\":true");
            let events = if then.is_empty() { Vec::new() } else { vec![event(then)] };
            Answer::Events(events, format!("[{}]", if is_told { session("active") } else { pending }))
        }
        _ => error("invalid_request", "not in the script"),
    })
}

fn methods(daemon: &FakeDaemon) -> Vec<String> {
    daemon.seen().into_iter().map(|(method, _)| method).collect()
}

const ACTIVE: &str = "Session Active\nSession\n  Alias   pixel-8\n  Device  Pixel 8\n  Tools   1\n  Id      s1\n";

#[test]
fn a_session_that_is_active_is_not_waited_for() {
    let daemon = daemon(&[("active", "")]);
    for args in [&["wait"][..], &["wait", "pixel-8"], &["wait", "--session", "s1", "--timeout", "1"]] {
        assert_eq!(daemon.place.run(args).ok(), ACTIVE);
    }
    let document = daemon.place.run(&["wait", "--json"]).json();
    assert_eq!(document["data"], serde_json::from_str::<Value>(&session("active")).unwrap());
    assert_eq!(methods(&daemon)[..2], ["events.subscribe", "sessions.list"]);
}

#[test]
fn a_session_is_looked_for_at_every_event_and_never_in_between() {
    let daemon = daemon(&[("", "session_claimed"), ("suspended", "session_resumed"), ("active", "")]);
    assert_eq!(daemon.place.run(&["wait"]).ok(), ACTIVE);
    assert_eq!(methods(&daemon), ["events.subscribe", "sessions.list", "sessions.list", "sessions.list"]);
}

#[test]
fn tools_that_the_app_is_about_to_tell_are_waited_for() {
    let daemon = pending(2, "tools_changed");
    assert_eq!(daemon.place.run(&["wait"]).ok(), ACTIVE);
    assert_eq!(methods(&daemon), ["events.subscribe", "sessions.list", "sessions.list"]);
}

#[test]
fn an_app_that_tells_no_tools_is_waited_for_a_little_while() {
    let daemon = pending(usize::MAX, "");
    assert_eq!(daemon.place.run(&["wait", "--timeout", "60"]).ok(), ACTIVE.replace("Tools   1", "Tools   0"));
    assert_eq!(methods(&daemon), ["events.subscribe", "sessions.list", "sessions.list"]);
}

#[test]
fn a_tool_can_be_waited_for() {
    let daemon = daemon(&[("active", "tools_changed")]);
    assert_eq!(daemon.place.run(&["wait", "--tool", "sum"]).ok(), ACTIVE);
    assert_eq!(methods(&daemon), ["events.subscribe", "sessions.list", "tools.list", "sessions.list", "tools.list"]);
}

#[test]
fn patience_has_an_end() {
    let daemon = daemon(&[("suspended", "")]);
    let ran = daemon.place.run(&["wait", "--timeout", "1"]);
    insta::assert_snapshot!("wait_timeout", ran);
    let ran = daemon.place.run(&["wait", "pixel8", "--timeout", "1"]);
    assert!(ran.stderr.contains("Did you mean `pixel-8`?"), "{ran}");
    let document = daemon.place.run(&["wait", "--timeout", "1", "--json"]);
    assert_eq!(document.code, Some(71));
    assert_eq!(document.json()["error"]["details"], json!({ "timeoutSeconds": 1 }));
}

#[test]
fn a_daemon_that_goes_is_a_connection_error() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "events.subscribe" => Answer::Farewell(Vec::new()),
        _ => result("[]"),
    });
    let (code, kind, _) = daemon.place.run(&["wait", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (70, "connection_error"));
}

#[test]
fn a_link_waits_for_its_own_session() {
    let daemon = daemon(&[("", "session_claimed"), ("active", "")]);
    let ran = daemon.place.run(&["link", "--scheme", "demo", "--wait"]);
    assert!(ran.ok().starts_with("Link Created\nLink\n  Session    s1\n"), "{ran}");
    assert!(ran.ok().ends_with(ACTIVE), "{ran}");
    assert_eq!(methods(&daemon)[..2], ["events.subscribe", "link.create"]);
}

#[test]
fn a_link_that_nobody_opens_in_time_fails_after_it_was_shown() {
    for (looks, args, message) in [
        (&[("", "")][..], &["--wait-timeout", "1"][..], "No app opened the link within 1 s."),
        (&[("", "link_expired")], &[], "The link expired before an app opened it."),
        (&[("", "session_revoked")], &[], "The link was revoked before an app opened it."),
    ] {
        let daemon = daemon(looks);
        let ran = daemon.place.run(&[&["link", "--scheme", "demo", "--wait", "--json"], args].concat());
        let (link, failure): (Value, Value) =
            (serde_json::from_str(&ran.stdout).unwrap(), serde_json::from_str(&ran.stderr).unwrap());
        assert_eq!((ran.code, &link["data"]["sessionId"]), (Some(71), &json!("s1")));
        assert_eq!(failure["error"]["type"], "session_error");
        assert_eq!(failure["error"]["message"], message);
    }
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    for (args, message) in [
        (&["wait", "a", "b"][..], "Usage: wait [selector] (too many arguments)."),
        (&["wait", "--timeout", "0"], "\"--timeout\" must be a positive integer."),
        (
            &["wait", "--tool", "a b"],
            "\"--tool\" must be a tool's name (1 to 64 letters, digits, \"_\" or \"-\"); got \"a b\".",
        ),
        (&["link", "--wait-timeout", "5"], "\"--wait-timeout\" only applies together with \"--wait\"."),
        (&["link", "--wait", "--wait-timeout", "-5"], "\"--wait-timeout\" must be a positive integer."),
    ] {
        let place = Place::new();
        let failure = place.run(&[args, &["--json"]].concat()).failure();
        assert_eq!(failure, (64, "usage_error".to_owned(), message.to_owned()), "{args:?}");
        assert!(!place.state_dir().exists());
    }
}
