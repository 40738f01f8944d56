//! The methods of the control socket.
//!
//! A method's type is its parameters. [`Method::params`] writes them, [`Method::parse`] checks them on the daemon's side:
//! a parameter that is there must have its type, `null` is not absent, unknown ones are ignored.

mod daemon;
mod events;
mod link;
mod policy;
mod sessions;
mod tools;

use std::fmt::Display;

use appduct_proto::wire::{FieldFault, Fields, Length, Object, RawJson, Rule};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use daemon::{Audit, DaemonShutdown, DaemonStatus, Policy, Status};
pub use events::{DeclaredEvents, EventKind, EventNotification, EventPage, EventsList, EventsSince, EventsSubscribe};
pub use link::{Attached, Link, LinkCreate, LinkEndpoint, LinkTransport, WebAttach};
pub use policy::{PolicyExplain, PolicyExplained};
pub use sessions::{Session, SessionDevice, SessionsDescribe, SessionsList, SessionsRevoke};
pub use tools::{CallResult, Caller, Cancelled, Consent, ToolGroup, Tools, ToolsCall, ToolsCancel, ToolsList};

/// A method.
pub trait Method: Sized {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it answers.
    type Reply: Serialize + DeserializeOwned;

    /// The parameters as JSON; absent ones are left out.
    fn params(&self) -> RawJson;

    /// Checks parameters.
    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault>;
}

/// `{"ok":true}`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Always `true`.
    pub ok: bool,
}

impl Done {
    /// The only value that is sent.
    pub const OK: Self = Self { ok: true };
}

/// Adds a number or boolean where there is one.
fn optional(object: Object, key: &str, value: Option<impl Display>) -> Object {
    match value {
        Some(value) => object.display(key, value),
        None => object,
    }
}

/// A string that may be absent.
fn optional_text(params: &Fields<'_>, key: &str, length: Length) -> Result<Option<String>, FieldFault> {
    Ok(params.optional_text(key, length)?.map(std::borrow::Cow::into_owned))
}

/// One of a few words that may be absent. `known` gives each word's value.
fn optional_word<T: Copy>(
    params: &Fields<'_>,
    key: &str,
    words: &'static [&'static str],
    known: &[T],
) -> Result<Option<T>, FieldFault> {
    if params.get(key).is_none() {
        return Ok(None);
    }
    let found = words.iter().zip(known).find(|(word, _)| params.is_text(key, word));
    found.map(|(_, value)| Some(*value)).ok_or_else(|| FieldFault::new(key, Rule::OneOf(words)))
}

#[cfg(test)]
mod tests;
