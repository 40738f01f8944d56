//! `appduct_wait_for_event`

use std::time::Duration;

use appduct_rpc::methods::{EventKind, EventNotification, EventsSince, EventsSubscribe, Session};
use rmcp::service::{RequestContext, RoleServer};

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::refusal::Refusal;
use super::super::server::{Server, Shared};
use super::events::{PAYLOAD_MAX_BYTES, event_object};
use super::wait::{self, DEFAULT_TIMEOUT_MS, Wait};

/// The longest wait.
const MAX_TIMEOUT_MS: u64 = 1_500_000;

/// What to wait for.
#[derive(Debug)]
pub(super) struct Query {
    name: String,
    selector: Option<String>,
    since: Option<u64>,
    timeout: Duration,
    payload_max_bytes: u64,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        let timeout_ms = arguments.whole("timeoutMs", 1)?.unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS);
        Ok(Self {
            name: arguments.required_text("name")?,
            selector: arguments.text("selector")?,
            since: arguments.whole("since", 0)?,
            timeout: Duration::from_millis(timeout_ms),
            payload_max_bytes: arguments.whole("payloadMaxBytes", 1)?.unwrap_or(PAYLOAD_MAX_BYTES),
        })
    }
}

/// Waits for one event.
pub(super) async fn run(
    server: &Server,
    query: Query,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Refusal> {
    let timeout = query.timeout;
    wait::run(server, context, timeout, move |shared, wait| until_posted(shared, wait, &query)).await
}

/// First subscribed, then looked at what was posted before: nothing is missed in between.
fn until_posted(shared: &Shared, wait: &mut Wait<'_>, query: &Query) -> Result<Answer, Refusal> {
    let session = shared.scope.session(wait.daemon, query.selector.as_deref())?;
    wait.daemon.request(&EventsSubscribe {
        session_selector: Some(session.session_id.clone()),
        kinds: Some(vec![EventKind::AppEvent, EventKind::SessionExpired, EventKind::SessionRevoked]),
        name: Some(query.name.clone()),
        payload_max_bytes: Some(query.payload_max_bytes),
    })?;
    let mut dropped = 0;
    if let Some(since) = query.since {
        let page = wait.daemon.request(&EventsSince {
            selector: Some(session.session_id.clone()),
            since: Some(since),
            limit: Some(1),
            name: Some(query.name.clone()),
            payload_max_bytes: Some(query.payload_max_bytes),
        })?;
        dropped = page.dropped.unwrap_or(0);
        if let Some(event) = page.events.first() {
            return Ok(answer(event, dropped, &session));
        }
    }
    loop {
        match wait.next()? {
            None => {
                let message = format!("no event {:?} came within {} ms", query.name, query.timeout.as_millis());
                return Err(Refusal::timeout(message).of(&session));
            }
            Some(event) if event.kind == EventKind::AppEvent.as_str() => return Ok(answer(&event, dropped, &session)),
            Some(event) if is_end(&event) => {
                return Err(Refusal::execution(format!("the session ended ({})", event.kind)).of(&session));
            }
            // An older daemon sends every kind.
            Some(_) => {}
        }
    }
}

fn is_end(event: &EventNotification) -> bool {
    [EventKind::SessionExpired, EventKind::SessionRevoked].iter().any(|kind| kind.as_str() == event.kind)
}

fn answer(event: &EventNotification, dropped: u64, session: &Session) -> Answer {
    Answer::own_object(event_object(event).display("dropped", dropped)).of(session)
}
