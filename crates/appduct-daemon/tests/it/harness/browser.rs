//! A browser's debugging port, as small as it can be: a list of tabs, and in each tab a page with or without an SDK.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use appduct_proto::wire::Bootstrap;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use super::PATIENCE;

/// What is in a tab's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sdk {
    /// No SDK.
    Absent,
    /// One that claims the link that it is told, and goes on as the test says.
    Claims,
    /// One that throws when it is told a link.
    Throws,
    /// One whose `connect` never ends, and that opens no socket.
    Silent,
}

#[derive(Clone, Debug)]
pub(crate) struct Tab {
    pub(crate) id: &'static str,
    pub(crate) url: &'static str,
    pub(crate) sdk: Sdk,
}

/// Gone when the test lets go of it.
pub(crate) struct Browser {
    pub(crate) port: u16,
    runtime: Option<Runtime>,
    /// What relays tell pages, and what else is asked of the browser.
    heard: std::sync::mpsc::Receiver<Heard>,
    /// To the page of the relay that was opened last.
    page: Arc<Mutex<Option<mpsc::UnboundedSender<Say>>>>,
}

/// What the daemon does to a tab.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// The page is told this.
    Received(Value),
    /// The tab is to show this.
    Navigated(String),
    /// A relay's socket is gone.
    Detached,
}

/// What a test makes happen in a tab.
#[derive(Debug)]
enum Say {
    /// The page calls the binding, in this context.
    Binding(u64, Value),
    /// The browser says this.
    Event(Value),
    /// The tab is closed.
    Gone,
}

/// The context of the first document.
const CONTEXT: u64 = 1;

impl Browser {
    pub(crate) fn start(tabs: Vec<Tab>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (hear, heard) = std::sync::mpsc::channel();
        let page = Arc::new(Mutex::new(None));
        let for_server = Arc::clone(&page);
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, tabs.clone(), hear.clone(), Arc::clone(&for_server)));
            }
        });
        Self { port, runtime: Some(runtime), heard, page }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What happens next in the tabs.
    pub(crate) fn heard(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }

    /// What the page is told next.
    pub(crate) fn received(&self) -> Value {
        loop {
            if let Heard::Received(value) = self.heard() {
                return value;
            }
        }
    }

    /// The next frame for the page.
    pub(crate) fn frame(&self) -> Value {
        let message = self.received();
        assert_eq!(message["kind"], "message", "{message}");
        serde_json::from_str(message["text"].as_str().unwrap()).unwrap()
    }

    /// Waits until a relay has let go of its tab.
    pub(crate) fn detached(&self) {
        while self.heard() != Heard::Detached {}
    }

    /// The page calls the binding.
    pub(crate) fn says(&self, what: Value) {
        self.says_in(CONTEXT, what);
    }

    /// A script in that context calls the binding.
    pub(crate) fn says_in(&self, context: u64, what: Value) {
        self.happens(Say::Binding(context, what));
    }

    /// The page sends a frame.
    pub(crate) fn sends(&self, frame: &Value) {
        self.says(json!({"kind": "send", "text": frame.to_string()}));
    }

    /// The page is loaded again; its next document has that context.
    pub(crate) fn reloads(&self, context: u64) {
        self.happens(Say::Event(json!({"method": "Runtime.executionContextsCleared", "params": {}})));
        self.happens(Say::Event(context_created(context)));
    }

    pub(crate) fn closes_tab(&self) {
        self.happens(Say::Gone);
    }

    fn happens(&self, what: Say) {
        let page = self.page.lock().unwrap();
        page.as_ref().expect("a tab is open").send(what).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn context_created(id: u64) -> Value {
    let about = json!({"frameId": "FRAME", "isDefault": true, "type": "default"});
    json!({"method": "Runtime.executionContextCreated", "params": {"context": {"id": id, "origin": "", "auxData": about}}})
}

type SharedPage = Arc<Mutex<Option<mpsc::UnboundedSender<Say>>>>;

async fn serve(mut stream: TcpStream, tabs: Vec<Tab>, hear: std::sync::mpsc::Sender<Heard>, page: SharedPage) {
    let mut start = [0; 14];
    let deadline = Instant::now() + PATIENCE;
    while stream.peek(&mut start).await.unwrap() < start.len() {
        assert!(Instant::now() < deadline, "no request");
        tokio::task::yield_now().await;
    }
    if start.starts_with(b"GET /json/list") {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0);
        }
        let list: Vec<Value> = tabs
            .iter()
            .map(|tab| {
                let socket = format!("ws://192.0.2.7:1/devtools/page/{}", tab.id);
                json!({"id": tab.id, "type": "page", "url": tab.url, "webSocketDebuggerUrl": socket})
            })
            .collect();
        let body = Value::from(list).to_string();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
        return;
    }
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "the library's callback has it")]
    let note = |request: &tokio_tungstenite::tungstenite::handshake::server::Request, response| {
        assert!(!request.headers().contains_key("origin"), "a browser refuses whoever comes from a page");
        path = request.uri().path().to_owned();
        Ok(response)
    };
    let ws = tokio_tungstenite::accept_hdr_async(stream, note).await.unwrap();
    let tab = tabs.into_iter().find(|tab| path == format!("/devtools/page/{}", tab.id)).expect("a tab of the list");
    let (say, said) = mpsc::unbounded_channel();
    *page.lock().unwrap() = Some(say);
    run_tab(ws, tab.sdk, said, &hear).await;
    hear.send(Heard::Detached).ok();
}

