//! A daemon that answers by a script.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::run::Place;

/// What the script does with a request.
pub(crate) enum Answer {
    /// A result, as JSON text.
    Result(String),
    /// An error object, as JSON text.
    Error(String),
    /// The parameters of notifications, each as JSON text, and a result after them.
    Events(Vec<String>, String),
    /// `{"ok":true}`, and after it the parameters of notifications, each as JSON text. The connection stays open.
    Stream(Vec<String>),
    /// The same, and the connection ends.
    Farewell(Vec<String>),
    /// No reply; the connection stays open.
    Silence,
    /// No reply; the connection ends.
    Hangup,
}

pub(crate) fn result(json: impl Into<String>) -> Answer {
    Answer::Result(json.into())
}

pub(crate) fn error(kind: &str, message: &str) -> Answer {
    let error = serde_json::json!({ "code": -32_000, "message": message, "data": { "type": kind } });
    Answer::Error(error.to_string())
}

type Script = dyn Fn(&str, &Value) -> Answer + Send + Sync;

/// Listens on the control socket of a place until it is dropped.
pub(crate) struct FakeDaemon {
    pub(crate) place: Place,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    stopped: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl FakeDaemon {
    /// `daemon.status` is answered with the binary's own version unless the script says something else.
    pub(crate) fn new(script: impl Fn(&str, &Value) -> Answer + Send + Sync + 'static) -> Self {
        let place = Place::new();
        std::fs::create_dir(place.state_dir()).unwrap();
        let listener = UnixListener::bind(place.state_dir().join("daemon.sock")).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let script: Arc<Script> = Arc::new(script);
        let acceptor = std::thread::spawn({
            let (seen, stopped) = (Arc::clone(&seen), Arc::clone(&stopped));
            move || {
                for stream in listener.incoming() {
                    if stopped.load(Ordering::SeqCst) {
                        return;
                    }
                    let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                    std::thread::spawn(move || serve(stream.unwrap(), &seen, &*script));
                }
            }
        });
        Self { place, seen, stopped, acceptor: Some(acceptor) }
    }

    /// The requests so far, without those of the version guard.
    pub(crate) fn seen(&self) -> Vec<(String, Value)> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|(method, _)| method != "daemon.status").cloned().collect()
    }
}

impl Drop for FakeDaemon {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(self.place.state_dir().join("daemon.sock")).unwrap());
        self.acceptor.take().unwrap().join().unwrap();
    }
}

fn serve(stream: UnixStream, seen: &Mutex<Vec<(String, Value)>>, script: &Script) {
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).unwrap();
        let method = request["method"].as_str().unwrap().to_owned();
        let params = request.get("params").cloned().unwrap_or(Value::Null);
        seen.lock().unwrap().push((method.clone(), params.clone()));
        let id = &request["id"];
        let mut text = String::new();
        match script(&method, &params) {
            Answer::Result(result) => text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"),
            Answer::Error(error) => text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n"),
            Answer::Events(events, result) => {
                for event in events {
                    text += &format!("{{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{event}}}\n");
                }
                text += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
            }
            Answer::Stream(events) => text = ok_and(id, &events),
            Answer::Farewell(events) => {
                drop(writer.write_all(ok_and(id, &events).as_bytes()));
                return;
            }
            Answer::Silence => {}
            Answer::Hangup => return,
        }
        // A client that has gone reads nothing.
        drop(writer.write_all(text.as_bytes()));
    }
}

fn ok_and(id: &Value, events: &[String]) -> String {
    let events =
        events.iter().map(|event| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{event}}}\n"));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"ok\":true}}}}\n{}", events.collect::<String>())
}

/// The reply of `daemon.status` of a daemon of this version.
pub(crate) fn status(changes: &Value) -> Answer {
    let mut status = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": 4242,
        "startedAt": "2026-03-17T10:00:00.000Z",
        "wssPort": 8443,
        "pinnedKeys": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
        "sessions": [],
        "pendingLinks": 0,
        "policy": { "default": "allow", "destructive": "allow" },
        "audit": { "path": "/state/audit", "failedWrites": 0 },
    });
    for (key, value) in changes.as_object().unwrap() {
        status[key] = value.clone();
    }
    result(status.to_string())
}

/// The reply of `daemon.status` with nothing special.
pub(crate) fn plain_status() -> Answer {
    status(&serde_json::json!({}))
}
