//! `invoke`.

use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fake_daemon::{Answer, FakeDaemon, error, plain_status, result};
use crate::run::Place;

const SUM: &str = r#"{"name":"sum","description":"Adds.","input_schema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]},"group":null,"policy":"allow"}"#;

/// Answers every call with its arguments.
fn echo() -> FakeDaemon {
    FakeDaemon::new(|method, params| match method {
        "daemon.status" => plain_status(),
        "tools.list" => result(format!("{{\"tools\":[{SUM}],\"total\":1,\"groups\":[]}}")),
        "tools.call" => result(format!("{{\"result\":{},\"callId\":\"call_1\"}}", params["args"])),
        _ => error("invalid_request", "not in the script"),
    })
}

fn returning(value: &'static str) -> FakeDaemon {
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(format!("{{\"result\":{value},\"callId\":\"call_1\"}}")),
    })
}

fn last_call(daemon: &FakeDaemon) -> Value {
    daemon.seen().into_iter().rfind(|(method, _)| method == "tools.call").unwrap().1
}

#[test]
fn an_input_comes_from_the_line_a_file_or_stdin() {
    let daemon = echo();
    let place = &daemon.place;
    std::fs::write(place.work().join("in.json"), "{\"from\":\"file\"}\n").unwrap();
    for (ran, args) in [
        (place.run(&["invoke", "sum", "--input", "{\"a\":1}"]), json!({ "a": 1 })),
        (place.run(&["invoke", "sum", "--input", "@in.json"]), json!({ "from": "file" })),
        (place.run_with_stdin(&["invoke", "sum", "--input", "-"], "{\"from\":\"stdin\"}"), json!({ "from": "stdin" })),
        (place.run(&["invoke", "sum"]), json!({})),
        (place.run(&["tools", "call", "sum", "x:=[1, null]"]), json!({ "x": [1, null] })),
        (place.run(&["tools", "--input", "{\"a\":2}", "call", "sum"]), json!({ "a": 2 })),
    ] {
        assert_eq!(ran.ok(), format!("Result\n{args}\n"));
    }
    let (code, kind, message) = place.run(&["invoke", "sum", "--input", "@nowhere.json", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (65, "validation_error"));
    assert!(message.contains("@nowhere.json"), "{message}");
}

#[test]
fn words_are_typed_by_the_tools_schema() {
    let daemon = echo();
    daemon.place.run(&["invoke", "sum", "a=2", "b=3.50", "note=007"]).ok();
    assert_eq!(last_call(&daemon), json!({ "name": "sum", "args": { "a": 2, "b": 3.50, "note": "007" } }));
    let ran = daemon.place.run(&["invoke", "sum", "a=two", "b=3"]);
    insta::assert_snapshot!("invoke_word_of_another_type", ran);
}

#[test]
fn a_session_is_named_before_the_tool_or_by_its_flag() {
    let daemon = echo();
    for args in
        [&["invoke", "x", "sum", "--timeout", "1e3"][..], &["invoke", "sum", "--session", "x", "--timeout=1000"]]
    {
        daemon.place.run(args).ok();
        assert_eq!(last_call(&daemon), json!({ "selector": "x", "name": "sum", "args": {}, "timeoutMs": 1000 }));
    }
}

#[test]
fn a_result_is_shown_by_its_kind() {
    for (value, shown) in [
        ("{ \"total\" : 5.0 }", "{\"total\":5.0}"),
        ("\"two\\nlines\\u001b[2J\"", "two\\nlines\\u001b[2J"),
        ("\"\\ud800\"", "\"\\ud800\""),
        ("null", "null"),
        ("1e400", "1e400"),
        ("true", "true"),
        ("[1, 2]", "[1,2]"),
    ] {
        let daemon = returning(value);
        assert_eq!(daemon.place.run(&["invoke", "t"]).ok(), format!("Result\n{shown}\n"));
        assert_eq!(daemon.place.run(&["invoke", "t", "--json"]).ok(), format!("{{\"ok\":true,\"data\":{value}}}\n"));
    }
    let daemon = returning("{\"a\":[1]}");
    assert_eq!(daemon.place.run(&["invoke", "t", "--pretty"]).ok(), "Result\n{\n  \"a\": [\n    1\n  ]\n}\n");
}

#[test]
fn a_failed_call_keeps_what_the_app_said() {
    let daemon = FakeDaemon::new(|method, _| {
        match method {
        "daemon.status" => plain_status(),
        _ => Answer::Error(
            r#"{"code":-32000,"message":"The tool handler threw.\nTwice.","data":{"type":"tool_execution_error","details":{"hint" : "test"}}}"#
                .to_owned(),
        ),
    }
    });
    insta::assert_snapshot!("invoke_failed", daemon.place.run(&["invoke", "t"]));
    let ran = daemon.place.run(&["invoke", "t", "--json"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (
            Some(72),
            "{\"ok\":false,\"error\":{\"type\":\"tool_execution_error\",\"message\":\"The tool handler \
             threw.\\nTwice.\",\"details\":{\"hint\" : \"test\"}}}\n",
            ""
        )
    );
}

#[test]
fn a_failed_validation_shows_the_signature() {
    let daemon = FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "tools.list" => result(format!("{{\"tools\":[{SUM}],\"total\":1,\"groups\":[]}}")),
        _ => error("tool_input_validation_error", "\"b\" is required"),
    });
    insta::assert_snapshot!("invoke_invalid", daemon.place.run(&["invoke", "sum", "a=2"]));
}

