//! `events.subscribe`: which events a connection gets, and how large.

use std::sync::Arc;

use appduct_proto::host::{Event, EventBody, Glob};
use appduct_rpc::methods::{EventKind, EventsSubscribe};

use super::count;
use super::notification::{Notification, kind};

/// What one connection has asked for.
#[derive(Debug)]
pub(crate) struct Subscription {
    session_selector: Option<String>,
    kinds: Option<Vec<EventKind>>,
    name: Option<Glob>,
    payload_max_bytes: Option<usize>,
}

impl Subscription {
    pub(super) fn new(params: EventsSubscribe) -> Self {
        Self {
            session_selector: params.session_selector,
            kinds: params.kinds,
            name: params.name.as_deref().map(Glob::new),
            payload_max_bytes: params.payload_max_bytes.map(count),
        }
    }

    /// The line for this connection; `None` if it has not asked for such events. `whole` is the line of the untouched event
    /// where somebody needed it before.
    pub(crate) fn line(&self, event: &Event, whole: &mut Option<Arc<str>>) -> Option<Arc<str>> {
        if !self.wants_kind(kind(&event.body)) || !self.wants_name(&event.body) {
            return None;
        }
        let is_about = |selector: &String| event.session_id == *selector || event.alias.as_ref() == Some(selector);
        if !self.session_selector.as_ref().is_none_or(is_about) {
            return None;
        }
        Some(match self.payload_max_bytes {
            Some(max_bytes) => Notification::of(&event.clone().with_payload_limit(Some(max_bytes))).line().into(),
            None => Arc::clone(whole.get_or_insert_with(|| Notification::of(event).line().into())),
        })
    }

    /// Whether an event of the daemon itself is wanted; those are about no session.
    pub(crate) fn wants(&self, notification: &Notification<'_>) -> bool {
        self.wants_kind(notification.kind()) && self.session_selector.is_none()
    }

    fn wants_kind(&self, kind: EventKind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// The name of an app event counts, nothing else has one.
    fn wants_name(&self, body: &EventBody) -> bool {
        match (&self.name, body) {
            (Some(glob), EventBody::AppEvent { name, .. } | EventBody::AppEventPreview { name, .. }) => {
                glob.matches(name)
            }
            _ => true,
        }
    }
}
