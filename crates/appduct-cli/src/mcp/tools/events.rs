//! `appduct_events`

use appduct_proto::wire::{Fields, Object, RawJson};
use appduct_rpc::methods::{EventNotification, EventsSince};

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;
use super::DEFAULT_LIMIT;

/// How large a payload may be where the agent does not say, in bytes.
pub(super) const PAYLOAD_MAX_BYTES: u64 = 4096;

/// What to read.
#[derive(Debug)]
pub(super) struct Query {
    selector: Option<String>,
    since: u64,
    limit: u64,
    name: Option<String>,
    payload_max_bytes: u64,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        Ok(Self {
            selector: arguments.text("selector")?,
            since: arguments.whole("since", 0)?.unwrap_or(0),
            limit: arguments.whole("limit", 1)?.unwrap_or(DEFAULT_LIMIT),
            name: arguments.text("name")?,
            payload_max_bytes: arguments.whole("payloadMaxBytes", 1)?.unwrap_or(PAYLOAD_MAX_BYTES),
        })
    }
}

/// Reads a page of the events that the app posted.
pub(super) fn run(shared: &Shared, daemon: &mut Connection, query: Query) -> Result<Answer, Refusal> {
    let session = shared.scope.session(daemon, query.selector.as_deref())?;
    let page = daemon.request(&EventsSince {
        selector: Some(session.session_id.clone()),
        since: Some(query.since),
        limit: Some(query.limit),
        name: query.name,
        payload_max_bytes: Some(query.payload_max_bytes),
    })?;
    let events: Vec<_> = page.events.iter().map(|event| event_object(event).into_raw()).collect();
    let object = Object::new()
        .raws("events", &events)
        .display("cursor", page.cursor)
        .optional_display("dropped", page.dropped)
        .optional_display("remaining", page.remaining);
    Ok(Answer::own_object(object).of(&session))
}

/// An app's event on one level: what the app said, and when and where.
pub(super) fn event_object(event: &EventNotification) -> Object {
    let data = Fields::parse(event.data.as_str());
    let value = |key: &str| data.as_ref().and_then(|data| RawJson::parse(data.get(key)?.get()).ok());
    Object::new()
        .optional_raw("name", value("name").as_ref())
        .optional_raw("payload", value("payload").as_ref())
        .optional_raw("payloadPreview", value("payloadPreview").as_ref())
        .optional_raw("truncated", value("truncated").as_ref())
        .optional_raw("payloadBytes", value("payloadBytes").as_ref())
        .display("ts", event.ts)
        .display("seq", event.seq)
        .optional_text("sessionId", event.session_id.as_deref())
        .optional_text("alias", event.alias.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_flat_and_its_payload_as_the_app_wrote_it() {
        let check = |data: &str, expected: &str| {
            let event = EventNotification {
                kind: "app_event".to_owned(),
                session_id: Some("s".to_owned()),
                alias: Some("pixel".to_owned()),
                data: RawJson::parse(data).unwrap(),
                ts: 7,
                seq: 3,
            };
            assert_eq!(event_object(&event).into_raw().as_str(), expected);
        };
        check(
            r#"{"name":"order","payload":{"n" : 1.0},"ts":5}"#,
            r#"{"name":"order","payload":{"n" : 1.0},"ts":7,"seq":3,"sessionId":"s","alias":"pixel"}"#,
        );
        check(
            r#"{"name":"order","payloadPreview":"{\"n","truncated":true,"payloadBytes":9}"#,
            r#"{"name":"order","payloadPreview":"{\"n","truncated":true,"payloadBytes":9,"ts":7,"seq":3,"sessionId":"s","alias":"pixel"}"#,
        );
    }
}
