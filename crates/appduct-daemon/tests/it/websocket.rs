//! Below the frames: sizes, encodings, pings.

use std::io::Write;

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use crate::harness::{App, Daemon, eventually};

const LIMIT: usize = 262_144;

/// An `event` frame of exactly this many bytes.
fn event_of(bytes: usize, session_id: &str) -> String {
    let frame = |filler: &str| {
        json!({"type": "event", "session_id": session_id, "name": "big", "ts": 1, "payload": filler}).to_string()
    };
    let text = frame(&"a".repeat(bytes - frame("").len()));
    assert_eq!(text.len(), bytes);
    text
}

#[test]
fn a_message_at_the_limit_passes() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    let text = event_of(LIMIT, &app.session_id);
    app.send_text(&text);
    eventually("the event is kept", || {
        daemon.call("events.since", json!({"payloadMaxBytes": 1})).unwrap()["cursor"] == 1
    });
}

#[test]
fn a_message_over_the_limit_closes_with_1009() {
    let daemon = Daemon::start();
    for fragmented in [false, true] {
        let mut app = daemon.app("x");
        let id = app.session_id.clone();
        let text = event_of(LIMIT + 1, &id);
        if fragmented {
            let (first, last) = text.split_at(LIMIT / 2);
            let first = Frame::message(first.as_bytes().to_vec(), OpCode::Data(Data::Text), false);
            let last = Frame::message(last.as_bytes().to_vec(), OpCode::Data(Data::Continue), true);
            app.ws.send(Message::Frame(first)).unwrap();
            app.ws.send(Message::Frame(last)).unwrap();
        } else {
            app.send_text(&text);
        }
        app.expect_close(1009, "");
        let session = daemon.session(&id).unwrap();
        assert_eq!((&session["state"], &session["suspendReason"]), (&json!("suspended"), &json!("connection_lost")));
    }
}

#[test]
fn a_message_far_over_the_limit_still_hears_why() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    let text = event_of(8 * LIMIT, &app.session_id);
    app.send_text(&text);
    app.expect_close(1009, "");
}

#[test]
fn a_binary_message_closes_with_1003() {
    let daemon = Daemon::start();
    for claimed in [false, true] {
        let mut app = if claimed { daemon.app("x") } else { daemon.socket() };
        app.ws.send(Message::binary(b"{}".to_vec())).unwrap();
        app.expect_close(1003, "binary_frame_not_supported");
    }
}

#[test]
fn a_text_message_that_is_not_utf8_closes_with_1007() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    let frame = Frame::message(vec![b'{', 0xFF, b'}'], OpCode::Data(Data::Text), true);
    app.ws.send(Message::Frame(frame)).unwrap();
    app.expect_close(1007, "");
}

#[test]
fn a_frame_that_breaks_the_websocket_protocol_closes_with_1002() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    let id = app.session_id.clone();
    let mut bytes = Vec::new();
    // A client's frames must be masked.
    let header = FrameHeader { opcode: OpCode::Data(Data::Text), ..FrameHeader::default() };
    header.format(2, &mut bytes).unwrap();
    bytes.extend_from_slice(b"{}");
    app.ws.get_mut().write_all(&bytes).unwrap();
    app.ws.get_mut().flush().unwrap();
    app.expect_close(1002, "");
    assert_eq!(daemon.session(&id).unwrap()["state"], "suspended");
}

#[test]
fn a_ping_is_answered() {
    let daemon = Daemon::start();
    let mut app = daemon.app("x");
    app.ws.send(Message::Ping(b"are you there".to_vec().into())).unwrap();
    assert_eq!(app.ws.read().unwrap(), Message::Pong(b"are you there".to_vec().into()));
}

#[test]
fn frames_after_the_one_that_closes_are_not_acted_on() {
    let daemon = Daemon::start();
    let link = daemon.link();
    let mut app = App::connect(daemon.port);
    app.send_text("nonsense");
    app.claim(&link, "x");
    app.expect_close(1008, "invalid_json");
    assert!(daemon.sessions().is_empty());
}
