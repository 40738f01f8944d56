//! How handles speak to the driver's thread.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, ThreadId};

use appduct_proto::app::{PostFault, Registration};
use appduct_proto::wire::{FieldFault, RawJson, ToolDescriptor};
use tokio::sync::{mpsc, oneshot};

use super::handler::Handler;
use crate::{ConnectError, Stopped};

/// Where an answer goes.
pub(super) type Reply<T> = SyncSender<T>;

/// What a handle asks for.
pub(super) enum Command {
    RegisterTool { descriptor: RawJson, handler: Handler, reply: Reply<Registered> },
    RegisterEvent { descriptor: RawJson, reply: Reply<Result<Registration, FieldFault>> },
    Unregister { kind: Kind, registration: Registration, reply: Reply<Option<Handler>> },
    Tools(Reply<Vec<ToolDescriptor>>),
    PostEvent { name: String, payload: Option<RawJson>, reply: Reply<Result<(), PostFault>> },
    Connect { link: String, reply: oneshot::Sender<Result<(), ConnectError>> },
    HandleUrl { url: String, reply: Reply<bool> },
    Disconnect(Reply<()>),
    RestoreSession(Reply<bool>),
    Background(Reply<()>),
    Foreground(Reply<()>),
    ShutDown(oneshot::Sender<()>),
}

/// What became of a registration, and the handler that is not needed: the new one after a fault, else the one that was
/// replaced. To drop a handler is to run code of the app, so it goes back to a thread of the app.
pub(super) type Registered = (Result<Registration, FieldFault>, Option<Handler>);

/// What a registration is of.
#[derive(Clone)]
pub(super) enum Kind {
    /// The tool of this name.
    Tool(String),
    Event,
}

/// The way to the driver. It keeps the driver alive. The queue has no bound of its own: whoever asks waits, so there are
/// never more commands than threads.
#[derive(Clone)]
pub(super) struct Mailbox {
    commands: mpsc::UnboundedSender<Command>,
    thread: Option<ThreadId>,
}

/// The way to the driver, for those who do not keep it alive.
#[derive(Clone)]
pub(super) struct WeakMailbox {
    commands: mpsc::WeakUnboundedSender<Command>,
    thread: Option<ThreadId>,
}

impl Mailbox {
    /// The way to the driver on `thread`; without a thread nobody is there.
    pub(super) fn new(commands: mpsc::UnboundedSender<Command>, thread: Option<ThreadId>) -> Self {
        Self { commands, thread }
    }

    /// Asks and waits for the answer.
    pub(super) fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Stopped> {
        ask(self.thread, |reply| self.tell(command(reply)))
    }

    /// Asks without waiting; the command says where the answer goes.
    pub(super) fn tell(&self, command: Command) -> Result<(), Stopped> {
        self.commands.send(command).map_err(|_| Stopped)
    }

    pub(super) fn downgrade(&self) -> WeakMailbox {
        WeakMailbox { commands: self.commands.downgrade(), thread: self.thread }
    }
}

impl WeakMailbox {
    pub(super) fn upgrade(&self) -> Option<Mailbox> {
        let commands = self.commands.upgrade()?;
        Some(Mailbox { commands, thread: self.thread })
    }
}

/// Sends a question to the driver on `thread` and waits for the answer, unless this is that thread: it would wait for
/// itself.
pub(super) fn ask<T>(
    thread: Option<ThreadId>,
    send: impl FnOnce(Reply<T>) -> Result<(), Stopped>,
) -> Result<T, Stopped> {
    if thread == Some(thread::current().id()) {
        return Err(Stopped);
    }
    let (reply, answer) = sync_channel(1);
    send(reply)?;
    answer.recv().map_err(|_| Stopped)
}
