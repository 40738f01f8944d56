//! Messages of apps, as the daemon decodes them.

use appduct_proto::wire::{AppFrame, Hello, RawJson, Received};
use bytes::Bytes;
use serde_json::Value;

use crate::json::{absent_or, assert_part, has_id, has_text, is_event, is_object, is_text, is_tool, plain};

/// How much longer than what came a frame of ours may be: a number may take more digits, and our keys have an order.
const ROOM: usize = 128;

/// Decodes a message, compares with a plain reading of it, and sends it back.
pub fn target(data: &[u8]) {
    let text = Bytes::copy_from_slice(data);
    let received = Received::decode(&text);
    assert_eq!(received == Received::NotAnObject, !is_object(data));
    if let Some(value) = plain(data).filter(Value::is_object) {
        compare(&value, &received);
    }
    match received {
        Received::Hello(hello) => {
            let sent = hello.encode();
            assert!(sent.len() <= data.len() + ROOM);
            assert_eq!(Received::decode(&Bytes::from(sent)), Received::Hello(hello));
        }
        Received::Frame { session_id: Some(session_id), frame: Ok(frame), is_registry } => {
            raw_parts(&frame).into_iter().for_each(|part| assert_part(data, part));
            let sent = frame.encode(&session_id);
            assert!(sent.len() <= data.len() + ROOM, "{sent}");
            let again = Received::decode(&Bytes::from(sent));
            assert_eq!(again, Received::Frame { session_id: Some(session_id), frame: Ok(frame), is_registry });
        }
        Received::Frame { .. } | Received::NotAnObject | Received::Unknown => {}
    }
}

fn compare(value: &Value, received: &Received) {
    let kind = value.get("type").and_then(Value::as_str);
    let expected_id = value.get("session_id").and_then(Value::as_str);
    match kind {
        Some("session_claim") => {
            let device = ["device_manufacturer", "device_model", "device_os"];
            let is_good = is_greeting(value, "token")
                && device.iter().all(|key| absent_or(value, key, |field| is_text(field, 0, 256)));
            let Received::Hello(Hello::Claim { session_id, token, device }) = received else {
                assert!(!is_good && *received == Received::Unknown, "{received:?}");
                return;
            };
            assert!(is_good);
            assert_eq!((Some(session_id.as_str()), Some(token.as_str())), (expected_id, value["token"].as_str()));
            assert_eq!(device.model.as_deref(), value.get("device_model").and_then(Value::as_str));
        }
        Some("session_resume") => {
            let is_good = is_greeting(value, "resume_token");
            let Received::Hello(Hello::Resume { session_id, .. }) = received else {
                assert!(!is_good && *received == Received::Unknown, "{received:?}");
                return;
            };
            assert!(is_good && Some(session_id.as_str()) == expected_id);
        }
        Some(kind) => match verdict(kind, value) {
            None => assert_eq!(*received, Received::Unknown),
            Some(is_good) => {
                let Received::Frame { session_id, frame, is_registry } = received else {
                    panic!("{kind} is a frame, not {received:?}")
                };
                assert_eq!(session_id.as_deref(), expected_id);
                assert_eq!(frame.is_ok(), is_good, "{frame:?}");
                assert_eq!(*is_registry, kind.contains("registry"));
            }
        },
        None => assert_eq!(*received, Received::Unknown),
    }
}

fn is_greeting(value: &Value, secret: &str) -> bool {
    has_id(value, "session_id") && has_id(value, secret) && value["protocol_version"].as_f64() == Some(2.0)
}

/// Whether a frame of an app passes its guard; `None` if apps send no such frame.
fn verdict(kind: &str, value: &Value) -> Option<bool> {
    let all = |key: &str, passes: fn(&Value) -> bool| value[key].as_array().is_some_and(|all| all.iter().all(passes));
    let delta = |key: &str, passes: fn(&Value) -> bool, name: bool| match value["operation"].as_str() {
        Some("upsert") => value.get(key).is_some_and(passes),
        Some("remove") => name,
        Some(_) | None => false,
    };
    let is_number = |number: &Value| number.is_number();
    Some(match kind {
        "tool_registry_snapshot" => all("tools", is_tool),
        "event_registry_snapshot" => all("events", is_event),
        "tool_registry_delta" => delta("tool", is_tool, has_text(value, "name")),
        "event_registry_delta" => delta("event", is_event, has_text(value, "name")),
        "tool_result" => has_id(value, "id") && value.get("result").is_some(),
        "tool_error" => has_id(value, "id") && value.get("error").is_some_and(is_error),
        "tool_call_progress" => {
            has_id(value, "id")
                && absent_or(value, "progress", is_number)
                && absent_or(value, "message", |text| is_text(text, 1, 4096))
        }
        "event" => has_text(value, "name") && value.get("ts").is_some_and(is_number),
        _ => return None,
    })
}

fn is_error(error: &Value) -> bool {
    const TYPES: [&str; 7] = [
        "tool_not_found",
        "tool_input_validation_error",
        "tool_output_validation_error",
        "tool_execution_error",
        "tool_serialization_error",
        "tool_timeout",
        "tool_cancelled",
    ];
    error.is_object() && error["type"].as_str().is_some_and(|kind| TYPES.contains(&kind)) && has_text(error, "message")
}

/// The JSON of the app in a frame, which must be a part of what came.
fn raw_parts(frame: &AppFrame) -> Vec<&RawJson> {
    match frame {
        AppFrame::ToolSnapshot(tools) => tools.iter().map(|tool| tool.raw()).collect(),
        AppFrame::ToolUpsert(tool) => [Some(tool.raw()), tool.input_schema.as_ref()].into_iter().flatten().collect(),
        AppFrame::EventSnapshot(events) => events.iter().map(|event| event.raw()).collect(),
        AppFrame::EventUpsert(event) => vec![event.raw()],
        AppFrame::ToolResult { result, .. } => vec![result],
        AppFrame::ToolError { error, .. } => error.details.iter().collect(),
        AppFrame::Event { payload, .. } => payload.iter().collect(),
        AppFrame::ToolRemove(_) | AppFrame::EventRemove(_) | AppFrame::ToolCallProgress { .. } => Vec::new(),
    }
}
