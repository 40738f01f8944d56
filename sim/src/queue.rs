//! What comes, in the order in which it comes.

use std::collections::BTreeMap;

use appduct_proto::app;
use appduct_proto::host::Generation;

use crate::network::ConnectionNo;

/// Something that comes at its time.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// The next message of this connection reaches the daemon.
    ToHost(ConnectionNo),
    /// The next message of this connection reaches its app.
    ToApp(ConnectionNo),
    /// The daemon hears that the connection broke.
    HostLoses(ConnectionNo),
    /// The app hears that the connection broke.
    AppLoses(ConnectionNo),
    /// The daemon has closed the connection, and its driver is done with it.
    HostIsDone(ConnectionNo),
    /// Nobody answers where the app dials.
    Refused { app: usize, life: u64, socket: app::SocketId },
    /// A save ends.
    Saved { life: u64, generation: Generation },
    /// A daemon that stops does not wait any longer.
    Exits { life: u64 },
    /// The next daemon starts.
    Starts { reboot: bool },
    /// A handler does something.
    Handler { app: usize, life: u64, call: String, step: HandlerStep },
    /// A link reaches an app.
    Link { app: usize, life: u64, url: String, session: String },
    /// An app's process starts, with the lease of the last one or without.
    AppStarts { app: usize, life: u64, reload: bool },
    /// An app comes to the foreground.
    Foreground { app: usize, life: u64 },
    /// Something goes wrong, or somebody does something.
    Act,
}

/// What a handler does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HandlerStep {
    Progress,
    Result,
    /// A second answer: a mistake of the app.
    ResultAgain,
    Fail,
    NotJson,
    TooBig,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    happenings: BTreeMap<(u64, u64), Happening>,
    count: u64,
}

impl Queue {
    /// Of several at one time, the one that was put first comes first.
    pub(crate) fn put(&mut self, at: u64, happening: Happening) {
        self.count += 1;
        self.happenings.insert((at, self.count), happening);
    }

    pub(crate) fn next(&self) -> Option<u64> {
        self.happenings.first_key_value().map(|(&(at, _), _)| at)
    }

    pub(crate) fn take_due(&mut self, now: u64) -> Option<Happening> {
        self.next().filter(|&at| at <= now)?;
        self.happenings.pop_first().map(|(_, happening)| happening)
    }
}
