//! The server over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use super::app::App;
use crate::run::Place;
use crate::transcripts::{PATIENCE, Running};

struct Front {
    process: Running,
    address: SocketAddr,
    token: String,
}

impl Front {
    fn start(place: &Place) -> Self {
        let mut command = place.command(&["mcp", "--http", "127.0.0.1:0", "--json"]);
        let mut process =
            Running(command.env("APPDUCT_SCHEME", "playground").stderr(Stdio::inherit()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let data = serde_json::from_str::<Value>(&line).unwrap()["data"].clone();
        let token_file = data["tokenFile"].as_str().unwrap();
        assert_eq!(std::fs::metadata(token_file).unwrap().permissions().mode() & 0o777, 0o600);
        let token = std::fs::read_to_string(token_file).unwrap();
        assert!(!line.contains(&token));
        let url = data["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
        Self { process, address, token }
    }

    /// Sends a request with these headers.
    fn send(&self, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        self.send_part(&format!("POST {path}"), headers, body.len(), body)
    }

    /// Sends a request that says it has a body of `length`.
    fn send_part(&self, line: &str, headers: &[(&str, &str)], length: usize, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!(
            "{line} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nContent-Length: {length}\r\n"
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        stream
    }

    /// The status and the whole reply to a request with these headers.
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        whole(self.send(path, headers, body))
    }

    /// Sends a request that needs no session.
    fn ask(&self, method: &str, mut params: Value) -> TcpStream {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let bearer = format!("Bearer {}", self.token);
        let mut headers =
            vec![("Authorization", bearer.as_str()), ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        headers.extend(params["name"].as_str().map(|name| ("Mcp-Name", name)));
        self.send("/mcp", &headers, &body)
    }

    /// Opens a session.
    fn session(&self) -> String {
        self.session_of(OPENING)
    }

    /// Opens a session with this message.
    fn session_of(&self, opening: &str) -> String {
        let bearer = format!("Bearer {}", self.token);
        let (status, text) = self.post("/mcp", &[("Authorization", &bearer)], opening);
        assert_eq!(status, 200, "{text}");
        let line = text.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        line.expect("the session has an id").to_owned()
    }

    /// Sends a request in a session.
    fn within(&self, session: &str, method: &str, body: &str) -> TcpStream {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session)];
        self.send_part(&format!("{method} /mcp"), &headers, body.len(), body)
    }

    /// The result of a request that needs no session.
    fn request(&self, method: &str, params: Value) -> Value {
        let (status, text) = whole(self.ask(method, params));
        assert_eq!(status, 200, "{text}");
        let mut lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let message = lines.find(|line| line.starts_with('{')).unwrap();
        serde_json::from_str::<Value>(message).unwrap()["result"].clone()
    }
}

fn whole(mut stream: TcpStream) -> (u16, String) {
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    (reply.split(' ').nth(1).unwrap().parse().unwrap(), reply)
}

const OPENING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

#[test]
fn without_the_token_or_from_elsewhere_nothing_is_served() {
    let place = Place::new();
    let front = Front::start(&place);
    let bearer = format!("Bearer {}", front.token);
    let with = |name: &'static str, value: &'static str| vec![("Authorization", bearer.as_str()), (name, value)];
    let other_port = format!("127.0.0.1:{}", if front.address.port() == 1 { 2 } else { 1 });
    for (path, headers, expected) in [
        ("/mcp", vec![], 401),
        ("/mcp", vec![("Authorization", "Bearer wrong")], 401),
        ("/mcp", vec![("Authorization", front.token.as_str())], 401),
        ("/", with("X-Test", "1"), 404),
        ("/mcp", with("Host", "evil.example"), 403),
        ("/mcp", vec![("Authorization", bearer.as_str()), ("Host", other_port.as_str())], 403),
        ("/mcp", with("Origin", "http://evil.example"), 403),
        ("/mcp", with("Origin", "null"), 403),
        ("/mcp", with("Origin", "http://localhost:3000"), 200),
        ("/mcp", with("X-Test", "1"), 200),
    ] {
        let (status, text) = front.post(path, &headers, OPENING);
        assert_eq!(status, expected, "{path} {headers:?}: {text}");
        assert!(!text.contains(&front.token));
        assert_eq!(text.contains("Use these tools to inspect"), expected == 200, "{text}");
    }
}

#[test]
fn the_same_tools_are_served_over_http() {
    let app = App::start();
    let front = Front::start(&app.place);
    assert_eq!(front.request("tools/list", json!({}))["tools"].as_array().unwrap().len(), 9);
    let call = json!({"name": "appduct_call_tool", "arguments": {"name": "sum", "args": {"a": 2, "b": 3}}});
    assert_eq!(front.request("tools/call", call)["structuredContent"], json!({"total": 5}));
}

#[test]
fn every_body_that_asks_something_is_answered() {
    let place = Place::new();
    let front = Front::start(&place);
    let headers = [("Authorization", &*format!("Bearer {}", front.token))];
    for (body, status, words) in [
        (
            r#"{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"x","arguments":{"x":1e400}}}"#,
            400,
            r#""code":-32700"#,
        ),
        (r#"{"jsonrpc":"2.0","id":71,"method":"tools/call","#, 400, r#""id":71"#),
        ("nonsense", 400, r#""code":-32700"#),
        ("", 400, r#""code":-32700"#),
        ("[]", 400, r#""code":-32600"#),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, r#""id":1.5"#),
        (r#"{"jsonrpc":"2.0","method":3}"#, 415, "unrecognized"),
    ] {
        let (got, text) = front.post("/mcp", &headers, body);
        assert!(got == status && text.contains(words), "{body}: {text}");
    }
    let (status, text) = whole(front.send_part("POST /mcp", &headers, 17_000_000, ""));
    assert!(status == 413 && text.contains("16777216 bytes at most"), "{text}");
    let surrogate = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"\ud83d","version":"1"}}}"#;
    assert_eq!(front.post("/mcp", &headers, surrogate).0, 200);
}

#[test]
fn an_id_that_still_runs_in_a_session_cannot_be_taken_again() {
    let app = App::start();
    let front = Front::start(&app.place);
    let (session, other) = (front.session(), front.session());
    let wait = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"appduct_wait_for_event","arguments":{"name":"*","timeoutMs":1500000}}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let mut waiting = front.within(&session, "POST", wait);
    // Its reply has begun, so it runs.
    waiting.read_exact(&mut [0; 16]).unwrap();
    let (status, text) = whole(front.within(&session, "POST", ping));
    assert!(status == 400 && text.contains("-32600") && text.contains("not answered yet"), "{text}");
    assert_eq!(whole(front.within(&other, "POST", ping)).0, 200);
    assert_eq!(whole(front.within(&session, "DELETE", "")).0, 202);
    waiting.read_to_string(&mut String::new()).unwrap();
    assert_eq!(whole(front.within(&session, "POST", ping)).0, 404);
    for _ in 0..2 {
        assert_eq!(whole(front.within(&other, "POST", ping)).0, 200);
    }
}

#[test]
fn a_question_over_http_is_answered_or_fails() {
    let app = App::with_policy(json!({"tools": {"playground/sum": "prompt"}}));
    let front = Front::start(&app.place);
    let session = front.session_of(&OPENING.replace(r#""capabilities":{}"#, r#""capabilities":{"elicitation":{}}"#));
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"appduct_call_tool","arguments":{"name":"sum","args":{"a":2,"b":3}}}}"#;
    for (answer, expected) in [
        (json!({"result": {"action": "accept", "content": {}}}), r#"{\"total\":5}"#),
        (json!({"error": 5}), "policy_denied: "),
    ] {
        let mut reply = BufReader::new(front.within(&session, "POST", call)).lines().map(Result::unwrap);
        let question = reply.find_map(|line| line.strip_prefix("data: {").map(|rest| format!("{{{rest}"))).unwrap();
        let question: Value = serde_json::from_str(&question).unwrap();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let mut message = json!({"jsonrpc": "2.0", "id": question["id"]});
        message.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        assert_eq!(whole(front.within(&session, "POST", &message.to_string())).0, 202);
        let result = reply.find(|line| line.starts_with("data: {")).unwrap();
        assert!(result.contains(expected), "{answer}: {result}");
    }
}

#[test]
fn sessions_have_an_end_to_their_number() {
    let place = Place::new();
    let front = Front::start(&place);
    let mut session = String::new();
    for _ in 0..1024 {
        session = front.session();
    }
    let bearer = format!("Bearer {}", front.token);
    let (status, text) = front.post("/mcp", &[("Authorization", &bearer)], OPENING);
    assert!(status == 503 && text.contains("too many sessions"), "{text}");
    assert_eq!(front.request("tools/list", json!({}))["tools"].as_array().unwrap().len(), 9);
    assert_eq!(whole(front.within(&session, "DELETE", "")).0, 202);
    front.session();
}

#[test]
fn a_client_that_hangs_up_takes_its_call_back() {
    let app = App::start();
    let front = Front::start(&app.place);
    let stream = front.ask("tools/call", json!({"name": "appduct_call_tool", "arguments": {"name": "slow_task"}}));
    app.playground.says("slow_task started");
    drop(stream);
    app.playground.says("slow_task failed: tool_cancelled");
}

#[test]
fn a_signal_ends_the_server_well() {
    let place = Place::new();
    let mut front = Front::start(&place);
    let pid = rustix::process::Pid::from_child(&front.process.0);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(front.process.0.wait().unwrap().code(), Some(0));
}

#[test]
fn other_machines_are_let_in_on_request_only() {
    let place = Place::new();
    for (args, words) in [
        (&["--http", "0.0.0.0:0"][..], "would let other machines in"),
        (&["--http", "localhost:80"], "must be an IP address and a port"),
        (&["--allow-remote"], "only applies together with \"--http\""),
        (&["--group", "a/b/c"], "\"--group\" must be a group name"),
    ] {
        let (code, kind, message) = place.run(&[&["mcp"][..], args, &["--json"]].concat()).failure();
        assert_eq!((code, kind.as_str()), (64, "usage_error"));
        assert!(message.contains(words), "{message}");
    }
    assert!(!place.state_dir().exists());
}
