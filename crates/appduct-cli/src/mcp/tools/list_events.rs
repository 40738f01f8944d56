//! `appduct_list_events`

use appduct_proto::signature::{signature, summary};
use appduct_proto::wire::{Fields, Length, Object, RawJson};
use appduct_rpc::methods::EventsList;

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;
use super::{DEFAULT_LIMIT, registry};

/// What to list.
#[derive(Debug)]
pub(super) struct Query {
    selector: Option<String>,
    name: Option<String>,
    limit: u64,
    offset: Option<u64>,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        Ok(Self {
            selector: arguments.text("selector")?,
            name: arguments.text("name")?,
            limit: arguments.whole("limit", 1)?.unwrap_or(DEFAULT_LIMIT),
            offset: arguments.whole("offset", 0)?,
        })
    }
}

/// Lists a page of the events that the app says it may post.
pub(super) fn run(shared: &Shared, daemon: &mut Connection, query: Query) -> Result<Answer, Refusal> {
    let session = registry::session(shared, daemon, query.selector.as_deref())?;
    let page = daemon.request(&EventsList {
        selector: Some(session.session_id.clone()),
        name: query.name.clone(),
        limit: Some(query.limit),
        offset: query.offset,
    })?;
    // The schema is for who asks for one event.
    let is_exact = query.name.as_deref().is_some_and(|name| !name.contains('*'));
    let events: Vec<_> = page.events.iter().filter_map(|event| listed(event, is_exact)).collect();
    let object = Object::new()
        .text("session", &session.alias)
        .display("total", page.total)
        .optional_text("name", query.name.as_deref())
        .display("limit", query.limit)
        .optional_display("offset", query.offset)
        .raws("events", &events);
    Ok(Answer::own_object(object).of(&session))
}

fn listed(event: &RawJson, is_exact: bool) -> Option<RawJson> {
    let fields = Fields::parse(event.as_str())?;
    let text = |key: &str| fields.optional_text(key, Length::ANY).ok().flatten().unwrap_or_default();
    let schema = fields.get("payload_schema").and_then(|schema| RawJson::parse(schema.get()).ok());
    let object = Object::new()
        .text("name", &text("name"))
        .text("signature", &signature(&text("name"), schema.as_ref(), None))
        .text("description", &summary(&text("description")));
    Some(object.optional_raw("payload_schema", schema.filter(|_| is_exact).as_ref()).into_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_shown_to_who_asks_for_one_event() {
        let event = RawJson::parse(
            r#"{"name":"order","description":"An order.\nMore.","payload_schema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}"#,
        )
        .unwrap();
        assert_eq!(
            listed(&event, false).unwrap().as_str(),
            r#"{"name":"order","signature":"order(id: string)","description":"An order."}"#
        );
        assert!(listed(&event, true).unwrap().as_str().contains(r#""payload_schema":{"type":"object""#));
    }
}
