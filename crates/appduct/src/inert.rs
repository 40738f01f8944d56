//! The engine of a build that does nothing: no thread, no socket, no check.

use std::future::{Future, pending, ready};

use appduct_proto::app::{State, Trust};
use appduct_proto::wire::{Device, ToolDescriptor};
use serde::Serialize;

use crate::tool::ToolSpec;
use crate::{ConnectError, Event, EventDeclaration, PostError, RegisterError, Stopped};

/// Whether anything is checked.
pub(crate) const CHECKS: bool = false;

pub(crate) struct Engine;

#[derive(Clone)]
pub(crate) struct Ticket;

pub(crate) struct Subscription;

/// A call; there are none.
#[derive(Clone)]
pub(crate) enum Call {}

impl Engine {
    pub(crate) fn start(_: Device, _: Trust, _: String) -> Self {
        Self
    }

    pub(crate) fn register_tool<F>(&self, _: ToolSpec, _: F) -> Result<Ticket, RegisterError> {
        Ok(Ticket)
    }

    pub(crate) fn check_group(&self, _: &str) -> Result<(), RegisterError> {
        Ok(())
    }

    pub(crate) fn tools(&self) -> Vec<ToolDescriptor> {
        Vec::new()
    }

    pub(crate) fn register_event(&self, _: &EventDeclaration) -> Result<Ticket, RegisterError> {
        Ok(Ticket)
    }

    pub(crate) fn post_event(&self, _: &str, _: &(impl Serialize + ?Sized)) -> Result<(), PostError> {
        Ok(())
    }

    pub(crate) fn connect(&self, _: &str) -> impl Future<Output = Result<(), ConnectError>> + use<> {
        ready(Err(ConnectError::Disabled))
    }

    pub(crate) fn handle_url(&self, _: &str) -> bool {
        false
    }

    pub(crate) fn disconnect(&self) {}

    pub(crate) fn restore_session(&self) -> bool {
        false
    }

    pub(crate) fn background(&self) {}

    pub(crate) fn foreground(&self) {}

    pub(crate) fn state(&self) -> State {
        State::Idle
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        None
    }

    pub(crate) fn alias(&self) -> Option<String> {
        None
    }

    pub(crate) fn wait_until(&self, state: State) -> impl Future<Output = Result<(), Stopped>> + use<> {
        ready(if state == State::Idle { Ok(()) } else { Err(Stopped) })
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription
    }

    pub(crate) fn shutdown(&self) -> impl Future<Output = ()> + use<> {
        ready(())
    }
}

impl Ticket {
    pub(crate) fn remove(&self) {}
}

impl Subscription {
    pub(crate) fn next(&mut self) -> impl Future<Output = Option<Event>> + use<> {
        ready(None)
    }

    pub(crate) fn try_next(&mut self) -> Option<Event> {
        None
    }
}

impl Call {
    pub(crate) fn call_id(&self) -> &str {
        match *self {}
    }

    pub(crate) fn session_id(&self) -> &str {
        match *self {}
    }

    pub(crate) fn tool(&self) -> &str {
        match *self {}
    }

    pub(crate) fn progress(&self, _: Option<f64>, _: Option<&str>) {
        match *self {}
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        match *self {}
    }

    pub(crate) fn cancelled(&self) -> impl Future<Output = String> + use<> {
        pending()
    }
}
