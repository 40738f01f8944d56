//! Daemons for tests: one that is a thread with a script, and one that is a process on a leash.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use appduct_rpc::line::{self, Line, Lines, Request};
use appduct_rpc::{DaemonLauncher, StateDir};
use tempfile::TempDir;

/// Longer than anything here takes on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A state directory of its own for each test.
pub(crate) struct State {
    pub(crate) dir: StateDir,
    temp: TempDir,
}

impl State {
    pub(crate) fn new() -> Self {
        let temp = tempfile::Builder::new().prefix("ad").tempdir().unwrap();
        Self { dir: StateDir::new(temp.path()), temp }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.temp.path().join(name), text).unwrap();
    }

    /// How many daemons were started here.
    pub(crate) fn starts(&self) -> usize {
        fs::read_to_string(self.temp.path().join("starts")).unwrap_or_default().lines().count()
    }

    /// Lets daemons be started here; they end with the leash.
    pub(crate) fn leash(&self) -> Leash {
        let listener = UnixListener::bind(self.temp.path().join("leash.sock")).unwrap();
        listener.set_nonblocking(true).unwrap();
        Leash(listener)
    }
}

/// What keeps the daemons of a test alive.
pub(crate) struct Leash(UnixListener);

impl Leash {
    /// The end of the leash of the next daemon that was started.
    pub(crate) fn catch(&self) -> Caught {
        let mut caught = None;
        until(|| {
            caught = self.0.accept().ok();
            caught.is_some()
        });
        Caught(caught.unwrap().0)
    }
}

/// A daemon that lives as long as this.
pub(crate) struct Caught(UnixStream);

impl Caught {
    /// Waits until the daemon has ended by itself.
    pub(crate) fn wait(mut self) {
        self.0.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(self.0.read(&mut [0]).unwrap(), 0);
    }
}

/// Starts the example `fake-daemon`.
pub(crate) fn launcher() -> DaemonLauncher {
    let program = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples/fake-daemon");
    assert!(program.exists(), "{} is missing: `cargo build -p appduct-rpc --examples` makes it", program.display());
    DaemonLauncher { ready_timeout: PATIENCE, ..DaemonLauncher::new(program) }
}

/// A launcher of something that is not there.
pub(crate) fn no_program() -> DaemonLauncher {
    DaemonLauncher::new(PathBuf::from("/nonexistent/appduct"))
}

/// The daemon's end of one connection.
pub(crate) struct Peer {
    stream: UnixStream,
    lines: Lines,
}

impl Peer {
    pub(crate) fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, lines: Lines::unbounded() }
    }

    /// The next request; `None` when the client has closed.
    pub(crate) fn receive(&mut self) -> Option<Request> {
        let mut chunk = [0; 4096];
        loop {
            if let Some(line) = self.lines.next_line() {
                let Line::Complete(text) = line else { panic!("{line:?}") };
                return Some(line::decode_request(&text).unwrap());
            }
            match self.stream.read(&mut chunk).unwrap() {
                0 => return None,
                read => self.lines.push(&chunk[..read]),
            }
        }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends unless the client is gone.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Takes a request and answers it.
    pub(crate) fn answer(&mut self, result: &str) -> Request {
        let request = self.receive().unwrap();
        self.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", request.id.as_str()));
        request
    }
}

/// A daemon of one connection after another, each with a script; join it to see what its scripts assert.
pub(crate) fn daemon(state: &State, scripts: Vec<Box<dyn FnOnce(Peer) + Send>>) -> JoinHandle<()> {
    let listener = UnixListener::bind(state.dir.socket()).unwrap();
    thread::spawn(move || {
        for script in scripts {
            script(Peer::new(listener.accept().unwrap().0));
        }
    })
}

/// Both ends of a connection: the script runs on a thread.
pub(crate) fn pair(script: impl FnOnce(Peer) + Send + 'static) -> (appduct_rpc::Client, JoinHandle<()>) {
    let (client, daemon) = UnixStream::pair().unwrap();
    (appduct_rpc::Client::new(client), thread::spawn(move || script(Peer::new(daemon))))
}

/// Waits for a condition.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline);
        thread::yield_now();
    }
}
