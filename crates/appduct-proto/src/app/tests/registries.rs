//! Tools and events: what is stored, what is sent, and in which order.

use super::rig::{Rig, ack, event, input, raw, tool};
use crate::app::{ClientEvent, Core, Output, Phase, Registration, State};
use crate::wire::{FieldFault, RawJson, Rule};

fn register(rig: &mut Rig, descriptor: &RawJson) -> Registration {
    rig.drive(|core, now| core.register_tool(now, descriptor)).unwrap()
}

fn names(rig: &Rig) -> Vec<String> {
    rig.core.tools().iter().map(|tool| tool.name.to_string()).collect()
}

#[test]
fn tools_are_listed_in_order_of_first_registration_and_a_replacement_keeps_its_place() {
    let mut rig = Rig::new();
    for name in ["b", "c", "a", "b"] {
        register(&mut rig, &tool(name));
    }
    assert_eq!(names(&rig), ["b", "c", "a"]);
}

#[test]
fn a_tool_that_was_removed_comes_back_at_the_end() {
    let mut rig = Rig::new();
    let first = register(&mut rig, &tool("a"));
    register(&mut rig, &tool("b"));
    rig.drive(|core, now| core.unregister_tool(now, first));
    register(&mut rig, &tool("a"));
    assert_eq!(names(&rig), ["b", "a"]);
}

#[test]
fn a_registration_that_was_replaced_removes_nothing() {
    let mut rig = Rig::active();
    let old = register(&mut rig, &tool("a"));
    let new = register(&mut rig, &tool("a"));
    rig.take();
    rig.drive(|core, now| core.unregister_tool(now, old));
    assert_eq!(names(&rig), ["a"]);
    assert_eq!(rig.take(), [""; 0]);
    rig.drive(|core, now| core.unregister_tool(now, new));
    rig.drive(|core, now| core.unregister_tool(now, new));
    assert_eq!(rig.take(), ["send tool_registry_delta remove a"]);
}

