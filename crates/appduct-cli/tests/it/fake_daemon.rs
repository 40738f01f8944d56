//! A daemon that answers by a script.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::run::Place;
use crate::transcripts::PATIENCE;

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

/// What clients did.
#[derive(Default)]
struct Journal {
    lines: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Default)]
struct Lines {
    /// The requests.
    seen: Vec<(String, Value)>,
    /// The last method of every connection that its client has ended.
    ended: Vec<String>,
}

impl Journal {
    fn write(&self, change: impl FnOnce(&mut Lines)) {
        change(&mut self.lines.lock().unwrap());
        self.changed.notify_all();
    }

    #[track_caller]
    fn wait(&self, until: impl Fn(&Lines) -> bool) {
        let lines = self.lines.lock().unwrap();
        let (_lines, waited) = self.changed.wait_timeout_while(lines, PATIENCE, |lines| !until(lines)).unwrap();
        assert!(!waited.timed_out(), "clients never did what was waited for");
    }
}

/// Listens on the control socket of a place until it is dropped.
pub(crate) struct FakeDaemon {
    pub(crate) place: Place,
    journal: Arc<Journal>,
    stopped: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl FakeDaemon {
    /// `daemon.status` is answered with the binary's own version unless the script says something else.
    pub(crate) fn new(script: impl Fn(&str, &Value) -> Answer + Send + Sync + 'static) -> Self {
        let place = Place::new();
        std::fs::create_dir(place.state_dir()).unwrap();
        let listener = UnixListener::bind(place.state_dir().join("daemon.sock")).unwrap();
        let journal = Arc::new(Journal::default());
        let stopped = Arc::new(AtomicBool::new(false));
        let script: Arc<Script> = Arc::new(script);
        let acceptor = std::thread::spawn({
            let (journal, stopped) = (Arc::clone(&journal), Arc::clone(&stopped));
            move || {
                for stream in listener.incoming() {
                    if stopped.load(Ordering::SeqCst) {
                        return;
                    }
                    let (journal, script) = (Arc::clone(&journal), Arc::clone(&script));
                    std::thread::spawn(move || serve(stream.unwrap(), &journal, &*script));
                }
            }
        });
        Self { place, journal, stopped, acceptor: Some(acceptor) }
    }

    /// The requests so far, without those of the version guard.
    pub(crate) fn seen(&self) -> Vec<(String, Value)> {
        let lines = self.journal.lines.lock().unwrap();
        lines.seen.iter().filter(|(method, _)| method != "daemon.status").cloned().collect()
    }

    /// Waits until this was asked.
    #[track_caller]
    pub(crate) fn is_asked(&self, method: &str) {
        self.journal.wait(|lines| lines.seen.iter().any(|(seen, _)| seen == method));
    }

    /// Waits until a client has hung up whose last request was this.
    #[track_caller]
    pub(crate) fn is_left_after(&self, method: &str) {
        self.journal.wait(|lines| lines.ended.iter().any(|last| last == method));
    }
}

impl Drop for FakeDaemon {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(self.place.state_dir().join("daemon.sock")).unwrap());
        self.acceptor.take().unwrap().join().unwrap();
    }
}

fn serve(stream: UnixStream, journal: &Journal, script: &Script) {
    let mut writer = stream.try_clone().unwrap();
    let mut last = String::new();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        let request: Value = serde_json::from_str(&line).unwrap();
        let method = request["method"].as_str().unwrap().to_owned();
        let params = request.get("params").cloned().unwrap_or(Value::Null);
        journal.write(|lines| lines.seen.push((method.clone(), params.clone())));
        last.clone_from(&method);
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
    journal.write(|lines| lines.ended.push(last));
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
