//! `wait`, and the wait of `link`
//!
//! First subscribed, then looked, and looked again at every event: nothing is missed in between, and nothing is polled.

use std::time::{Duration, Instant};

use appduct_proto::wire::RawJson;
use appduct_rpc::methods::{EventKind, EventsSubscribe, Session, ToolsList};
use appduct_rpc::{ErrorType, Kept};

use super::control::Control;
use super::{Stage, tools};
use crate::error::{Failure, Kind};
use crate::report::Report;
use crate::settings::{Settings, WaitSettings};

/// After these something that is waited for may be there, or can no longer come.
const KINDS: [EventKind; 6] = [
    EventKind::SessionClaimed,
    EventKind::SessionResumed,
    EventKind::ToolsChanged,
    EventKind::LinkExpired,
    EventKind::SessionExpired,
    EventKind::SessionRevoked,
];

/// What a connected app has to tell its tools in. Apps do so at once; one that has not by then is taken to have none.
const TOOLS_TOLD_WITHIN: Duration = Duration::from_secs(2);

/// Waits until a session is active, its tools are known, and it has what it must have.
pub(super) fn run(settings: &Settings, wait: &WaitSettings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let deadline = deadline(wait.timeout);
    let mut control = Control::open(settings, stage)?;
    subscribe(&mut control)?;
    let mut is_told = false;
    let mut settling = Settling::default();
    loop {
        let sessions = control.sessions()?;
        let named: Vec<_> = sessions.iter().filter(|session| is_named(session, wait.selector.as_deref())).collect();
        for session in named.iter().filter(|session| is_active(session)) {
            if settling.is_over(session) && has_tool(&mut control, session, wait.tool.as_deref())? {
                return Ok(Report::Waited(Box::new((*session).clone())));
            }
        }
        if !is_told {
            stage.waiting(&format!("Waiting for {}. Ctrl-C ends it.", wanted(wait)));
            is_told = true;
        }
        if next(&mut control, settling.or(deadline))?.is_none() && settling.is_late(deadline) {
            let sessions: Vec<_> = sessions.into_iter().map(Kept::into_inner).collect();
            let named: Vec<_> = sessions.iter().filter(|session| is_named(session, wait.selector.as_deref())).collect();
            return Err(too_late(wait, &sessions, &named));
        }
    }
}

/// Asks for everything that a wait must hear of.
pub(super) fn subscribe(control: &mut Control) -> Result<(), Failure> {
    control.request(&EventsSubscribe { kinds: Some(KINDS.to_vec()), ..EventsSubscribe::default() })?;
    Ok(())
}

/// Waits until an app has claimed this link and is connected; `control` must be subscribed since before it was minted.
pub(super) fn until_claimed(
    control: &mut Control,
    session_id: &str,
    timeout: Option<Duration>,
    dialled: Option<&str>,
    stage: &mut dyn Stage,
) -> Result<Kept<Session>, Failure> {
    let deadline = deadline(timeout);
    stage.waiting("Waiting for an app to open the link. Ctrl-C ends the wait, and the link stays good.");
    let mut settling = Settling::default();
    loop {
        let sessions = control.sessions()?;
        let claimed = sessions.into_iter().find(|session| session.session_id == session_id && is_active(session));
        if let Some(session) = claimed.filter(|session| settling.is_over(session)) {
            return Ok(session);
        }
        let Some(event) = next(control, settling.or(deadline))? else {
            if !settling.is_late(deadline) {
                continue;
            }
            let seconds = timeout.map_or(0, |timeout| timeout.as_secs());
            let failure = Failure::new(Kind::Session, format!("No app opened the link within {seconds} s."))
                .with_hint(unopened(dialled));
            return Err(with_timeout(failure, timeout));
        };
        if event.session_id.as_deref() == Some(session_id) {
            if event.kind == EventKind::LinkExpired.as_str() {
                return Err(Failure::new(Kind::Session, "The link expired before an app opened it.")
                    .with_hint("`--ttl <seconds>` makes a link that lives longer."));
            }
            if event.kind == EventKind::SessionRevoked.as_str() {
                return Err(Failure::new(Kind::Session, "The link was revoked before an app opened it."));
            }
        }
    }
}

/// What to do about a link that no app has claimed in time. Where a network lies between, it may be the reason.
fn unopened(dialled: Option<&str>) -> String {
    let mut hint = "The link stays good until it expires: `appduct wait` goes on waiting.".to_owned();
    if let Some(address) = dialled {
        hint += &format!(
            " An app that opened it and is not here does not reach {address}: both machines must be on one network, and a \
             firewall must let that port in."
        );
    }
    hint
}

/// Tells a session whose app is about to tell its tools from one that has none to tell.
#[derive(Default)]
struct Settling {
    /// When a session that is connected is taken as it is.
    until: Option<Instant>,
}

impl Settling {
    /// Whether what the session has is all that can be expected of it now.
    fn is_over(&mut self, session: &Session) -> bool {
        if !session.tools_pending {
            return true;
        }
        let now = Instant::now();
        now >= *self.until.get_or_insert(now + TOOLS_TOLD_WITHIN)
    }