#[test]
fn a_bad_descriptor_stores_nothing_and_keeps_the_earlier_registration() {
    let mut rig = Rig::active();
    register(&mut rig, &tool("a"));
    rig.take();
    let bad = raw(r#"{"name":"a","description":"new","group":"a/"}"#);
    let fault = rig.drive(|core, now| core.register_tool(now, &bad)).unwrap_err();
    assert_eq!(fault, FieldFault::new("group", Rule::Group));
    assert_eq!(rig.core.tools()[0].description, "d");
    assert_eq!(rig.take(), [""; 0]);
    assert!(rig.drive(|core, now| core.register_tool(now, &raw(r#"{"name":"a\n","description":"d"}"#))).is_err());
    assert!(rig.drive(|core, now| core.register_event(now, &raw(r#"{"name":"","description":"d"}"#))).is_err());
}

#[test]
fn a_stored_tool_has_the_clamped_deadline_and_no_key_that_nobody_knows() {
    let mut rig = Rig::active();
    register(&mut rig, &raw(r#"{"name":"a","description":"d","timeout_ms":500,"timeoutMs":7,"x":null}"#));
    assert_eq!(rig.core.tools()[0].timeout_ms, Some(1000));
    let sent = rig.take_sent().remove(0);
    assert!(sent.ends_with(r#""tool":{"name":"a","description":"d","timeout_ms":1000}}"#), "{sent}");
}

#[test]
fn a_stored_event_has_no_key_that_nobody_knows() {
    let mut rig = Rig::new();
    let declared = raw(r#"{"name":"a b.c","x":1,"payload_schema":{ "type":"object"},"description":"d"}"#);
    rig.drive(|core, now| core.register_event(now, &declared)).unwrap();
    rig.connect(input()).unwrap();
    rig.take();
    rig.receive(&ack("resume-1", r#","event_registry":true"#));
    let sent = rig.take_sent();
    let expected = r#""events":[{"name":"a b.c","description":"d","payload_schema":{ "type":"object"}}]}"#;
    assert!(sent[1].ends_with(expected), "{}", sent[1]);
}

#[test]
fn nothing_is_sent_before_the_ack_and_everything_is_in_the_snapshot() {
    let mut rig = Rig::new();
    register(&mut rig, &tool("a"));
    rig.connect(input()).unwrap();
    register(&mut rig, &tool("b"));
    rig.drive(|core, now| core.register_event(now, &event("e"))).unwrap();
    rig.take();
    rig.receive(&ack("resume-1", r#","event_registry":true"#));
    assert_eq!(
        rig.take()[3..5],
        [r#"send tool_registry_snapshot ["a", "b"]"#, r#"send event_registry_snapshot ["e"]"#]
    );
}

#[test]
fn deltas_go_out_in_the_order_of_the_calls() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.receive(&ack("resume-1", r#","event_registry":true"#));
    rig.take();
    let a = register(&mut rig, &tool("a"));
    let e = rig.drive(|core, now| core.register_event(now, &event("e"))).unwrap();
    rig.drive(|core, now| core.unregister_tool(now, a));
    rig.drive(|core, now| core.unregister_event(now, e));
    rig.drive(|core, now| core.unregister_event(now, e));
    assert_eq!(
        rig.take(),
        [
            "send tool_registry_delta upsert",
            "send event_registry_delta upsert",
            "send tool_registry_delta remove a",
            "send event_registry_delta remove e"
        ]
    );
}

#[test]
fn event_registry_frames_are_sent_only_if_this_very_ack_allowed_them() {
    let mut rig = Rig::new();
    rig.drive(|core, now| core.register_event(now, &event("e"))).unwrap();
    rig.connect(input()).unwrap();
    rig.take();
    rig.receive(&ack("resume-1", r#","event_registry":true"#));
    assert!(rig.take().contains(&r#"send event_registry_snapshot ["e"]"#.to_owned()));
    rig.drop_socket();
    rig.advance(250);
    rig.ack("resume-2");
    rig.drive(|core, now| core.register_event(now, &event("f"))).unwrap();
    let lines = rig.take();
    assert!(!lines.iter().any(|line| line.contains("event_registry")), "an older daemon took over: {lines:?}");
    rig.drop_socket();
    rig.advance(250);
    rig.receive(&ack("resume-3", r#","event_registry":true"#));
    assert!(rig.take().contains(&r#"send event_registry_snapshot ["e", "f"]"#.to_owned()));
}

/// Polls until the output that `is` names has come out, and lets the listener that hears it do something.
fn poll_to(core: &mut Core, is: impl Fn(&Output) -> bool) {
    while !is(&core.poll_output()) {}
}

#[test]
fn what_a_listener_registers_before_the_snapshot_is_taken_is_in_it_and_is_no_delta() {
    let mut rig = Rig::new();
    let gone = register(&mut rig, &tool("gone"));
    rig.connect(input()).unwrap();
    rig.take();
    let (socket, now) = (rig.socket, rig.now);
    rig.core.handle_text(now, socket, &ack("resume-1", r#","event_registry":true"#).into());
    let is_state = |output: &Output| matches!(output, Output::Event(ClientEvent::State { state: State::Active, .. }));
    poll_to(&mut rig.core, is_state);
    rig.core.register_tool(now, &tool("late")).unwrap();
    rig.core.register_event(now, &event("e")).unwrap();
    rig.core.unregister_tool(now, gone);
    rig.drive(Core::handle_timeout);
    assert_eq!(
        rig.take(),
        [
            "claimed session-1 phone",
            r#"send tool_registry_snapshot ["late"]"#,
            r#"send event_registry_snapshot ["e"]"#,
            "settled 1 ok"
        ]
    );
}

#[test]
fn what_a_listener_registers_after_the_snapshot_was_taken_follows_it_as_a_delta() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    let (socket, now) = (rig.socket, rig.now);
    rig.core.handle_text(now, socket, &ack("resume-1", r#","event_registry":true"#).into());
    poll_to(&mut rig.core, |output| matches!(output, Output::Send { .. }));
    rig.core.register_tool(now, &tool("late")).unwrap();
    rig.core.register_event(now, &event("e")).unwrap();
    rig.drive(Core::handle_timeout);
    assert_eq!(
        rig.take(),
        [r#"send event_registry_snapshot ["e"]"#, "settled 1 ok", "send tool_registry_delta upsert"]
    );
}

#[test]
fn a_disconnect_by_a_listener_of_the_ack_leaves_the_snapshot_unsent() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    let (socket, now) = (rig.socket, rig.now);
    rig.core.handle_text(now, socket, &ack("resume-1", "").into());
    poll_to(&mut rig.core, |output| matches!(output, Output::Event(_)));
    rig.drive(Core::disconnect);
    let lines = rig.take();
    assert!(!lines.iter().any(|line| line.starts_with("send")), "{lines:?}");
}

fn big_tool(name: &str) -> RawJson {
    raw(&format!(r#"{{"name":"{name}","description":"d","input_schema":{{"x":"{}"}}}}"#, "x".repeat(150_000)))
}

#[test]
fn a_snapshot_over_the_limit_is_an_error_of_phase_tool_and_the_session_stays() {
    let mut rig = Rig::new();
    register(&mut rig, &big_tool("a"));
    register(&mut rig, &big_tool("b"));
    rig.connect(input()).unwrap();
    rig.ack("resume-1");
    assert_eq!(rig.core.state(), State::Active);
    let error = rig.take_errors().remove(0);
    assert_eq!(error.phase, Phase::Tool);
    assert!(error.message.ends_with("over the 262144-byte limit."), "{}", error.message);
    register(&mut rig, &tool("small"));
    assert_eq!(rig.take(), ["send tool_registry_delta upsert"]);
}

#[test]
fn a_delta_over_the_limit_is_an_error_that_names_the_tool() {
    let mut rig = Rig::active();
    let huge = raw(&format!(r#"{{"name":"huge","description":"d","input_schema":{{"x":"{}"}}}}"#, "x".repeat(262_144)));
    register(&mut rig, &huge);
    let error = rig.take_errors().remove(0);
    assert_eq!((error.phase, error.tool.as_deref()), (Phase::Tool, Some("huge")));
    assert_eq!(rig.core.state(), State::Active);
    assert_eq!(names(&rig), ["huge"], "it is registered all the same");
}

#[test]
fn ten_thousand_tools_are_no_trouble() {
    let mut rig = Rig::new();
    let all: Vec<_> = (0..10_000).map(|index| register(&mut rig, &tool(&format!("t{index}")))).collect();
    for registration in all.into_iter().rev() {
        rig.drive(|core, now| core.unregister_tool(now, registration));
    }
    assert!(names(&rig).is_empty());
}
