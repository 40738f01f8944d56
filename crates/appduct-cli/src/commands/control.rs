//! One connection to the daemon.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use appduct_rpc::methods::{EventNotification, Method};
use appduct_rpc::version_guard::{self, Outcome, Terms};
use appduct_rpc::{Client, DaemonLauncher};

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
fn launcher() -> Result<DaemonLauncher, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("The path of this program cannot be told: {error}.")))?;
    Ok(DaemonLauncher::new(program))
}
