//! Events: what happens, live and afterwards.

use appduct_proto::wire::{FieldFault, Fields, IntegerFrom, Length, Object, RawJson, Rule};
use serde::{Deserialize, Serialize};

use super::{Done, Method, optional, optional_text};

/// `events.subscribe`: after the reply, this connection gets `event` notifications until it ends. A second subscription
/// replaces the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsSubscribe {
    /// Only events of the session with this id or alias, compared event by event.
    pub session_selector: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<EventKind>>,
    /// Only app events whose whole name matches; `*` stands for any run of characters.
    pub name: Option<String>,
    /// Larger payloads come as a preview; bytes of compact JSON, 1 or greater.
    pub payload_max_bytes: Option<u64>,
}

/// `events.since`: the app events that a session's buffer still holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsSince {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
    /// Only events after this `seq`; 0 where absent.
    pub since: Option<u64>,
    /// How many at most, the oldest first, 1 or greater.
    pub limit: Option<u64>,
    /// Only events whose whole name matches; `*` stands for any run of characters.
    pub name: Option<String>,
    /// Larger payloads come as a preview; bytes of compact JSON, 1 or greater.
    pub payload_max_bytes: Option<u64>,
}

/// `events.list`: what the app says of the events that it may post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsList {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
    /// Only events whose whole name matches; `*` stands for any run of characters.
    pub name: Option<String>,
    /// How many at most, 1 or greater.
    pub limit: Option<u64>,
    /// How many matches to skip.
    pub offset: Option<u64>,
}

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal;)*) => {
        /// The kinds of event notifications.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventKind {
            $($(#[$doc])* $variant,)*
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
            const NAMES: &'static [&'static str] = &[$($text),*];

            /// The name on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

event_kinds! {
    /// The daemon is up.
    DaemonStarted = "daemon_started";
    /// A link was minted.
    LinkCreated = "link_created";
    /// A link passed its time unclaimed.
    LinkExpired = "link_expired";
    /// An app claimed a link.
    SessionClaimed = "session_claimed";
    /// A session lost its socket.
    SessionSuspended = "session_suspended";
    /// An app resumed its session.
    SessionResumed = "session_resumed";
    /// Somebody revoked a session or link.
    SessionRevoked = "session_revoked";
    /// A session's grace passed.
    SessionExpired = "session_expired";
    /// A tool registry changed.
    ToolsChanged = "tools_changed";
    /// An event registry changed.
    EventsChanged = "events_changed";
    /// The app posted an event.
    AppEvent = "app_event";
    /// A call was sent to the app.
    ToolCallStarted = "tool_call_started";
    /// The app reported progress.
    ToolCallProgress = "tool_call_progress";
    /// A call ended.
    ToolCallFinished = "tool_call_finished";
}

impl EventKind {
    /// The kind of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

/// An `event` notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventNotification {
    /// What kind; a name that this version may not know.
    pub kind: String,
    /// The session that it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session_id: Option<String>,
    /// Its alias.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alias: Option<String>,
    /// What happened, by kind; null where the daemon sent nothing.
    #[serde(default = "RawJson::null")]
    pub data: RawJson,
    /// The daemon's time, milliseconds since the Unix epoch.
    pub ts: u64,
    /// Per session, from 1 without gaps, for app events; 0 otherwise.
    pub seq: u64,
}

/// A part of a session's app events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventPage<E = EventNotification> {
    /// The oldest first.
    pub events: Vec<E>,
    /// What to pass as `since` to go on from here.
    pub cursor: u64,
    /// How many events after `since` the buffer has lost; an older daemon does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dropped: Option<u64>,
    /// How many more match; an older daemon does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remaining: Option<u64>,
}

/// A page of event descriptors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclaredEvents {
    /// Each as the app sent it.
    pub events: Vec<RawJson>,
    /// How many match before paging.
    pub total: u64,
}

impl Method for EventsSubscribe {
    const NAME: &'static str = "events.subscribe";
    type Reply = Done;

    fn params(&self) -> RawJson {
        let kinds = self.kinds.as_ref().map(|kinds| {
            let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
            RawJson::of(&names).expect("a list of words is JSON")
        });
        let object = Object::new()
            .optional_text("sessionSelector", self.session_selector.as_deref())
            .optional_raw("kinds", kinds.as_ref())
            .optional_text("name", self.name.as_deref());
        optional(object, "payloadMaxBytes", self.payload_max_bytes).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            session_selector: optional_text(params, "sessionSelector", Length::ANY)?,
            kinds: kinds(params)?,
            name: optional_text(params, "name", Length::ANY)?,
            payload_max_bytes: params.optional_integer("payloadMaxBytes", IntegerFrom::One)?,
        })
    }
}

fn kinds(params: &Fields<'_>) -> Result<Option<Vec<EventKind>>, FieldFault> {
    if params.get("kinds").is_none() {
        return Ok(None);
    }
    let parse = |(index, raw): (usize, &serde_json::value::RawValue)| {
        let word: Option<String> = serde_json::from_str(raw.get()).ok();
        word.and_then(|word| EventKind::parse(&word))
            .ok_or_else(|| FieldFault::new(format!("kinds[{index}]"), Rule::OneOf(EventKind::NAMES)))
    };
    params.array("kinds")?.into_iter().enumerate().map(parse).collect::<Result<_, _>>().map(Some)
}

impl Method for EventsSince {
    const NAME: &'static str = "events.since";
    type Reply = EventPage;

    fn params(&self) -> RawJson {
        let object = Object::new().optional_text("selector", self.selector.as_deref());
        let object = optional(optional(object, "since", self.since), "limit", self.limit);
        optional(object.optional_text("name", self.name.as_deref()), "payloadMaxBytes", self.payload_max_bytes)
            .into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            selector: optional_text(params, "selector", Length::ANY)?,
            since: params.optional_integer("since", IntegerFrom::Zero)?,
            limit: params.optional_integer("limit", IntegerFrom::One)?,
            name: optional_text(params, "name", Length::ANY)?,
            payload_max_bytes: params.optional_integer("payloadMaxBytes", IntegerFrom::One)?,
        })
    }
}

impl Method for EventsList {
    const NAME: &'static str = "events.list";
    type Reply = DeclaredEvents;

    fn params(&self) -> RawJson {
        let object = Object::new()
            .optional_text("selector", self.selector.as_deref())
            .optional_text("name", self.name.as_deref());
        optional(optional(object, "limit", self.limit), "offset", self.offset).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            selector: optional_text(params, "selector", Length::ANY)?,
            name: optional_text(params, "name", Length::ANY)?,
            limit: params.optional_integer("limit", IntegerFrom::One)?,
            offset: params.optional_integer("offset", IntegerFrom::Zero)?,
        })
    }
}
