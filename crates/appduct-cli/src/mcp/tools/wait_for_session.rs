//! `appduct_wait_for_session`

use std::time::Duration;

use appduct_proto::wire::Object;
use appduct_rpc::methods::{EventKind, EventsSubscribe, SessionsList};
use rmcp::service::{RequestContext, RoleServer};

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::refusal::Refusal;
use super::super::server::Server;
use super::wait::{self, DEFAULT_TIMEOUT_MS, Wait};

/// After these a session may be there, or can no longer come.
const KINDS: [EventKind; 4] =
    [EventKind::SessionClaimed, EventKind::LinkExpired, EventKind::SessionExpired, EventKind::SessionRevoked];

/// What to wait for.
#[derive(Debug)]
pub(super) struct Query {
    session_id: String,
    timeout: Duration,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        Ok(Self {
            session_id: arguments.required_text("sessionId")?,
            timeout: Duration::from_millis(arguments.whole("timeoutMs", 1)?.unwrap_or(DEFAULT_TIMEOUT_MS)),
        })
    }
}

/// Waits until an app has claimed the link.
pub(super) async fn run(
    server: &Server,
    query: Query,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Refusal> {
    let timeout = query.timeout;
    wait::run(server, context, timeout, move |_, wait| until_claimed(wait, &query)).await
}

/// First subscribed, then looked, and looked again at every event: nothing is missed in between.
fn until_claimed(wait: &mut Wait<'_>, query: &Query) -> Result<Answer, Refusal> {
    wait.daemon.request(&EventsSubscribe { kinds: Some(KINDS.to_vec()), ..EventsSubscribe::default() })?;
    loop {
        let sessions = wait.daemon.request(&SessionsList)?;
        if let Some(session) = sessions.into_iter().find(|session| session.session_id == query.session_id) {
            let object = Object::new()
                .text("sessionId", &session.session_id)
                .display("claimed", true)
                .text("alias", &session.alias);
            return Ok(Answer::own_object(object).of(&session));
        }
        let about = loop {
            let Some(event) = wait.next()? else {
                return Err(Refusal::timeout(format!(
                    "no app opened the link within {} ms; it stays good until it expires, so this wait may be repeated",
                    query.timeout.as_millis()
                )));
            };
            if event.session_id.as_deref() == Some(&query.session_id) {
                break event.kind;
            }
        };
        if about != EventKind::SessionClaimed.as_str() {
            return Err(Refusal::execution(format!("the link or its session is gone ({about}); make a new link")));
        }
    }
}
