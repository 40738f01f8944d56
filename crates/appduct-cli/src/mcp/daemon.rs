//! Connections to the daemon. Each tool call opens its own and checks the daemon's version on it, so a daemon that was
//! restarted in between, or comes only later, makes no difference; nothing is opened before the first call.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Once;
use std::time::Duration;

use appduct_proto::wire::RawJson;
use appduct_rpc::methods::{EventNotification, Method};
use appduct_rpc::version_guard::{self, Outcome, Terms};
use appduct_rpc::{Client, ClientError, DaemonLauncher};

use super::refusal::Refusal;
use crate::error::sentence;
use crate::settings::Settings;

/// How long a request may take that needs more than the daemon.
const SLOW_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// How to reach the daemon.
#[derive(Debug)]
pub(super) struct Daemon {
    settings: Settings,
    launcher: DaemonLauncher,
    version: &'static str,
    /// That the daemon is newer is told once, to whoever reads the log of the agent's program.
    newer: Once,
}

impl Daemon {
    pub(super) fn new(settings: Settings, launcher: DaemonLauncher, version: &'static str) -> Self {
        Self { settings, launcher, version, newer: Once::new() }
    }

    /// The settings of the command.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The version of this program.
    pub(super) fn version(&self) -> &'static str {
        self.version
    }

    /// Connects to a daemon of this version or newer: starts one where none answers, and replaces an older one where
    /// nothing is lost by it.
    pub(super) fn open(&self) -> Result<Connection, Refusal> {
        let client = Client::connect(&self.settings.state_dir, &self.launcher)?;
        let terms = Terms { client_version: self.version, force: self.settings.replaces_older_daemons() };
        let guarded = version_guard::check(client, &self.settings.state_dir, &self.launcher, terms)?;
        if let Outcome::NotOlder { .. } = guarded.outcome {
            // Nobody may read it, which is no fault.
            self.newer.call_once(|| drop(writeln!(io::stderr(), "{}", sentence(&guarded.outcome.to_string()))));
        }
        Ok(Connection(guarded.client))
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection(Client);

impl Connection {
    /// Sends a request and waits for its reply.
    pub(super) fn request<M: Method>(&mut self, method: &M) -> Result<M::Reply, Refusal> {
        Ok(self.0.request(method, Client::REQUEST_TIMEOUT)?)
    }

    /// Sends a request that takes the daemon longer, because others have a part in it.
    pub(super) fn request_slowly<M: Method>(&mut self, method: &M) -> Result<M::Reply, Refusal> {
        Ok(self.0.request(method, SLOW_REQUEST_TIMEOUT)?)
    }

    /// Sends a request whose parameters the daemon is to check.
    pub(super) fn call(&mut self, method: &str, params: &RawJson) -> Result<RawJson, Refusal> {
        Ok(self.0.call(method, params, Client::REQUEST_TIMEOUT)?)
    }

    /// Sends a request whose reply may take `timeout`, and hands on what comes meanwhile.
    pub(super) fn request_with_events<M: Method>(
        &mut self,
        method: &M,
        timeout: Duration,
        on_event: &mut dyn FnMut(EventNotification),
    ) -> Result<M::Reply, Refusal> {
        Ok(self.0.request_with_events(method, timeout, on_event)?)
    }

    /// The next notification; `None` where none comes within `timeout`.
    pub(super) fn next_event(&mut self, timeout: Duration) -> Result<Option<EventNotification>, Refusal> {
        match self.0.next_event_within(timeout) {
            Ok(Some(event)) => Ok(Some(event)),
            Ok(None) => Err(Refusal::execution("the daemon went away during the wait; call the tool again")),
            Err(ClientError::Timeout { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Something that ends this connection when it is dropped, from wherever.
    pub(super) fn hang_up(&self) -> Result<HangUp, Refusal> {
        self.0
            .shutdown_handle()
            .map(|stream| HangUp(Some(stream)))
            .map_err(|error| Refusal::execution(error.to_string()))
    }
}

/// Ends a connection when it is dropped. The daemon then gives up what was asked on it.
#[derive(Debug)]
pub(super) struct HangUp(Option<UnixStream>);

impl HangUp {
    /// Lets the connection be.
    pub(super) fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for HangUp {
    fn drop(&mut self) {
        if let Some(stream) = &self.0 {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}
