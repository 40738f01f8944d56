//! The blocking client.

mod error;
mod kept;
mod lossy;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use appduct_proto::wire::RawJson;
use rustix::io::Errno;
use serde::de::DeserializeOwned;

use crate::StateDir;
use crate::line::{self, Incoming, Line, Lines};
use crate::methods::{EventNotification, Method};
use crate::spawn::{self, Spawned};

pub use error::ClientError;
pub use kept::Kept;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// How the client starts a daemon.
#[derive(Clone, Debug)]
pub struct DaemonLauncher {
    /// The program, which is run as `<program> daemon run`; `None` never starts one.
    pub program: Option<PathBuf>,
    /// How long a started daemon may take until it answers.
    pub ready_timeout: Duration,
}

impl DaemonLauncher {
    /// The time that a started daemon has where nothing else is said.
    pub const READY_TIMEOUT: Duration = Duration::from_secs(5);

    /// Starts `program`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: Some(program.into()), ready_timeout: Self::READY_TIMEOUT }
    }

    /// Never starts one.
    #[must_use]
    pub fn never() -> Self {
        Self { program: None, ready_timeout: Self::READY_TIMEOUT }
    }
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    lines: Lines,
    chunk: Box<[u8]>,
    last_id: u64,
    events: VecDeque<Kept<EventNotification>>,
    warnings: Vec<String>,
    /// Whether the other end went away with bytes of ours that it had not read, which the daemon then never acted on.
    unread: bool,
    /// Where the connection came from, until its first request.
    origin: Option<(StateDir, DaemonLauncher)>,
    /// Whether somebody else may end this connection.
    shared: AtomicBool,
}

impl Client {
    /// The time that a reply may take where nothing else is said.
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

    /// Connects; starts a daemon first where none answers and `launcher` has a program.
    pub fn connect(state_dir: &StateDir, launcher: &DaemonLauncher) -> Result<Self, ClientError> {
        state_dir.check_owner()?;
        let socket = state_dir.socket();
        match (connect(&socket)?, &launcher.program) {
            (Some(stream), _) => {
                let origin = Some((state_dir.clone(), launcher.clone()));
                Ok(Self { origin, ..Self::new(stream) })
            }
            (None, None) => Err(ClientError::Unreachable { socket }),
            (None, Some(program)) => {
                spawn::connect_or_spawn(state_dir, program, launcher.ready_timeout).map(Self::spawned)
            }
        }
    }

