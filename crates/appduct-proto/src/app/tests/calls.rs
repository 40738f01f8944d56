//! Calls: one answer each, the exact words, and nothing after the end.

use serde_json::Value;

use super::rig::{Rig, SESSION, raw, tool};
use crate::app::{Answer, Core};
use crate::wire::{MAX_FRAME_BYTES, ToolErrorType, utf16_len};

fn failure(message: &str, details: Option<&str>) -> Answer {
    Answer::Error { kind: ToolErrorType::ToolExecutionError, message: message.into(), details: details.map(raw) }
}

/// A rig whose call `call-1` of `ping` runs.
fn running() -> Rig {
    let mut rig = Rig::active_with_tool();
    rig.call("call-1", "ping");
    rig.take();
    rig
}

/// The one frame that came out.
fn frame(rig: &mut Rig) -> Value {
    let sent = rig.take_sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    serde_json::from_str(&sent[0]).unwrap()
}

fn error_of(rig: &mut Rig) -> (String, String) {
    let frame = frame(rig);
    assert_eq!(frame["type"], "tool_error");
    assert_eq!(frame["session_id"], SESSION);
    let part = |key: &str| frame["error"][key].as_str().unwrap().to_owned();
    (part("type"), part("message"))
}

#[test]
fn a_call_runs_with_the_arguments_byte_for_byte_and_its_result_goes_back_the_same_way() {
    let mut rig = Rig::active_with_tool();
    rig.receive(&format!(
        r#"{{"type":"tool_call","session_id":"{SESSION}","id":"c","name":"ping","args":{{"a" : 1.0,"b":"\ud800"}}}}"#
    ));
    assert_eq!(rig.take(), [r#"run c ping {"a" : 1.0,"b":"\ud800"}"#]);
    rig.respond("c", Answer::Result(raw(r#"[1e400, "\ud800"]"#)));
    let sent = rig.take_sent();
    assert!(sent[0].contains(r#""result":[1e400, "\ud800"]"#), "{sent:?}");
    assert_eq!(rig.until.map(|until| until.since(rig.now.mono).as_secs()), Some(15), "only the next ping is left");
}

#[test]
fn a_null_result_is_a_result() {
    let mut rig = running();
    rig.respond("call-1", Answer::Result(raw("null")));
    let frame = frame(&mut rig);
    assert_eq!(frame["type"], "tool_result");
    assert!(frame.as_object().unwrap().contains_key("result"));
}

#[test]
fn an_unknown_tool_is_answered_without_the_app() {
    let mut rig = Rig::active();
    rig.call("c", "nope");
    assert_eq!(error_of(&mut rig), ("tool_not_found".into(), "Tool \"nope\" is not registered in the app.".into()));
}

#[test]
fn an_unknown_tool_with_the_longest_name_still_gets_a_message_that_the_wire_takes() {
    let mut rig = Rig::active();
    rig.call("c", &"😀".repeat(2048));
    let (kind, message) = error_of(&mut rig);
    assert_eq!(kind, "tool_not_found");
    assert_eq!(utf16_len(&message), 4096);
}

#[test]
fn a_call_without_an_id_a_name_or_an_object_of_arguments_is_ignored() {
    let mut rig = Rig::active_with_tool();
    let good = format!(r#"{{"type":"tool_call","session_id":"{SESSION}","id":"c","name":"ping","args":{{}}}}"#);
    for (from, to) in [
        (r#""id":"c","#, ""),
        (r#""id":"c","#, r#""id":"","#),
        (r#""name":"ping","#, ""),
        (r#","args":{}"#, ""),
        (r#""args":{}"#, r#""args":[]"#),
        (r#""args":{}"#, r#""args":null"#),
    ] {
        let wrong = good.replace(from, to);
        assert_ne!(wrong, good);
        rig.receive(&wrong);
        assert_eq!(rig.take(), [""; 0], "{wrong}");
    }
    rig.receive(&good);
    assert_eq!(rig.take(), ["run c ping {}"]);
}

#[test]
fn an_id_that_is_in_flight_is_not_run_twice_and_may_come_again_later() {
    let mut rig = running();
    rig.call("call-1", "ping");
    assert_eq!(rig.take(), [""; 0]);
    rig.respond("call-1", Answer::Result(raw("1")));
    rig.take();
    rig.call("call-1", "ping");
    assert_eq!(rig.take(), ["run call-1 ping {}"]);
}

#[test]
fn a_call_times_out_at_ten_seconds_or_its_tools_own_deadline_and_the_frame_goes_first() {
    for (descriptor, ms) in [
        (tool("ping"), 10_000),
        (raw(r#"{"name":"ping","description":"d","timeout_ms":5000}"#), 5_000),
        (raw(r#"{"name":"ping","description":"d","timeout_ms":500}"#), 1_000),
    ] {
        let mut rig = Rig::new();
        rig.drive(|core, now| core.register_tool(now, &descriptor)).unwrap();
        rig.activate();
        rig.call("c", "ping");
        rig.take();
        rig.advance(ms - 1);
        assert_eq!(rig.take(), [""; 0], "{ms}");
        rig.advance(1);
        assert!(matches!(rig.outputs.front(), Some(crate::app::Output::Send { text, .. })
            if text.contains(&format!(r#"Tool \"ping\" did not respond within {ms}ms."#))));
        assert_eq!(rig.take(), ["send tool_error c tool_timeout", "cancel c timeout"]);
        rig.respond("c", Answer::Result(raw("1")));
        rig.drive(|core, now| core.report_progress(now, "c", Some(1.0), None));
        assert_eq!(rig.take(), [""; 0], "a late answer is dropped");
    }
}

#[test]
fn a_cancel_is_answered_at_once_and_only_once() {
    let mut rig = running();
    rig.receive(&format!(r#"{{"type":"tool_cancel","session_id":"{SESSION}","id":"call-1","reason":"caller_gone"}}"#));
    assert!(matches!(rig.outputs.front(), Some(crate::app::Output::Send { text, .. })
        if text.contains(r#"Tool \"ping\" was cancelled."#)));
    assert_eq!(rig.take(), ["send tool_error call-1 tool_cancelled", "cancel call-1 caller_gone"]);
    rig.receive(&format!(r#"{{"type":"tool_cancel","session_id":"{SESSION}","id":"call-1","reason":"again"}}"#));
    rig.respond("call-1", Answer::Result(raw("1")));
    rig.advance(12_000);
    assert_eq!(rig.take(), [""; 0], "no timeout follows");
}

#[test]
fn a_cancel_without_a_usable_reason_is_client_cancelled() {
    for reason in ["", r#","reason":"""#, r#","reason":null"#] {
        let mut rig = running();
        rig.receive(&format!(r#"{{"type":"tool_cancel","session_id":"{SESSION}","id":"call-1"{reason}}}"#));
        assert_eq!(rig.take(), ["send tool_error call-1 tool_cancelled", "cancel call-1 client_cancelled"]);
    }
}

#[test]
fn an_answer_after_a_reconnect_is_not_sent_on_the_new_socket() {
    let mut rig = running();
    rig.drop_socket();
    rig.advance(250);
    rig.ack("resume-2");
    rig.take();
    rig.respond("call-1", Answer::Result(raw("1")));
    rig.drive(|core, now| core.report_progress(now, "call-1", Some(0.5), None));
    rig.advance(12_000);
    assert_eq!(rig.take(), [""; 0], "its deadline is gone too");
}

#[test]
fn a_second_answer_is_dropped() {
    let mut rig = running();
    rig.respond("call-1", failure("first", None));
    rig.respond("call-1", failure("second", None));
    assert_eq!(error_of(&mut rig), ("tool_execution_error".into(), "first".into()));
}

#[test]
fn an_error_goes_out_word_for_word_with_its_details() {
    let mut rig = running();
    rig.respond("call-1", failure("no", Some(r#"{"x" : 1}"#)));
    assert!(
        rig.take_sent()[0].ends_with(r#""error":{"type":"tool_execution_error","message":"no","details":{"x" : 1}}}"#)
    );
}

#[test]
fn an_error_message_is_never_empty_and_never_over_4096_units() {
    let mut rig = running();
    rig.respond("call-1", failure("", None));
    assert_eq!(error_of(&mut rig).1, "Appduct tool execution failed.");
    let mut rig = running();
    rig.respond("call-1", failure(&format!("x{}", "😀".repeat(2048)), None));
    assert_eq!(error_of(&mut rig).1, format!("x{}", "😀".repeat(2047)), "no half of a character");
}

#[test]
fn what_is_not_json_is_a_serialization_error_and_the_session_stays() {
    let mut rig = running();
    rig.respond("call-1", Answer::NotJson);
    assert_eq!(
        error_of(&mut rig),
        ("tool_serialization_error".into(), "Appduct tool result is not JSON-serializable.".into())
    );
    assert_eq!(rig.core.state(), crate::app::State::Active);
}

#[test]
fn a_result_is_measured_in_bytes_before_it_is_sent() {
    let overhead = {
        let mut rig = running();
        rig.respond("call-1", Answer::Result(raw(r#""""#)));
        rig.take_sent()[0].len()
    };
    for filler in ["x", "é", "😀"] {
        let fits = filler.repeat((MAX_FRAME_BYTES - overhead) / filler.len());
        let padding = "x".repeat(MAX_FRAME_BYTES - overhead - fits.len());
        let mut rig = running();
        rig.respond("call-1", Answer::Result(raw(&format!("\"{fits}{padding}\""))));
        assert_eq!(rig.take_sent()[0].len(), MAX_FRAME_BYTES, "{filler}");
        let mut rig = running();
        rig.respond("call-1", Answer::Result(raw(&format!("\"{fits}{padding}x\""))));
        assert_eq!(
            error_of(&mut rig),
            ("tool_serialization_error".into(), "Appduct frame is 262145 bytes, over the 262144-byte limit.".into())
        );
        assert_eq!(rig.core.state(), crate::app::State::Active);
    }
}

#[test]
fn an_error_that_is_too_big_becomes_a_smaller_one() {
    let mut rig = running();
    rig.respond("call-1", failure("no", Some(&format!("\"{}\"", "x".repeat(MAX_FRAME_BYTES)))));
    let (kind, message) = error_of(&mut rig);
    assert_eq!(kind, "tool_serialization_error");
    assert!(message.starts_with("Appduct frame is 26") && message.ends_with(" bytes, over the 262144-byte limit."));
}

#[test]
fn progress_needs_neither_field_and_drops_what_the_wire_cannot_carry() {
    let mut rig = running();
    let mut report = |progress, message: Option<&str>| {
        rig.drive(|core, now| core.report_progress(now, "call-1", progress, message));
        let mut frame = frame(&mut rig);
        let fields = frame.as_object_mut().unwrap();
        for key in ["type", "session_id", "id"] {
            fields.remove(key).unwrap();
        }
        frame.to_string()
    };
    assert_eq!(report(None, None), "{}");
    assert_eq!(report(Some(0.33), Some("warming up")), r#"{"message":"warming up","progress":0.33}"#);
    assert_eq!(report(Some(3.0), None), r#"{"progress":3}"#);
    assert_eq!(report(Some(f64::NAN), Some("")), "{}");
    assert_eq!(
        report(Some(f64::INFINITY), Some(&"x".repeat(5000))),
        format!(r#"{{"message":"{}"}}"#, "x".repeat(4096))
    );
}

#[test]
fn progress_does_not_move_the_deadline() {
    let mut rig = running();
    rig.advance(9_000);
    rig.drive(|core, now| core.report_progress(now, "call-1", None, None));
    rig.take();
    rig.advance(1_000);
    assert_eq!(rig.take(), ["send tool_error call-1 tool_timeout", "cancel call-1 timeout"]);
}

#[test]
fn an_answer_that_comes_after_the_deadline_but_before_its_timer_is_late() {
    let mut rig = running();
    rig.freeze(10_000);
    rig.respond("call-1", Answer::Result(raw("1")));
    assert_eq!(rig.take(), ["send tool_error call-1 tool_timeout", "cancel call-1 timeout"]);
}

#[test]
fn removing_a_tool_lets_its_running_call_finish() {
    let mut rig = Rig::new();
    let registration = rig.drive(|core, now| core.register_tool(now, &tool("ping"))).unwrap();
    rig.activate();
    rig.call("call-1", "ping");
    rig.drive(|core, now| core.unregister_tool(now, registration));
    rig.take();
    rig.respond("call-1", Answer::Result(raw("1")));
    assert_eq!(rig.take(), ["send tool_result call-1"]);
    rig.call("call-2", "ping");
    assert_eq!(rig.take(), ["send tool_error call-2 tool_not_found"]);
}

#[test]
fn answers_for_calls_that_never_were_do_nothing() {
    let mut rig = Rig::new();
    rig.respond("ghost", Answer::NotJson);
    rig.drive(|core, now| core.report_progress(now, "ghost", None, None));
    rig.drive(Core::handle_timeout);
    assert_eq!(rig.take(), [""; 0]);
}
