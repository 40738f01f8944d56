//! A session whose app has told its tools. Right after an app has connected, and after the daemon was restarted, it has not.

use std::time::{Duration, Instant};

use appduct_rpc::methods::{EventKind, EventsSubscribe, Session, SessionsDescribe};

use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;

/// How long an app that is connected may take; an old one never tells that it has none.
const PATIENCE: Duration = Duration::from_secs(2);

/// After these there is something to look at.
const KINDS: [EventKind; 4] =
    [EventKind::ToolsChanged, EventKind::SessionSuspended, EventKind::SessionExpired, EventKind::SessionRevoked];

/// The session that a request is for, with its tools.
pub(super) fn session(shared: &Shared, daemon: &mut Connection, selector: Option<&str>) -> Result<Session, Refusal> {
    let mut session = shared.scope.session(daemon, selector)?;
    if session.tools_pending && is_active(&session) {
        let describe = SessionsDescribe { selector: Some(session.session_id.clone()) };
        daemon.request(&EventsSubscribe {
            session_selector: describe.selector.clone(),
            kinds: Some(KINDS.to_vec()),
            ..EventsSubscribe::default()
        })?;
        let deadline = Instant::now() + PATIENCE;
        // Looked at again after the subscription: nothing is missed in between.
        loop {
            session = daemon.request(&describe)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if !session.tools_pending || !is_active(&session) || left.is_zero() || daemon.next_event(left)?.is_none() {
                break;
            }
        }
    }
    if session.tools_pending && !is_active(&session) {
        let message = "the app has not come back since the daemon was started, and what it offers is known when it does; \
                       ask for it to be opened";
        return Err(Refusal::suspended(message).of(&session));
    }
    Ok(session)
}

fn is_active(session: &Session) -> bool {
    session.state == "active"
}
