//! One connection to the daemon.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use appduct_rpc::methods::{EventNotification, Method, Session, SessionsList};
use appduct_rpc::version_guard::{self, Outcome, Terms};
use appduct_rpc::{Client, ClientError, DaemonLauncher, ErrorType, Kept};
use serde::de::DeserializeOwned;

use super::{Stage, VERSION};
use crate::error::{Failure, sentence};
use crate::settings::Settings;

/// A connection, whose failures are the command's.
pub(super) struct Control {
    client: Client,
}

impl Control {
    /// Connects to a daemon of this version or newer: starts one where none answers, and replaces an older one where
    /// nothing is lost by it.
    pub(super) fn open(settings: &Settings, stage: &mut dyn Stage) -> Result<Self, Failure> {
        let launcher = launcher()?;
        let client = connect(settings, &launcher, stage)?;
        let terms = Terms { client_version: VERSION, force: settings.replaces_older_daemons() };
        let mut guarded = version_guard::check(client, &settings.state_dir, &launcher, terms)?;
        match guarded.outcome {
            Outcome::Same => {}
            Outcome::NotOlder { .. } | Outcome::Replaced { .. } => {
                stage.notice(&sentence(&guarded.outcome.to_string()))
            }
        }
        tell_warnings(&mut guarded.client, stage);
        Ok(Self { client: guarded.client })
    }

    /// Connects to whatever daemon there is, older or newer; starts one where none answers.
    pub(super) fn open_unguarded(settings: &Settings, stage: &mut dyn Stage) -> Result<Self, Failure> {
        Ok(Self { client: connect(settings, &launcher()?, stage)? })
    }

    /// Sends a request and waits for its reply.
    pub(super) fn request<M: Method>(&mut self, method: &M) -> Result<M::Reply, Failure> {
        self.request_within(method, Client::REQUEST_TIMEOUT)
    }

    /// The same, for a reply that is read as another type than its own.
    pub(super) fn request_as<M: Method, T: DeserializeOwned>(&mut self, method: &M) -> Result<T, Failure> {
        Ok(self.client.request_as(method, Client::REQUEST_TIMEOUT)?)
    }

    /// The live sessions.
    pub(super) fn sessions(&mut self) -> Result<Vec<Kept<Session>>, Failure> {
        self.request_as(&SessionsList)
    }

    /// Sends a request whose reply may take `timeout`.
    pub(super) fn request_within<M: Method>(&mut self, method: &M, timeout: Duration) -> Result<M::Reply, Failure> {
        Ok(self.client.request(method, timeout)?)
    }

    /// The same, and hands on what happens meanwhile.
    pub(super) fn request_with_events<M: Method>(
        &mut self,
        method: &M,
        timeout: Duration,
        on_event: &mut dyn FnMut(EventNotification),
    ) -> Result<M::Reply, Failure> {
        Ok(self.client.request_with_events(method, timeout, on_event)?)
    }

    /// The next notification; `None` when the daemon closes the connection.
    pub(super) fn next_event(&mut self) -> Result<Option<Kept<EventNotification>>, Failure> {
        Ok(self.client.next_event_kept()?)
    }

    /// The next notification until `deadline`, or however long it takes where there is none. `None` when the time is over.
    pub(super) fn next_event_until(&mut self, deadline: Option<Instant>) -> Result<Option<EventNotification>, Failure> {
        let event = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => self.client.next_event(),
            Some(left) => self.client.next_event_within(left),
        };
        match event {
            Ok(Some(event)) => Ok(Some(event)),
            Ok(None) => Err(Failure::connection("The daemon went away while this command waited for it.")),
            Err(ClientError::Timeout { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The same failure; where no session has this selector, with the aliases that are close to it.
    pub(super) fn with_aliases(&mut self, failure: Failure, selector: Option<&str>) -> Failure {
        match selector {
            Some(selector) if failure.is(ErrorType::UnknownSession) => {
                let aliases = self.aliases();
                failure.or_did_you_mean(selector, aliases.iter().map(String::as_str))
            }
            Some(_) | None => failure,
        }
    }

    /// The aliases of the live sessions, for advice: none where they cannot be told.
    pub(super) fn aliases(&mut self) -> Vec<String> {
        let sessions = self.sessions().unwrap_or_default();
        sessions.into_iter().map(|session| session.into_inner().alias).collect()
    }

    /// Something that ends the connection from another thread.
    pub(super) fn shutdown_handle(&self) -> Result<UnixStream, Failure> {
        self.client
            .shutdown_handle()
            .map_err(|error| Failure::internal(format!("The connection cannot be shared: {error}.")))
    }
}

fn connect(settings: &Settings, launcher: &DaemonLauncher, stage: &mut dyn Stage) -> Result<Client, Failure> {
    let mut client = Client::connect(&settings.state_dir, launcher)?;
    tell_warnings(&mut client, stage);
    Ok(client)
}

fn tell_warnings(client: &mut Client, stage: &mut dyn Stage) {
    for warning in client.take_warnings() {
        stage.notice(&sentence(&warning));
    }
}

/// Starts this program as the daemon.
pub(super) fn launcher() -> Result<DaemonLauncher, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("The path of this program cannot be told: {error}.")))?;
    Ok(DaemonLauncher::new(program))
}
