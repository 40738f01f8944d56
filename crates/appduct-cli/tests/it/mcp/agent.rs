//! A client of the server that speaks the protocol by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};

use crate::run::Place;
use crate::transcripts::PATIENCE;

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// It opens with `initialize`.
    Handshake,
    /// Every request says what it needs.
    Inline,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Handshake, Self::Inline];
}

/// The server's process and a client on its pipes.
pub(crate) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    era: Era,
    capabilities: Value,
    last_id: u64,
    /// What came that was no reply to the request that was waited for.
    pub(crate) aside: Vec<Value>,
}

impl Agent {
    /// A client that can ask a person.
    pub(crate) fn start(place: &Place, args: &[&str], era: Era) -> Self {
        Self::start_with(place, args, era, json!({"elicitation": {}}))
    }

    pub(crate) fn start_with(place: &Place, args: &[&str], era: Era, capabilities: Value) -> Self {
        let mut agent = Self::bare(place, args, era, capabilities);
        if era == Era::Handshake {
            let params = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": agent.capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            });
            let opened = agent.request("initialize", params);
            assert_eq!(opened["result"]["protocolVersion"], "2025-06-18", "{opened}");
            agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        agent
    }

    /// One that has said nothing yet.
    pub(crate) fn bare(place: &Place, args: &[&str], era: Era, capabilities: Value) -> Self {
        Self::spawned(place, args, era, capabilities, Stdio::inherit())
    }

    fn spawned(place: &Place, args: &[&str], era: Era, capabilities: Value, stderr: Stdio) -> Self {
        let mut command = place.command(&[&["mcp"][..], args].concat());
        command.env("APPDUCT_SCHEME", "playground").stdin(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, era, capabilities, last_id: 0, aside: Vec::new() }
    }

    /// One that says what it needs with each request, and whose server's notices are kept for [`notices`](Self::notices).
    pub(crate) fn noticing(place: &Place) -> Self {
        Self::spawned(place, &[], Era::Inline, json!({}), Stdio::piped())
    }

    /// Ends the server, and returns what it has written beside its messages.
    pub(crate) fn notices(mut self) -> String {
        let mut text = String::new();
        let mut stderr = self.child.stderr.take().expect("an agent that keeps notices");
        self.close();
        stderr.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n"));
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a message comes in time");
        let message: Value = serde_json::from_str(&line).expect("every line is a message");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Sends a request without waiting.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.era == Era::Inline {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    /// Gives the next request this id, which another has had.
    pub(crate) fn reuse(&mut self, id: u64) {
        self.last_id = id - 1;
    }

    /// The reply to a request; what comes before it is put aside.
    #[track_caller]
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.aside.push(message);
        }
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.reply(id)
    }

    /// Calls a tool of the server without waiting.
    pub(crate) fn ask_tool(&mut self, name: &str, arguments: Value) -> u64 {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// The result of a tool of the server.
    #[track_caller]
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let id = self.ask_tool(name, arguments);
        self.result(id)
    }

    #[track_caller]
    pub(crate) fn result(&mut self, id: u64) -> Value {
        let reply = self.reply(id);
        assert!(reply["result"].is_object(), "{reply}");
        reply["result"].clone()
    }

    /// What a tool of the server answers.
    #[track_caller]
    pub(crate) fn answer(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// What a tool of the server refuses with.
    #[track_caller]
    pub(crate) fn refusal(&mut self, name: &str, arguments: Value) -> String {
        refusal(&self.tool(name, arguments))
    }

    /// Calls a tool of the app.
    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, args: Value) -> Value {
        self.answer("appduct_call_tool", json!({"name": name, "args": args}))
    }

    /// Closes the input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Closes the input and gives the exit status.
    pub(crate) fn finish(mut self) -> Option<i32> {
        self.close();
        self.ended()
    }

    /// Sends a signal and gives the exit status.
    pub(crate) fn end_with(mut self, signal: rustix::process::Signal) -> Option<i32> {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
        self.ended()
    }

    fn ended(&mut self) -> Option<i32> {
        // The other end of its output closes with it, however long the machine takes.
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return self.child.wait().unwrap().code(),
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the server goes on after it was told to end"),
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The text of a result that is an error.
#[track_caller]
pub(crate) fn refusal(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
