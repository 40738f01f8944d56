//! `events`

use appduct_rpc::Kept;
use appduct_rpc::methods::{EventNotification, EventPage, EventsList, EventsSince, EventsSubscribe};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::Stage;
use super::control::Control;
use super::interrupt::Interrupt;
use crate::error::Failure;
use crate::report::{Cursor, Events, Item, Report};
use crate::settings::{DeclaredQuery, EventsSettings, Settings, SinceQuery, StreamQuery};
use crate::suggest;

/// Shows what happens, what has happened, or what may.
pub(super) fn run(
    settings: &Settings,
    events: &EventsSettings,
    stage: &mut dyn Stage,
) -> Result<Option<Report>, Failure> {
    match events {
        EventsSettings::Stream(query) => stream(settings, query, stage).map(|()| None),
        EventsSettings::Since(query) => since(settings, query, stage).map(|()| None),
        EventsSettings::Declared(query) => declared(settings, query, stage).map(Some),
    }
}

/// Goes on until a signal comes, the daemon closes the connection, or nobody reads any more: each is a good end.
fn stream(settings: &Settings, query: &StreamQuery, stage: &mut dyn Stage) -> Result<(), Failure> {
    let interrupt = Interrupt::watch(&[SIGINT, SIGTERM])?;
    let outcome = follow(settings, query, &interrupt, stage);
    if interrupt.came() { Ok(()) } else { outcome }
}

fn follow(
    settings: &Settings,
    query: &StreamQuery,
    interrupt: &Interrupt,
    stage: &mut dyn Stage,
) -> Result<(), Failure> {
    let mut control = Control::open(settings, stage)?;
    interrupt.ends(control.shutdown_handle()?);
    control.request(&EventsSubscribe {
        session_selector: query.selector.clone(),
        kinds: query.kinds.clone(),
        name: query.name.clone(),
        payload_max_bytes: query.payload_max_bytes,
    })?;
    if let Some(selector) = &query.selector {
        tell_of_a_stranger(&mut control, selector, stage);
    }
    stage.waiting("Waiting for events. Ctrl-C ends it.");
    let mut left = query.limit;
    while left != Some(0)
        && let Some(event) = control.next_event()?
        && stage.item(&Item::Event(event))?
    {
        left = left.map(|left| left - 1);
    }
    Ok(())
}

/// A session that is not there may still come, so that is no failure; a slip of the finger would wait for ever.
fn tell_of_a_stranger(control: &mut Control, selector: &str, stage: &mut dyn Stage) {
    let Ok(sessions) = control.request(&appduct_rpc::methods::SessionsList) else { return };
    if sessions.iter().any(|session| session.session_id == selector || session.alias == selector) {
        return;
    }
    let question = suggest::did_you_mean(selector, sessions.iter().map(|session| session.alias.as_str()));
    let text = format!("No live session has the id or alias \"{selector}\" yet.");
    stage.notice(&[Some(text), question].into_iter().flatten().collect::<Vec<_>>().join(" "));
}

fn since(settings: &Settings, query: &SinceQuery, stage: &mut dyn Stage) -> Result<(), Failure> {
    let mut control = Control::open(settings, stage)?;
    let request = EventsSince {
        selector: query.selector.clone(),
        since: Some(query.since),
        limit: query.limit,
        name: query.name.clone(),
        payload_max_bytes: query.payload_max_bytes,
    };
    let page: EventPage<Kept<EventNotification>> =
        control.request_as(&request).map_err(|failure| control.with_aliases(failure, query.selector.as_deref()))?;
    let cursor = Cursor {
        cursor: page.cursor,
        dropped: page.dropped,
        remaining: page.remaining,
        resume: resume(query, page.cursor),
    };
    let items = page.events.into_iter().map(Item::Event).chain([Item::Cursor(cursor)]);
    for item in items {
        if !stage.item(&item)? {
            break;
        }
    }
    Ok(())
}

/// The command that goes on where this one ended.
fn resume(query: &SinceQuery, cursor: u64) -> String {
    let mut command = format!("appduct events --since {cursor}");
    let options = [
        ("session", query.selector.clone()),
        ("name", query.name.clone()),
        ("limit", query.limit.map(|limit| limit.to_string())),
        ("payload-max-bytes", query.payload_max_bytes.map(|bytes| bytes.to_string())),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            command += &format!(" --{option}={}", quoted(&value));
        }
    }
    command
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn declared(settings: &Settings, query: &DeclaredQuery, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let DeclaredQuery { selector, name, limit, offset } = query;
    let mut control = Control::open(settings, stage)?;
    let request = EventsList { selector: selector.clone(), name: name.clone(), limit: *limit, offset: *offset };
    let page = control.request(&request).map_err(|failure| control.with_aliases(failure, selector.as_deref()))?;
    Ok(Report::Events(Events {
        events: page.events,
        total: page.total,
        name: name.clone(),
        limit: *limit,
        offset: *offset,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_goes_on_asks_for_the_same_events() {
        let query = SinceQuery { since: 3, ..SinceQuery::default() };
        assert_eq!(resume(&query, 7), "appduct events --since 7");
        let query = SinceQuery {
            selector: Some("-it's; rm".to_owned()),
            since: 3,
            name: Some("cart.*".to_owned()),
            payload_max_bytes: None,
            limit: Some(5),
        };
        assert_eq!(resume(&query, 7), r"appduct events --since 7 --session='-it'\''s; rm' --name='cart.*' --limit=5");
    }
}