    /// The end of a wait, or the moment to look again.
    fn or(&self, deadline: Option<Instant>) -> Option<Instant> {
        let now = Instant::now();
        self.until.filter(|until| *until > now).into_iter().chain(deadline).min()
    }

    /// Whether the wait itself is over, and not only the time for the tools.
    fn is_late(&self, deadline: Option<Instant>) -> bool {
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The next event that says something; `None` when the time is over.
fn next(
    control: &mut Control,
    deadline: Option<Instant>,
) -> Result<Option<appduct_rpc::methods::EventNotification>, Failure> {
    loop {
        match control.next_event_until(deadline)? {
            // An older daemon sends every kind.
            Some(event) if !KINDS.iter().any(|kind| kind.as_str() == event.kind) => {}
            event => return Ok(event),
        }
    }
}

/// `None` where it lies beyond the clock, or is not set.
fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(timeout?)
}

fn is_active(session: &Session) -> bool {
    session.state == "active"
}

fn is_named(session: &Session, selector: Option<&str>) -> bool {
    selector.is_none_or(|selector| session.session_id == selector || session.alias == selector)
}

fn has_tool(control: &mut Control, session: &Session, tool: Option<&str>) -> Result<bool, Failure> {
    let Some(tool) = tool else { return Ok(true) };
    let request =
        ToolsList { selector: Some(session.session_id.clone()), filter: Some(tool.to_owned()), ..ToolsList::default() };
    match control.request(&request) {
        Ok(page) => Ok(tools::find(&page.tools, tool).is_some()),
        // It went between the two requests.
        Err(failure) if failure.is(ErrorType::UnknownSession) => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn wanted(wait: &WaitSettings) -> String {
    let session = match &wait.selector {
        Some(selector) => format!("session \"{selector}\""),
        None => "an app".to_owned(),
    };
    match &wait.tool {
        Some(tool) => format!("{session} with the tool \"{tool}\""),
        None => session,
    }
}

fn too_late(wait: &WaitSettings, sessions: &[Session], named: &[&Session]) -> Failure {
    let seconds = wait.timeout.map_or(0, |timeout| timeout.as_secs());
    let failure =
        Failure::new(Kind::Session, format!("{} did not connect within {seconds} s.", capital(&wanted(wait))));
    let aliases = sessions.iter().map(|session| session.alias.as_str());
    let failure = match (named, &wait.selector) {
        ([], Some(selector)) => {
            failure.with_hint("Run `appduct ls` to see the live sessions.").or_did_you_mean(selector, aliases)
        }
        ([], None) => failure.with_hint("Pair an app: `appduct link` prints a link to open in it."),
        (named, _) if named.iter().any(|session| is_active(session)) => {
            failure.with_hint("It is connected, and has no tool of that name: `appduct tools` lists what it has.")
        }
        _ => failure.with_hint("It is suspended: bring the app to the foreground."),
    };
    with_timeout(failure, wait.timeout)
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}

fn with_timeout(failure: Failure, timeout: Option<Duration>) -> Failure {
    let details = serde_json::json!({ "timeoutSeconds": timeout.map(|timeout| timeout.as_secs()) });
    match RawJson::of(&details) {
        Ok(details) => failure.with_details(details),
        Err(_) => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(alias: &str, state: &str) -> Session {
        let json = format!(
            r#"{{"sessionId":"id-{alias}","alias":"{alias}","state":"{state}","device":{{}},"createdAt":"","toolCount":0}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_link_that_leads_over_a_network_is_told_with_what_may_stop_it() {
        assert_eq!(unopened(None), "The link stays good until it expires: `appduct wait` goes on waiting.");
        let hint = unopened(Some("192.168.1.5:8443"));
        assert!(hint.contains("`appduct wait`") && hint.contains("192.168.1.5:8443"), "{hint}");
        assert!(hint.contains("one network") && hint.contains("firewall"), "{hint}");
    }

    #[test]
    fn what_did_not_come_is_named_and_explained() {
        let check = |selector: Option<&str>, tool: Option<&str>, sessions: &[Session], message: &str, hint: &str| {
            let wait = WaitSettings {
                selector: selector.map(str::to_owned),
                tool: tool.map(str::to_owned),
                timeout: Some(Duration::from_secs(30)),
            };
            let named: Vec<_> = sessions.iter().filter(|session| is_named(session, selector)).collect();
            let failure = too_late(&wait, sessions, &named);
            assert_eq!(failure.message, message);
            assert!(failure.hint.as_deref().unwrap().contains(hint), "{:?}", failure.hint);
            assert_eq!(failure.kind.exit_code(), 71);
            assert_eq!(failure.details.unwrap().as_str(), r#"{"timeoutSeconds":30}"#);
        };
        check(None, None, &[], "An app did not connect within 30 s.", "appduct link");
        let pixel = [session("pixel-8", "suspended")];
        check(Some("pixel"), None, &pixel, "Session \"pixel\" did not connect within 30 s.", "Did you mean `pixel-8`?");
        check(Some("pixel-8"), None, &pixel, "Session \"pixel-8\" did not connect within 30 s.", "foreground");
        let active = [session("pixel-8", "active")];
        let message = "An app with the tool \"pay\" did not connect within 30 s.";
        check(None, Some("pay"), &active, message, "has no tool of that name");
    }
}
