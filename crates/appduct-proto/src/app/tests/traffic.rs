//! Frames of an active session, and posted events.

use super::rig::{Rig, SESSION, raw, tool};
use crate::app::{Core, Phase, PostFault, State};

#[test]
fn what_is_not_a_json_object_ends_the_session() {
    for text in ["", "nonsense", "[]", "null", "{", "\u{0}"] {
        let mut rig = Rig::active();
        rig.receive(text);
        assert_eq!(
            rig.take_without_errors(),
            ["close 1 1008 invalid_message", "no lease", "state closed invalid_message", "lost invalid_message"],
            "{text:?}"
        );
        assert_eq!(rig.until, None);
    }
}

#[test]
fn a_frame_of_another_session_ends_the_session_whatever_its_type() {
    for frame in [
        r#"{"type":"tool_call","session_id":"other","id":"c","name":"ping","args":{}}"#,
        r#"{"type":"tool_call","id":"c","name":"ping","args":{}}"#,
        r#"{"type":"from_the_future","session_id":"other"}"#,
        r#"{"type":"tool_cancel","session_id":7,"id":"c","reason":"r"}"#,
        "{}",
    ] {
        let mut rig = Rig::active_with_tool();
        rig.receive(frame);
        assert_eq!(
            rig.take_without_errors(),
            ["close 1 1008 session_mismatch", "no lease", "state closed session_mismatch", "lost session_mismatch"],
            "{frame}"
        );
    }
}

#[test]
fn a_binary_message_costs_the_socket_only() {
    let mut rig = Rig::active();
    let socket = rig.socket;
    rig.drive(|core, now| core.handle_binary(now, socket));
    assert_eq!(
        rig.take_without_errors(),
        ["close 1 1003 binary_not_supported", "lease resume-1 lost at 0", "state reconnecting"]
    );
}

#[test]
fn an_unknown_type_and_a_second_ack_are_ignored() {
    let mut rig = Rig::active();
    rig.receive(&format!(r#"{{"type":"from_the_future","session_id":"{SESSION}","reason":"r"}}"#));
    rig.receive(&format!(r#"{{"session_id":"{SESSION}","type":7}}"#));
    rig.ack("stolen");
    assert_eq!(rig.take(), [""; 0]);
    rig.drop_socket();
    rig.advance(250);
    assert_eq!(rig.take().last().unwrap(), "send session_resume resume-1");
}

#[test]
fn a_cancel_of_an_unknown_call_is_ignored() {
    let mut rig = Rig::active();
    rig.receive(&format!(r#"{{"type":"tool_cancel","session_id":"{SESSION}","id":"ghost","reason":"r"}}"#));
    rig.receive(&format!(r#"{{"type":"tool_cancel","session_id":"{SESSION}"}}"#));
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn an_event_carries_milliseconds_and_leaves_an_absent_payload_out() {
    let mut rig = Rig::active();
    rig.advance(7);
    rig.drive(|core, now| core.post_event(now, "a b", None)).unwrap();
    let payload = raw(r#"{"n" : 3.0}"#);
    rig.drive(|core, now| core.post_event(now, "e", Some(&payload))).unwrap();
    assert_eq!(
        rig.take_sent(),
        [
            format!(r#"{{"type":"event","session_id":"{SESSION}","name":"a b","ts":1700000000007}}"#),
            format!(
                r#"{{"type":"event","session_id":"{SESSION}","name":"e","payload":{{"n" : 3.0}},"ts":1700000000007}}"#
            )
        ]
    );
}

#[test]
fn an_event_that_cannot_go_out_says_why() {
    let mut rig = Rig::new();
    assert_eq!(rig.drive(|core, now| core.post_event(now, "e", None)), Err(PostFault::NotActive));
    rig.activate();
    for name in [String::new(), "😀".repeat(2049), "x".repeat(4097)] {
        assert_eq!(rig.drive(|core, now| core.post_event(now, &name, None)), Err(PostFault::Name));
    }
    assert_eq!(rig.take(), [""; 0]);
    rig.drive(|core, now| core.post_event(now, &"😀".repeat(2048), None)).unwrap();
    rig.take();
    let payload = raw(&format!("\"{}\"", "x".repeat(262_144)));
    let fault = rig.drive(|core, now| core.post_event(now, "e", Some(&payload))).unwrap_err();
    assert!(matches!(fault, PostFault::TooBig { bytes } if bytes > 262_144));
    assert!(fault.to_string().ends_with("over the 262144-byte limit."));
    let errors = rig.take_errors();
    assert_eq!(errors[0].phase, Phase::Socket);
    assert_eq!(rig.core.state(), State::Active);
    rig.drop_socket();
    assert_eq!(rig.drive(|core, now| core.post_event(now, "e", None)), Err(PostFault::NotActive));
}

#[test]
fn hostile_frames_neither_panic_nor_leave_a_trace() {
    let deep = format!(
        r#"{{"type":"tool_call","session_id":"{SESSION}","id":"c","name":"ping","args":{{"x":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let mut rig = Rig::active_with_tool();
    rig.receive(&deep);
    rig.take();
    assert_eq!(rig.core.state(), State::Active);
    rig.drive(|core, now| core.register_tool(now, &tool("x"))).unwrap();
    rig.drive(Core::disconnect);
    assert_eq!(rig.until, None);
}
