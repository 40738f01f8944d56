//! The control socket's lines.

use serde_json::{Value, json};

use crate::harness::{Control, Daemon};

const MAX_LINE: usize = 1_048_576;

fn error_of(control: &mut Control, line: &str) -> Value {
    control.send(line);
    control.value()
}

#[test]
fn a_line_that_is_no_request_is_answered_and_the_connection_stays() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    for (line, code) in [
        ("{", -32700),
        ("[{\"id\":1,\"method\":\"daemon.status\"}]", -32600),
        ("7", -32600),
        ("{\"id\":1}", -32600),
        ("{\"id\":1,\"method\":\"\"}", -32600),
    ] {
        let reply = error_of(&mut control, line);
        assert_eq!(reply["error"]["code"], code, "{line}: {reply}");
    }
    let reply = error_of(&mut control, "{\"id\":5,\"method\":\"no.such\"}");
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(5), &json!(-32601)));
    assert!(reply["error"].get("data").is_none());
    let reply = error_of(&mut control, "{\"id\":6,\"method\":\"web.attach\",\"params\":{}}");
    assert_eq!(reply["error"]["data"]["type"], "invalid_request");
    let reply = error_of(&mut control, "{\"id\":7,\"method\":\"sessions.list\",\"params\":[]}");
    assert_eq!(reply["error"]["data"]["type"], "invalid_request");
    assert_eq!(control.call("sessions.list", json!({})).unwrap(), json!([]));
}

#[test]
fn lines_may_be_cut_anywhere_and_end_either_way() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    let line = "\r\n\n{\"id\":\"é😀\",\"method\":\"sessions.list\",\"params\":null}\r\n";
    for byte in line.as_bytes() {
        control.send_bytes(&[*byte]);
    }
    assert_eq!(control.value(), json!({"jsonrpc": "2.0", "id": "é😀", "result": []}));
    control.send("{\"method\":\"sessions.list\"}");
    assert_eq!(control.value()["id"], Value::Null);
}

#[test]
fn a_slow_request_holds_up_no_other() {
    let daemon = Daemon::start();
    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    let mut control = daemon.control();
    control.request("tools.call", json!({"name": "a", "args": {}}));
    app.frame();
    assert_eq!(control.call("sessions.list", json!({})).unwrap()[0]["alias"], "x");
}

#[test]
fn a_line_at_the_limit_passes_and_one_over_it_does_not() {
    let daemon = Daemon::start();
    let request = |bytes: usize| {
        let line = |filler: &str| format!(r#"{{"id":1,"method":"sessions.list","params":{{"x":"{filler}"}}}}"#);
        line(&"a".repeat(bytes - line("").len()))
    };
    let mut control = daemon.control();
    control.send(&request(MAX_LINE));
    assert_eq!(control.value()["result"], json!([]));
    control.send(&request(MAX_LINE + 1));
    let reply = control.value();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert!(reply["error"]["message"].as_str().unwrap().contains("1048576"), "{reply}");
    assert_eq!(control.line(), None);
}

#[test]
fn an_endless_line_ends_the_connection() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    control.send_bytes(&vec![b'a'; MAX_LINE + 2]);
    assert_eq!(control.read_to_end(), "");
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let daemon = Daemon::start();
    let mut control = daemon.control();
    control.send("{\"id\":1,\"method\":\"sessions.list\"}");
    control.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(control.read_to_end(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}\n");
}

#[test]
fn status_tells_what_the_daemon_is_and_does() {
    let config = r#"{"wssPort":0,"auditRetentionDays":7,"policy":{"destructive":"deny","tools":{"x/a":"allow"}}}"#;
    let daemon = Daemon::with_config(config);
    let mut app = daemon.app_with_tools("x", json!([{"name": "a", "description": "d"}]));
    daemon.link();
    let mut control = daemon.control();
    control.request("tools.call", json!({"name": "a", "args": {}}));
    let call = app.frame();
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": call["id"], "result": 1}));
    control.value();

    let status = control.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["version"], &status["pid"]), (&json!("1.2.3-test"), &json!(std::process::id())));
    assert_eq!((&status["wssPort"], &status["pendingLinks"]), (&json!(daemon.port), &json!(1)));
    assert_eq!(status["webPort"], daemon.web_port);
    assert!(status.get("configFault").is_none());
    assert!(status["startedAt"].as_str().unwrap().ends_with('Z'));
    assert!(status["pinnedKeys"][0].as_str().unwrap().starts_with("sha256/"));
    assert_eq!(status["sessions"][0]["alias"], "x");
    assert_eq!(status["policy"], json!({"default": "allow", "destructive": "deny", "tools": {"x/a": "allow"}}));
    assert_eq!(status["audit"]["path"], json!(daemon.paths().audit()));
    assert_eq!((&status["audit"]["failedWrites"], &status["audit"]["retentionDays"]), (&json!(0), &json!(7)));
    assert_eq!(
        (&status["callsServed"], &status["callsInFlight"], &status["openSockets"]),
        (&json!(1), &json!(0), &json!(1))
    );
    assert!(status["uptimeSeconds"].is_u64());
}

#[test]
fn sessions_are_selected_by_id_or_alias() {
    let daemon = Daemon::start();
    let error = daemon.call("sessions.describe", json!({})).unwrap_err();
    assert_eq!(error["data"]["type"], "no_session");
    let app = daemon.app("x");
    for params in [json!({}), json!({"selector": "x"}), json!({"selector": app.session_id})] {
        assert_eq!(daemon.call("sessions.describe", params).unwrap()["sessionId"], json!(app.session_id));
    }
    let error = daemon.call("sessions.describe", json!({"selector": "y"})).unwrap_err();
    assert_eq!(error["data"]["type"], "unknown_session");
    let error = daemon.call("sessions.describe", json!({"selector": null})).unwrap_err();
    assert_eq!(error["data"]["type"], "invalid_request");
}
