//! The engine: one thread that drives the core, its sockets and its timers.
//!
//! The thread owns everything; handles send it commands and wait for the answer. It never runs code of the app, so it
//! never waits for the app.

mod call;
mod calls;
mod clock;
mod driver;
mod finite;
mod handler;
mod lease;
mod mailbox;
mod socket;
mod subscription;
mod threads;

use std::future::Future;

use appduct_proto::app::{State, Trust};
use appduct_proto::wire::{Device, FieldFault, Group, RawJson, Rule, ToolDescriptor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{broadcast, oneshot, watch};

use crate::tool::ToolSpec;
use crate::{ConnectError, Context, Event, EventDeclaration, PostError, RegisterError, Stopped, ToolError};
use driver::Driver;
use mailbox::{Command, Kind, Mailbox, WeakMailbox};

pub(crate) use call::Call;
pub(crate) use subscription::Subscription;

/// What handles may look at without asking the thread.
#[derive(Clone, Debug, Default)]
struct Status {
    state: State,
    session_id: Option<String>,
    alias: Option<String>,
}

/// Whether anything is checked.
pub(crate) const CHECKS: bool = true;

pub(crate) struct Engine {
    mailbox: Mailbox,
    status: watch::Receiver<Status>,
    events: broadcast::WeakSender<Event>,
}

/// A registration in the core.
#[derive(Clone)]
pub(crate) struct Ticket {
    mailbox: WeakMailbox,
    kind: Kind,
    registration: appduct_proto::app::Registration,
}

impl Engine {
    pub(crate) fn start(device: Device, trust: Trust, lease_slot: String) -> Self {
        Driver::start(device, trust, lease_slot)
    }

    pub(crate) fn register_tool<Args, R, F, Fut>(&self, spec: ToolSpec, handler: F) -> Result<Ticket, RegisterError>
    where
        Args: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Args, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let descriptor = spec.descriptor()?;
        let kind = Kind::Tool(spec.name.clone());
        let handler = handler::Handler::new(spec.name, handler);
        let (registered, unneeded) = self.mailbox.ask(|reply| Command::RegisterTool { descriptor, handler, reply })?;
        drop(unneeded);
        Ok(self.ticket(kind, registered?))
    }

    #[expect(clippy::unused_self, reason = "the engine that does nothing checks nothing")]
    pub(crate) fn check_group(&self, group: &str) -> Result<(), RegisterError> {
        match group.parse::<Group>() {
            Ok(_) => Ok(()),
            Err(_) => Err(FieldFault::new("group", Rule::Group).into()),
        }
    }

    pub(crate) fn tools(&self) -> Vec<ToolDescriptor> {
        self.mailbox.ask(Command::Tools).unwrap_or_default()
    }

    pub(crate) fn register_event(&self, event: &EventDeclaration) -> Result<Ticket, RegisterError> {
        let descriptor = event.descriptor()?;
        let registration = self.mailbox.ask(|reply| Command::RegisterEvent { descriptor, reply })??;
        Ok(self.ticket(Kind::Event, registration))
    }

    pub(crate) fn post_event(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), PostError> {
        if !finite::is_finite(payload) {
            return Err(PostError::Payload(serde::ser::Error::custom("a number is not finite")));
        }
        let payload = RawJson::of(payload)?;
        let payload = (payload != RawJson::null()).then_some(payload);
        let name = name.to_owned();
        Ok(self.mailbox.ask(|reply| Command::PostEvent { name, payload, reply })??)
    }

    pub(crate) async fn connect(&self, link: &str) -> Result<(), ConnectError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.tell(Command::Connect { link: link.to_owned(), reply })?;
        answer.await.map_err(|_| Stopped)?
    }

    pub(crate) fn handle_url(&self, url: &str) -> bool {
        self.mailbox.ask(|reply| Command::HandleUrl { url: url.to_owned(), reply }).unwrap_or(false)
    }

    pub(crate) fn disconnect(&self) {
        self.mailbox.ask(Command::Disconnect).unwrap_or_default();
    }

    pub(crate) fn restore_session(&self) -> bool {
        self.mailbox.ask(Command::RestoreSession).unwrap_or(false)
    }

    pub(crate) fn background(&self) {
        self.mailbox.ask(Command::Background).unwrap_or_default();
    }

    pub(crate) fn foreground(&self) {
        self.mailbox.ask(Command::Foreground).unwrap_or_default();
    }

    pub(crate) fn state(&self) -> State {
        self.status.borrow().state
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        self.status.borrow().session_id.clone()
    }

    pub(crate) fn alias(&self) -> Option<String> {
        self.status.borrow().alias.clone()
    }

    pub(crate) async fn wait_until(&self, state: State) -> Result<(), Stopped> {
        let mut status = self.status.clone();
        match status.wait_for(|status| status.state == state).await {
            Ok(_) => Ok(()),
            Err(_) => Err(Stopped),
        }
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription::new(&self.events)
    }

    pub(crate) async fn shutdown(&self) {
        let (reply, answer) = oneshot::channel();
        if self.mailbox.tell(Command::ShutDown(reply)).is_ok() {
            // An error means that the thread is gone, which is what was asked for.
            answer.await.unwrap_or_default();
        }
    }

    fn ticket(&self, kind: Kind, registration: appduct_proto::app::Registration) -> Ticket {
        Ticket { mailbox: self.mailbox.downgrade(), kind, registration }
    }
}

impl Ticket {
    pub(crate) fn remove(&self) {
        let Some(mailbox) = self.mailbox.upgrade() else { return };
        let (kind, registration) = (self.kind.clone(), self.registration);
        drop(mailbox.ask(|reply| Command::Unregister { kind, registration, reply }));
    }
}
