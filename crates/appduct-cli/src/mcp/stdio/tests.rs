//! What the server does as time passes, as a client sees it. Time is the runtime's, and moves when a test moves it or when
//! nothing else is left to do.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

use appduct_rpc::StateDir;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, advance};

use super::*;

const BEAT: Duration = Duration::from_secs(15);
const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);

/// A client, the server, and a daemon that answers everything but what takes long.
struct Scene {
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    lines: mpsc::Receiver<Outgoing>,
    asked: UnboundedReceiver<String>,
    is_inline: bool,
    last_id: u64,
    /// Connections to the daemon.
    streams: Arc<Mutex<Vec<UnixStream>>>,
    _place: tempfile::TempDir,
}

impl Scene {
    /// A client that can ask a person, and whose tools have this policy.
    async fn open(is_inline: bool, policy: &'static str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let (tell, asked) = unbounded_channel();
        let listener = UnixListener::bind(StateDir::new(place.path()).socket()).unwrap();
        let streams = Arc::<Mutex<Vec<UnixStream>>>::default();
        let kept = Arc::clone(&streams);
        std::thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                kept.lock().unwrap().push(stream.try_clone().unwrap());
                let tell = tell.clone();
                std::thread::spawn(move || serve_daemon(stream, &tell, policy));
            }
        });
        let (messages, incoming) = mpsc::channel(8);
        let (outgoing, lines) = mpsc::channel(8);
        let (server, transport) = (Server::of_test(&place), Stdio { incoming, outgoing, is_opening: true });
        tokio::spawn(async move { serve_server(server, transport).await.unwrap().waiting().await });
        let mut scene = Self { messages, lines, asked, is_inline, last_id: 0, streams, _place: place };
        if !is_inline {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "test", "version": "1"},
            });
            scene.ask("initialize", params).await;
            assert_eq!(scene.next().await["result"]["protocolVersion"], "2025-11-25");
            scene.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        scene
    }

    async fn send(&self, message: Value) {
        self.messages.send(serde_json::from_value(message).unwrap()).await.unwrap();
    }

    async fn ask(&mut self, method: &str, mut params: Value) {
        self.last_id += 1;
        if self.is_inline {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
        }
        self.send(json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})).await;
    }

    /// Calls a tool of the server and follows its progress.
    async fn ask_tool(&mut self, name: &str, arguments: Value) {
        self.ask("tools/call", json!({"name": name, "arguments": arguments, "_meta": {"progressToken": "t"}})).await;
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.recv().await.unwrap().line).unwrap()
    }

    /// Waits until the daemon is asked this.
    async fn daemon_is_asked(&mut self, method: &str) {
        while self.asked.recv().await.unwrap() != method {}
    }

    /// What the next message says of the progress.
    async fn progress(&mut self) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "t");
        message["params"].clone()
    }
}

/// Ends the threads of the server, which wait for the daemon.
impl Drop for Scene {
    fn drop(&mut self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).unwrap_or_default();
        }
    }
}

/// Calls, waits and links take for ever.
fn serve_daemon(stream: UnixStream, tell: &UnboundedSender<String>, policy: &str) {
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).unwrap();
        let method = request["method"].as_str().unwrap();
        let session = json!({
            "sessionId": "s1", "alias": "pixel", "state": "active", "device": {}, "createdAt": "", "toolCount": 1,
        });
        let result = match method {
            "daemon.status" => Some(json!({
                "version": env!("CARGO_PKG_VERSION"), "pid": 1, "startedAt": "", "wssPort": 1, "pinnedKeys": [],
                "sessions": [], "pendingLinks": 0, "policy": {"default": "allow", "destructive": "allow"},
                "audit": {"path": "", "failedWrites": 0},
            })),
            "sessions.describe" => Some(session),
            "sessions.list" => Some(json!([])),
            "tools.list" => Some(json!({
                "tools": [{"name": "pay", "policy": policy, "timeout_ms": 60_000}], "total": 1, "groups": [],
            })),
            "events.subscribe" => Some(json!({"ok": true})),
            _ => None,
        };
        let reply = result.map(|result| json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        // The server may have hung up.
        reply.map_or(Ok(()), |reply| writeln!(writer, "{reply}")).unwrap_or_default();
        tell.send(method.to_owned()).unwrap_or_default();
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_takes_long_shows_that_it_lives() {
    for is_inline in [false, true] {
        // Each gives up after a minute of the clock on the wall, which nothing here waits for.
        let wait = 60_000;
        let page = json!({"target": "web", "url": "http://localhost/", "browserUrl": "http://127.0.0.1:9222"});
        for (tool, arguments, method, total) in [
            ("appduct_call_tool", json!({"name": "pay"}), "tools.call", None),
            ("appduct_wait_for_event", json!({"name": "*", "timeoutMs": wait}), "events.subscribe", Some(60_000.0)),
            (
                "appduct_wait_for_session",
                json!({"sessionId": "s2", "timeoutMs": wait}),
                "events.subscribe",
                Some(60_000.0),
            ),
            ("appduct_connect", page, "web.attach", None),
        ] {
            let mut scene = Scene::open(is_inline, "allow").await;
            scene.ask_tool(tool, arguments).await;
            scene.daemon_is_asked(method).await;
            let mut before = 0.0;
            for beat in 1..=3 {
                advance(BEAT).await;
                let shown = scene.progress().await;
                let progress = shown["progress"].as_f64().unwrap();
                assert!(progress > before, "{tool}: {shown}");
                assert_eq!(shown["total"].as_f64(), total, "{tool}: {shown}");
                if total.is_some() {
                    assert_eq!(progress, f64::from(15_000 * beat), "{tool}: {shown}");
                }
                before = progress;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends_after_ten_minutes_and_shows_that_it_stands() {
    let mut scene = Scene::open(false, "prompt").await;
    scene.ask_tool("appduct_call_tool", json!({"name": "pay"})).await;
    assert_eq!(scene.next().await["method"], "elicitation/create");
    let asked = Instant::now();
    let mut beats = 0;
    let reply = loop {
        let message = scene.next().await;
        if message["id"] == 2 {
            break message;
        }
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["message"], "waiting for a person to agree", "{message}");
            beats += 1;
        }
    };
    let waited = asked.elapsed();
    assert!(waited >= TEN_MINUTES && waited < TEN_MINUTES + BEAT, "{waited:?}");
    assert!((39..=40).contains(&beats), "{beats}");
    let said = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("consent_declined: ") && said.contains("no answer within ten minutes"), "{said}");
    while let Ok(method) = scene.asked.try_recv() {
        assert_ne!(method, "tools.call");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agreement_that_comes_with_the_next_call_is_good_for_ten_minutes() {
    for (after, is_good) in [(TEN_MINUTES - Duration::from_secs(1), true), (TEN_MINUTES, false)] {
        let mut scene = Scene::open(true, "prompt").await;
        scene.ask_tool("appduct_call_tool", json!({"name": "pay"})).await;
        let state = scene.next().await["result"]["requestState"].clone();
        assert!(state.is_string());
        advance(after).await;
        let again = json!({
            "name": "appduct_call_tool",
            "arguments": {"name": "pay"},
            "inputResponses": {"consent": {"action": "accept", "content": {}}},
            "requestState": state,
        });
        scene.ask("tools/call", again).await;
        if is_good {
            scene.daemon_is_asked("tools.call").await;
        } else {
            assert_eq!(scene.next().await["result"]["resultType"], "input_required");
        }
    }
}
