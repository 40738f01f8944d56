//! Sessions.

use appduct_proto::wire::{FieldFault, Fields, Length, Object, RawJson};
use serde::{Deserialize, Serialize};

use super::{Done, Method, optional_text};

/// `sessions.list`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionsList;

/// `sessions.describe`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionsDescribe {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
}

/// `sessions.revoke`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionsRevoke {
    /// A session id or alias, or the session id of a pending link; the only live session where absent.
    pub selector: Option<String>,
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The session.
    pub session_id: String,
    /// Its name for people.
    pub alias: String,
    /// `active` or `suspended`.
    pub state: String,
    /// What the app said of its device.
    pub device: SessionDevice,
    /// ISO 8601 in UTC: when the link was minted.
    pub created_at: String,
    /// ISO 8601 in UTC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed_at: Option<String>,
    /// ISO 8601 in UTC; only while suspended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspended_at: Option<String>,
    /// `app_backgrounded` or `connection_lost`; only while suspended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspend_reason: Option<String>,
    /// The size of its tool registry.
    pub tool_count: u64,
    /// Whether its app has yet to say which tools it has; left out where it has said so, and by older daemons.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub tools_pending: bool,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionDevice {
    /// For example `Google`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub manufacturer: Option<String>,
    /// For example `Pixel 8`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// For example `Android 14`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub os: Option<String>,
}

impl Method for SessionsList {
    const NAME: &'static str = "sessions.list";
    type Reply = Vec<Session>;

    fn params(&self) -> RawJson {
        RawJson::empty_object()
    }

    fn parse(_: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self)
    }
}

impl Method for SessionsDescribe {
    const NAME: &'static str = "sessions.describe";
    type Reply = Session;

    fn params(&self) -> RawJson {
        Object::new().optional_text("selector", self.selector.as_deref()).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self { selector: optional_text(params, "selector", Length::ANY)? })
    }
}

impl Method for SessionsRevoke {
    const NAME: &'static str = "sessions.revoke";
    type Reply = Done;

    fn params(&self) -> RawJson {
        Object::new().optional_text("selector", self.selector.as_deref()).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self { selector: optional_text(params, "selector", Length::ANY)? })
    }
}
