//! Results of an app as an agent gets them.

use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::agent::{Agent, Era};
use crate::fake_daemon::{FakeDaemon, error, plain_status, result};

const SESSION: &str = r#"{"sessionId":"s1","alias":"pixel-8","state":"active","device":{"model":"Pixel 8"},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":1}"#;

/// An app whose tool returns this.
fn returning(value: String) -> FakeDaemon {
    FakeDaemon::new(move |method, _| match method {
        "daemon.status" => plain_status(),
        "sessions.describe" => result(SESSION),
        "tools.list" => result(r#"{"tools":[{"name":"get","policy":"allow","group":null}],"total":1,"groups":[]}"#),
        "tools.call" => result(format!(r#"{{"result":{value},"callId":"call_1"}}"#)),
        _ => error("invalid_request", "not in the script"),
    })
}

fn get(value: String, era: Era) -> (FakeDaemon, Value) {
    let daemon = returning(value);
    let result = Agent::start(&daemon.place, &[], era).tool("appduct_call_tool", json!({"name": "get"}));
    assert_eq!(result["_meta"]["appduct/session"]["sessionId"], "s1", "{result}");
    (daemon, result)
}

/// The beginning of a PNG file, as far as its size.
fn png(width: u32) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(width.to_be_bytes());
    png.extend(1_u32.to_be_bytes());
    png.extend([0; 16]);
    STANDARD.encode(png)
}

#[test]
fn an_image_is_seen_and_not_read() {
    for era in Era::BOTH {
        let data = png(640);
        let image = json!({"$image": {"mimeType": "image/png", "data": data}, "screen": "cart"});
        let (_daemon, result) = get(image.to_string(), era);
        let blocks = json!([
            {"type": "image", "data": data, "mimeType": "image/png"},
            {"type": "text", "text": "{\"screen\":\"cart\"}"},
        ]);
        assert_eq!(result["content"], blocks);
        assert!(result.get("structuredContent").is_none(), "{result}");
    }
}

#[test]
fn an_image_that_is_too_large_is_a_file() {
    let data = png(5000);
    let (daemon, result) = get(json!({"$image": {"mimeType": "image/png", "data": data}}).to_string(), Era::Handshake);
    let path = daemon.place.state_dir().join("results/call_1.png");
    assert!(result["content"][0]["text"].as_str().unwrap().ends_with(&path.display().to_string()), "{result}");
    assert_eq!(STANDARD.encode(std::fs::read(&path).unwrap()), data);
}

#[test]
fn a_result_that_is_too_large_is_a_preview_and_a_file_of_its_user() {
    let large = json!({"rows": vec!["row"; 40_000]}).to_string();
    let (daemon, result) = get(large.clone(), Era::Inline);
    let shown = &result["structuredContent"];
    assert_eq!((&shown["truncated"], &shown["bytes"]), (&json!(true), &json!(large.len())));
    let path = daemon.place.state_dir().join("results/call_1.json");
    assert_eq!(shown["path"], path.display().to_string());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), large);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(result["content"][0]["text"], shown.to_string());
}

#[test]
fn what_no_parser_here_takes_is_passed_as_text() {
    for value in [r#"{"n":1e400}"#, r#"{"s":"\ud800"}"#, "[1,2]", "null", "\"x\""] {
        let (_daemon, result) = get(value.to_owned(), Era::Handshake);
        assert_eq!(result["content"][0]["text"], value);
        assert!(result.get("structuredContent").is_none(), "{result}");
    }
}