#[test]
fn a_failed_validation_shows_each_issue() {
    let of = |details: &'static str| {
        FakeDaemon::new(move |method, _| match method {
            "daemon.status" => plain_status(),
            "tools.list" => result(format!("{{\"tools\":[{SUM}],\"total\":1,\"groups\":[]}}")),
            _ => Answer::Error(format!(
                "{{\"code\":-32000,\"message\":\"the input does not fit\",\"data\":{{\"type\":\
                 \"tool_input_validation_error\",\"details\":{details}}}}}"
            )),
        })
    };
    let issues = r#"{"issues":[{"path":"/a","message":"\"x\" is not of type \"number\"","keyword":"type"},{"path":"","message":"\"b\" is required\u001b","keyword":"required"}]}"#;
    insta::assert_snapshot!("invoke_issues", of(issues).place.run(&["invoke", "sum", "a:=\"x\""]));
    // Anything else is shown as it is.
    let ran = of(r#"{"issues":"many"}"#).place.run(&["invoke", "sum", "a=2"]);
    assert!(ran.stderr.contains("\n  Details    {\"issues\":\"many\"}\n"), "{ran}");
}

fn slow() -> FakeDaemon {
    let event = |kind: &str, data: Value| {
        json!({ "kind": kind, "sessionId": "s1", "alias": "x", "data": data, "ts": 0, "seq": 0 }).to_string()
    };
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        "events.subscribe" => result("{\"ok\":true}"),
        "tools.call" => Answer::Events(
            vec![
                event("tool_call_started", json!({ "name": "slow_task", "callId": "call_1" })),
                event("tool_call_progress", json!({ "callId": "call_other", "progress": 0.9 })),
                event("tool_call_progress", json!({ "callId": "call_1", "progress": 0.33, "message": "warming up" })),
                event("tool_call_progress", json!({ "callId": "call_1", "progress": 1, "message": "done\n" })),
            ],
            "{\"result\":{\"done\":true},\"callId\":\"call_1\"}".to_owned(),
        ),
        _ => error("invalid_request", "not in the script"),
    })
}

#[test]
fn progress_goes_to_stderr_where_it_is_wanted() {
    let daemon = slow();
    let ran = daemon.place.run(&["invoke", "slow_task", "--progress", "always"]);
    assert_eq!(ran.stdout, "Result\n{\"done\":true}\n");
    assert_eq!(ran.stderr, "Progress  33%  warming up\nProgress  100%  done\\n\n");
    assert_eq!(
        daemon.seen()[0],
        ("events.subscribe".to_owned(), json!({ "kinds": ["tool_call_started", "tool_call_progress"] }))
    );
    for args in [&["invoke", "slow_task"][..], &["invoke", "slow_task", "--progress", "never"]] {
        assert_eq!(daemon.place.run(args).ok(), "Result\n{\"done\":true}\n");
        assert_eq!(daemon.seen().last().unwrap().0, "tools.call");
    }
}

#[test]
fn ctrl_c_cancels_the_call() {
    let (mut called, sign) = std::io::pipe().unwrap();
    let waiting = FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        _ => {
            (&sign).write_all(b"!").unwrap();
            Answer::Silence
        }
    });
    let child = waiting.place.command(&["invoke", "slow_task", "--json"]).stderr(Stdio::piped()).spawn().unwrap();
    called.read_exact(&mut [0]).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = waiting.place.ended(child);
    assert_eq!(ran.failure(), (72, "tool_cancelled".to_owned(), "The call of \"slow_task\" was cancelled.".to_owned()));
}

#[test]
fn an_input_without_an_end_is_refused() {
    let place = Place::new();
    for ran in [
        place.run(&["invoke", "sum", "--json", "--input", "@/dev/zero"]),
        place.run_from(&["invoke", "sum", "--json", "--input", "-"], "/dev/zero"),
    ] {
        let (code, kind, message) = ran.failure();
        assert_eq!((code, kind.as_str()), (65, "validation_error"));
        assert!(message.contains("more than the daemon takes"), "{message}");
    }
    assert!(!place.state_dir().exists());
}

#[test]
fn ctrl_c_ends_the_wait_for_an_input() {
    let place = Place::new();
    let mut child = place.command(&["invoke", "sum", "--json", "--input", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: when all of it is written, somebody reads.
    stdin.write_all(&vec![b' '; 512 << 10]).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let ran = place.ended(child);
    assert_eq!(ran.failure(), (72, "tool_cancelled".to_owned(), "The call of \"sum\" was cancelled.".to_owned()));
    drop(stdin);
}

#[test]
fn a_deadline_out_of_range_is_told_to_people_once() {
    let daemon = echo();
    for (timeout, taken) in [("5", "1000"), ("600001", "600000")] {
        let ran = daemon.place.run(&["invoke", "sum", "--timeout", timeout]);
        let notice = format!("\"--timeout {timeout}\" is outside 1000 to 600000 ms: {taken} is used.\n");
        assert_eq!((ran.code, ran.stderr), (Some(0), notice));
        daemon.place.run(&["invoke", "sum", "--timeout", timeout, "--json"]).json();
    }
    for timeout in ["1000", "600000"] {
        daemon.place.run(&["invoke", "sum", "--timeout", timeout]).ok();
    }
}