async fn run_tab(
    mut ws: tokio_tungstenite::WebSocketStream<TcpStream>,
    sdk: Sdk,
    mut said: mpsc::UnboundedReceiver<Say>,
    hear: &std::sync::mpsc::Sender<Heard>,
) {
    let mut is_bound = false;
    // The link that the page claims when its socket is open, and the evaluation that told it.
    let mut claiming: Option<String> = None;
    loop {
        let message = tokio::select! {
            message = ws.next() => message,
            say = said.recv() => {
                let event = match say {
                    Some(Say::Binding(context, what)) => binding_called(context, &what),
                    Some(Say::Event(event)) => event,
                    Some(Say::Gone) | None => return,
                };
                ws.send(Message::text(event.to_string())).await.unwrap();
                continue;
            }
        };
        let Some(Ok(Message::Text(text))) = message else { return };
        let command: Value = serde_json::from_str(&text).unwrap();
        let (id, params) = (&command["id"], &command["params"]);
        let mut result = json!({});
        let mut then = Vec::new();
        match command["method"].as_str().unwrap() {
            "Page.getFrameTree" => result = json!({"frameTree": {"frame": {"id": "FRAME"}}}),
            "Runtime.enable" => {
                ws.send(Message::text(context_created(CONTEXT).to_string())).await.unwrap();
            }
            "Inspector.enable" => {}
            "Runtime.addBinding" => {
                assert_eq!(params["name"], "__appductBinding");
                is_bound = true;
            }
            "Page.navigate" => {
                let url = params["url"].as_str().unwrap().to_owned();
                if url.contains("unreachable") {
                    result = json!({"errorText": "net::ERR_CONNECTION_REFUSED"});
                }
                hear.send(Heard::Navigated(url)).ok();
            }
            "Runtime.evaluate" => {
                assert!(is_bound);
                let expression = params["expression"].as_str().unwrap();
                if expression.starts_with("typeof ") {
                    result = json!({"result": {"type": "boolean", "value": sdk != Sdk::Absent}});
                } else if let Some(arguments) = expression.strip_prefix("window.__APPDUCT__.connect(") {
                    assert!(arguments.ends_with(", {transport: \"devtools\"})"), "{arguments}");
                    match sdk {
                        Sdk::Absent | Sdk::Silent => continue,
                        Sdk::Throws => {
                            let thrown = json!({"description": "Error: not this link"});
                            result = json!({"exceptionDetails": {"text": "Uncaught", "exception": thrown}});
                        }
                        Sdk::Claims => {
                            let literal = arguments.strip_suffix(", {transport: \"devtools\"})").unwrap();
                            claiming = Some(serde_json::from_str(literal).unwrap());
                            then.push(binding_called(CONTEXT, &json!({"kind": "open", "socket": 1})));
                        }
                    }
                } else {
                    let argument = expression.strip_prefix("window.__APPDUCT__?.receive(").unwrap();
                    let literal: String = serde_json::from_str(argument.strip_suffix(')').unwrap()).unwrap();
                    let received: Value = serde_json::from_str(&literal).unwrap();
                    if received["kind"] == "open"
                        && let Some(payload) = claiming.take()
                    {
                        let claim = json!({"kind": "send", "text": claim(&payload).to_string()});
                        then.push(binding_called(CONTEXT, &claim));
                    }
                    hear.send(Heard::Received(received)).ok();
                }
            }
            other => panic!("{other}"),
        }
        let answer = json!({"id": id, "result": result});
        // A page that is told a link opens its socket before its promise ends.
        for event in then {
            ws.send(Message::text(event.to_string())).await.unwrap();
        }
        ws.send(Message::text(answer.to_string())).await.unwrap();
    }
}

fn claim(payload: &str) -> Value {
    let bootstrap = Bootstrap::decode(payload).unwrap();
    json!({
        "type": "session_claim", "protocol_version": 2, "session_id": bootstrap.session_id,
        "token": bootstrap.token_text(), "device_model": "Tab",
    })
}

fn binding_called(context: u64, what: &Value) -> Value {
    let params = json!({"name": "__appductBinding", "payload": what.to_string(), "executionContextId": context});
    json!({"method": "Runtime.bindingCalled", "params": params})
}
