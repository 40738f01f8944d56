//! A daemon on a thread of this process.

use std::sync::mpsc;
use std::thread::JoinHandle;

use appduct_daemon::{Clock, Options, Seams, StartError, Started, run_with};
use appduct_rpc::StateDir;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{App, Control, PATIENCE};

/// A directory whose socket path is short enough for every system.
pub(crate) fn state_dir(config: &str) -> TempDir {
    let directory = tempfile::Builder::new().prefix("ad").tempdir().unwrap();
    std::fs::write(directory.path().join("config.json"), config).unwrap();
    directory
}

/// Ended by its own handle, or when the test lets go of it.
pub(crate) struct Daemon {
    pub(crate) directory: TempDir,
    pub(crate) clock: Clock,
    pub(crate) port: u16,
    pub(crate) web_port: u16,
    thread: Option<JoinHandle<Result<(), StartError>>>,
}

impl Daemon {
    pub(crate) fn start() -> Self {
        Self::with_config(r#"{"wssPort":0,"advertisedIp":"127.0.0.1"}"#)
    }

    pub(crate) fn with_config(config: &str) -> Self {
        Self::in_directory(state_dir(config)).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn in_directory(directory: TempDir) -> Result<Self, StartError> {
        Self::with_seams(directory, Seams::default())
    }

    pub(crate) fn with_seams(directory: TempDir, seams: Seams) -> Result<Self, StartError> {
        let options =
            Options { state_dir: StateDir::new(directory.path().to_owned()), version: "1.2.3-test".to_owned() };
        // No check is cut short by a busy machine.
        let seams = Seams { validation_wait: PATIENCE, ..seams };
        let clock = seams.clock.clone();
        let (ready, started) = mpsc::channel::<Started>();
        let thread = std::thread::spawn(move || {
            run_with(&options, seams, |started| {
                ready.send(started.clone()).ok();
            })
        });
        match started.recv_timeout(PATIENCE) {
            Ok(Started { wss_port: port, web_port, .. }) => {
                Ok(Self { directory, clock, port, web_port, thread: Some(thread) })
            }
            // The sender is gone: the start has failed, and says why.
            Err(_) => Err(thread.join().unwrap().expect_err("a daemon that ends before it is ready has failed")),
        }
    }

    pub(crate) fn paths(&self) -> StateDir {
        StateDir::new(self.directory.path().to_owned())
    }

    pub(crate) fn control(&self) -> Control {
        Control::connect(&self.paths().socket())
    }

    pub(crate) fn call(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.control().call(method, params)
    }

    pub(crate) fn link(&self) -> Value {
        self.call("link.create", json!({})).unwrap()
    }

    /// A link that a web page may claim.
    pub(crate) fn web_link(&self) -> Value {
        self.call("link.create", json!({"transport": "web"})).unwrap()
    }

    /// A connected socket that has sent nothing.
    pub(crate) fn socket(&self) -> App {
        App::connect(self.port)
    }

    /// An app that has claimed a fresh link.
    pub(crate) fn app(&self, model: &str) -> App {
        let mut app = self.socket();
        app.claim(&self.link(), model);
        app.expect_ack();
        app
    }

    /// An app whose tools are registered.
    pub(crate) fn app_with_tools(&self, model: &str, tools: Value) -> App {
        let mut app = self.app(model);
        let count = tools.as_array().unwrap().len();
        app.send(json!({"type": "tool_registry_snapshot", "session_id": app.session_id, "tools": tools}));
        super::eventually("the tools are registered", || {
            self.session(&app.session_id).is_some_and(|session| session["toolCount"] == count)
        });
        app
    }

    pub(crate) fn sessions(&self) -> Vec<Value> {
        self.call("sessions.list", json!({})).unwrap().as_array().unwrap().clone()
    }

    pub(crate) fn session(&self, id: &str) -> Option<Value> {
        self.sessions().into_iter().find(|session| session["sessionId"] == id)
    }

    /// Stops it and waits for its end.
    pub(crate) fn stop(mut self) -> TempDir {
        self.control().call("daemon.shutdown", json!({})).unwrap();
        self.wait();
        // A directory cannot be moved out of what has a destructor; this one keeps nothing else.
        std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap())
    }

    pub(crate) fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.thread.is_some() {
            if let Some(mut control) = Control::try_connect(&self.paths().socket()) {
                control.send(r#"{"method":"daemon.shutdown"}"#);
                control.read_to_end();
            }
            if let Some(thread) = self.thread.take() {
                thread.join().ok();
            }
        }
    }
}