    /// A client on a connection that is there.
    #[must_use]
    pub fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            lines: Lines::unbounded(),
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            last_id: 0,
            events: VecDeque::new(),
            warnings: Vec::new(),
            unread: false,
            origin: None,
            shared: AtomicBool::new(false),
        }
    }

    /// A client of a daemon that may just have been started.
    pub(crate) fn spawned(spawned: Spawned) -> Self {
        Self { warnings: spawned.warnings, ..Self::new(spawned.stream) }
    }

    /// What went wrong on the way without keeping the daemon from starting, for people; each is told once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Sends a request and waits for its reply; notifications that come before it are kept for [`Client::next_event`].
    pub fn request<M: Method>(&mut self, method: &M, timeout: Duration) -> Result<M::Reply, ClientError> {
        self.request_as(method, timeout)
    }

    /// Like `request`, for a reply that is read as another type than this version's own, such as one of [`Kept`] values.
    pub fn request_as<M: Method, T: DeserializeOwned>(
        &mut self,
        method: &M,
        timeout: Duration,
    ) -> Result<T, ClientError> {
        let reply = self.call(M::NAME, &method.params(), timeout)?;
        decode(M::NAME, &reply)
    }

    /// Like `request`, and hands every notification that comes meanwhile to `on_event`.
    pub fn request_with_events<M: Method>(
        &mut self,
        method: &M,
        timeout: Duration,
        on_event: &mut dyn FnMut(EventNotification),
    ) -> Result<M::Reply, ClientError> {
        let reply = self.exchange(M::NAME, &method.params(), timeout, &mut |event| on_event(event.into_inner()))?;
        decode(M::NAME, &reply)
    }

    /// Like `request`, for a reply that is wanted as it came.
    pub fn call(&mut self, method: &str, params: &RawJson, timeout: Duration) -> Result<RawJson, ClientError> {
        let mut kept = Vec::new();
        let reply = self.exchange(method, params, timeout, &mut |event| kept.push(event));
        self.events.extend(kept);
        reply
    }

    /// The next notification, however long it takes; `None` when the daemon closes the connection.
    pub fn next_event(&mut self) -> Result<Option<EventNotification>, ClientError> {
        Ok(self.next_event_kept()?.map(Kept::into_inner))
    }

    /// Like `next_event`, with the text of the notification.
    pub fn next_event_kept(&mut self) -> Result<Option<Kept<EventNotification>>, ClientError> {
        self.await_event(None)
    }

    /// Like `next_event`, and fails with [`ClientError::Timeout`] where none comes within `timeout`.
    pub fn next_event_within(&mut self, timeout: Duration) -> Result<Option<EventNotification>, ClientError> {
        Ok(self.await_event(Some(Deadline::after(timeout)))?.map(Kept::into_inner))
    }

    fn await_event(&mut self, deadline: Option<Deadline>) -> Result<Option<Kept<EventNotification>>, ClientError> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        loop {
            match self.next_incoming(deadline)? {
                None => return Ok(None),
                Some(Incoming::Event(params)) => return decode("event", &params).map(Some),
                // The reply of a request that was given up.
                Some(Incoming::Reply { .. } | Incoming::Unknown) => {}
            }
        }
    }

    /// Something that ends this connection from another thread: after its `shutdown` a waiting request fails with `Closed`
    /// and `next_event` gives `None`.
    pub fn shutdown_handle(&self) -> io::Result<UnixStream> {
        self.shared.store(true, Ordering::Relaxed);
        self.stream.try_clone()
    }

    /// A daemon that was just killed may still take a connection in, without ever looking at it. So where the first request
    /// was not read, it goes to the daemon that comes next.
    fn exchange(
        &mut self,
        method: &str,
        params: &RawJson,
        timeout: Duration,
        on_event: &mut dyn FnMut(Kept<EventNotification>),
    ) -> Result<RawJson, ClientError> {
        let origin = self.origin.take().filter(|_| !self.shared.load(Ordering::Relaxed));
        match (self.attempt(method, params, timeout, &mut *on_event), origin) {
            (Err(ClientError::Closed), Some((state_dir, launcher))) if self.unread => {
                *self = Self { origin: None, ..Self::connect(&state_dir, &launcher)? };
                self.attempt(method, params, timeout, on_event)
            }
            (result, _) => result,
        }
    }

    fn attempt(
        &mut self,
        method: &str,
        params: &RawJson,
        timeout: Duration,
        on_event: &mut dyn FnMut(Kept<EventNotification>),
    ) -> Result<RawJson, ClientError> {
        let deadline = Deadline::after(timeout);
        self.last_id += 1;
        let id = self.last_id.to_string();
        let request = line::request(self.last_id, method, params);
        if request.len() > line::MAX_LINE_BYTES + 1 {
            return Err(ClientError::TooBig { bytes: request.len() - 1 });
        }
        if let Err(error) = self.send(request.as_bytes(), deadline) {
            // Half a line may be on its way: nothing that follows it on this connection would be understood.
            self.stream.shutdown(Shutdown::Both).ok();
            return Err(error);
        }
        loop {
            match self.next_incoming(Some(deadline))?.ok_or(ClientError::Closed)? {
                Incoming::Reply { id: of, result: Ok(result) } if of.as_str() == id => return Ok(result),
                // An error without an id is about a request that the daemon could not read.
                Incoming::Reply { id: of, result: Err(error) } if of.as_str() == id || of == RawJson::null() => {
                    return Err(error.into());
                }
                // The reply of an earlier request that was given up, or a notification of a newer daemon.
                Incoming::Reply { .. } | Incoming::Unknown => {}
                Incoming::Event(params) => on_event(decode("event", &params)?),
            }
        }
    }

    fn send(&mut self, mut bytes: &[u8], deadline: Deadline) -> Result<(), ClientError> {
        while !bytes.is_empty() {
            self.stream.set_write_timeout(deadline.remaining()?)?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(written) => bytes = &bytes[written..],
                // A daemon that refuses a request may close before it has read it whole; its reply is still to be read.
                Err(error) if is_closed(&error) => {
                    self.unread = true;
                    return Ok(());
                }
                Err(error) if is_again(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next line; `None` at the end of the connection.
    fn next_incoming(&mut self, deadline: Option<Deadline>) -> Result<Option<Incoming>, ClientError> {
        loop {
            match self.lines.next_line() {
                Some(Line::Complete(text)) => {
                    let incoming = line::decode_incoming(&text);
                    return incoming.map(Some).map_err(|error| ClientError::Malformed(error.to_string()));
                }
                Some(Line::TooLong | Line::Endless) | None => {}
            }
            self.stream.set_read_timeout(match deadline {
                Some(deadline) => deadline.remaining()?,
                None => None,
            })?;
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Ok(None),
                Ok(read) => self.lines.push(&self.chunk[..read]),
                Err(error) if is_closed(&error) => {
                    self.unread = true;
                    return Ok(None);
                }
                Err(error) if is_again(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A connection to the socket at `path`; `None` where nothing listens.
pub(crate) fn connect(path: &Path) -> Result<Option<UnixStream>, ClientError> {
    UnixStream::connect(path).map(Some).or_else(|error| {
        // A plain file in the socket's place refuses like a socket without a listener; macOS tells it apart.
        let nobody = [Errno::NOENT, Errno::CONNREFUSED, Errno::NOTSOCK].map(Errno::raw_os_error);
        match error.raw_os_error() {
            Some(code) if nobody.contains(&code) => Ok(None),
            None if error.kind() == io::ErrorKind::InvalidInput => {
                Err(ClientError::PathTooLong { socket: path.to_owned() })
            }
            Some(_) | None => Err(error.into()),
        }
    })
}

pub(crate) fn decode<T: DeserializeOwned>(what: &str, text: &RawJson) -> Result<T, ClientError> {
    lossy::from_str(text.as_str()).map_err(|error| ClientError::Malformed(format!("{what}: {error}")))
}

fn is_again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// When an exchange must be over.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    /// `None` where it lies beyond the clock.
    at: Option<Instant>,
    timeout: Duration,
}

impl Deadline {
    fn after(timeout: Duration) -> Self {
        Self { at: Instant::now().checked_add(timeout), timeout }
    }

    /// What is left, never zero.
    fn remaining(self) -> Result<Option<Duration>, ClientError> {
        let Some(at) = self.at else { return Ok(None) };
        match at.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ClientError::Timeout { after: self.timeout }),
            left => Ok(Some(left)),
        }
    }
}
