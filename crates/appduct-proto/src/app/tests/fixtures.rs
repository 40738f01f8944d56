//! The language-neutral vectors that are about what an app registers, sends and survives.

use serde_json::Value;

use super::rig::{Rig, ack, input, raw};
use crate::app::{ConnectInput, Registration, SocketLoss, State};

macro_rules! fixture {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("../../../../../fixtures/", $name))).unwrap()
    };
}

fn rows(fixture: &Value) -> &[Value] {
    fixture.as_array().unwrap()
}

fn declare(rig: &mut Rig, event: &Value) -> Registration {
    let descriptor = raw(&event.to_string());
    rig.drive(|core, now| core.register_event(now, &descriptor)).unwrap()
}

#[test]
fn every_tool_descriptor_is_registered_or_refused_as_its_vector_says() {
    for row in rows(&fixture!("tool-descriptors.json")) {
        let mut rig = Rig::active();
        let descriptor = raw(&row["descriptor"].to_string());
        let taken = rig.drive(|core, now| core.register_tool(now, &descriptor));
        assert_eq!(taken.is_ok(), row["valid"], "{}", row["name"]);
        assert_eq!(rig.take_sent().len(), usize::from(taken.is_ok()), "{}", row["name"]);
    }
}

#[test]
fn every_event_descriptor_is_declared_or_refused_as_its_vector_says() {
    for row in rows(&fixture!("event-descriptors.json")) {
        let mut rig = Rig::new();
        let descriptor = raw(&row["descriptor"].to_string());
        let taken = rig.drive(|core, now| core.register_event(now, &descriptor));
        assert_eq!(taken.is_ok(), row["valid"], "{}", row["name"]);
    }
}

#[test]
fn event_registry_frames_go_out_as_their_vectors_say() {
    for row in rows(&fixture!("event-registry-frames.json")) {
        let mut rig = Rig::new();
        let mut registered = Vec::new();
        for event in rows(&row["declaredBeforeAck"]) {
            registered.push((&event["name"], declare(&mut rig, event)));
        }
        let session_id = row["sessionId"].as_str().unwrap();
        rig.connect(ConnectInput { session_id: session_id.to_owned(), ..input() }).unwrap();
        rig.take();
        rig.receive(&ack("resume-1", r#","event_registry":true"#).replace("session-1", session_id));
        for step in rows(&row["afterAck"]) {
            if step["op"] == "register" {
                registered.push((&step["event"]["name"], declare(&mut rig, &step["event"])));
            } else if let Some((_, registration)) = registered.iter().rev().find(|(name, _)| **name == step["name"]) {
                rig.drive(|core, now| core.unregister_event(now, *registration));
            }
        }
        let sent: Vec<Value> = rig.take_sent().iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let about_events: Vec<_> =
            sent.into_iter().filter(|frame| frame["type"].as_str().unwrap().starts_with("event_registry")).collect();
        assert_eq!(about_events, rows(&row["frames"]), "{}", row["name"]);
    }
}

#[test]
fn frames_are_sent_up_to_the_limit_in_bytes_and_not_beyond() {
    let fixture = fixture!("frame-limits.json");
    let post = |rig: &mut Rig, payload: &str| {
        let payload = raw(&format!("\"{payload}\""));
        rig.drive(|core, now| core.post_event(now, "e", Some(&payload))).is_ok()
    };
    let mut rig = Rig::active();
    assert!(post(&mut rig, ""));
    let empty = rig.take_sent()[0].len();
    for row in rows(&fixture["vectors"]) {
        let room = usize::try_from(row["frameBytes"].as_u64().unwrap()).unwrap() - empty;
        let filler = row["filler"].as_str().unwrap();
        let payload = format!("{}{}", filler.repeat(room / filler.len()), "a".repeat(room % filler.len()));
        assert_eq!(post(&mut rig, &payload), row["sent"], "{}", row["name"]);
        assert_eq!(rig.core.state(), State::Active);
    }
}

#[test]
fn every_close_is_survived_or_not_as_its_vector_says() {
    for row in rows(&fixture!("close-codes.json")) {
        let code = row["code"].as_u64().map(|code| u16::try_from(code).unwrap());
        let reason = row["reason"].as_str().map(str::to_owned);
        // During a resume, where a 1000 has no meaning of its own.
        let mut rig = Rig::active();
        rig.drop_socket();
        rig.advance(250);
        rig.lose(SocketLoss { code, reason, error: None });
        assert_eq!(rig.core.state() == State::Closed, row["terminal"], "{row}");
    }
}
