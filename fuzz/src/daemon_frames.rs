//! Messages of the daemon, as an app decodes them.

use appduct_proto::wire::{DaemonFrame, DaemonReceived};
use bytes::Bytes;
use serde_json::Value;

use crate::json::{absent_or, assert_part, has_id, has_text, is_object, plain};

/// How much longer than what came a frame of ours may be: a number may take more digits, and a cancel gets a reason.
const ROOM: usize = 128;

/// Decodes a message, compares with a plain reading of it, and sends it back.
pub fn target(data: &[u8]) {
    let text = Bytes::copy_from_slice(data);
    let received = DaemonReceived::decode(&text);
    assert_eq!(received == DaemonReceived::NotAnObject, !is_object(data));
    let DaemonReceived::Frame { session_id, frame, reason } = received else { return };
    if let Some(value) = plain(data) {
        assert_eq!(session_id.as_deref(), value.get("session_id").and_then(Value::as_str));
        assert_eq!(reason.as_deref(), value["reason"].as_str().filter(|reason| !reason.is_empty()));
        let kind = match &frame {
            Ok(Some(_)) => Some(true),
            Ok(None) => None,
            Err(_) => Some(false),
        };
        assert_eq!(kind, verdict(&value), "{frame:?}");
    }
    if let (Some(session_id), Ok(Some(frame))) = (session_id, frame) {
        if let DaemonFrame::ToolCall { args, .. } = &frame {
            assert_part(data, args);
            assert!(args.is_object());
        }
        let sent = frame.encode(&session_id);
        assert!(sent.len() <= data.len() + ROOM, "{sent}");
        let again = DaemonReceived::decode(&Bytes::from(sent));
        let DaemonReceived::Frame { session_id: same_id, frame: Ok(Some(same)), .. } = again else {
            panic!("{again:?}")
        };
        assert_eq!((same_id, same), (Some(session_id), frame));
    }
}

/// Whether a frame of the daemon passes its guard; `None` if it is of no known type.
fn verdict(value: &Value) -> Option<bool> {
    let positive = |key: &str| value[key].as_f64().is_some_and(|number| number > 0.0);
    Some(match value["type"].as_str()? {
        "session_ack" => {
            value["status"] == "ok"
                && has_id(value, "alias")
                && has_id(value, "resume_token")
                && positive("keepalive_interval_s")
                && positive("grace_s")
                && absent_or(value, "event_registry", |takes| *takes == true)
        }
        "tool_call" => has_id(value, "id") && has_text(value, "name") && value["args"].is_object(),
        "tool_cancel" => has_id(value, "id"),
        _ => return None,
    })
}
