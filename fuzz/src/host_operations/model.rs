//! A second host, as plain as can be: it says what the first must do.
//!
//! It looks at every deadline by itself, searches where the host has tables, and knows no frame. It is told the ids and
//! tokens that the host makes up.

use std::collections::{BTreeMap, BTreeSet};

use super::SETTINGS;
use super::frames::{event_bytes, tool_bytes};

/// How long a socket may stay without a claim or resume.
const HELLO_MS: u64 = 10_000;
/// The tools here declare none of their own.
const APP_TIMEOUT_MS: u64 = 10_000;
const WRONG_TOKENS: u8 = 5;
const UNANSWERED_PINGS: u8 = 2;
/// How many numbers of events one crash may take.
const LONGEST_GAP: u64 = 200_000;

/// What one mutation must bring about, each list in no order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// Sockets with the reason of their close; `None` for one that is just dropped.
    pub(super) closed: BTreeMap<u64, Option<&'static str>>,
    /// Sockets that get an ack.
    pub(super) acked: BTreeSet<u64>,
    /// Calls that end, and how.
    pub(super) ended: BTreeMap<String, &'static str>,
    /// Calls of which a `tool_cancel` goes to a socket.
    pub(super) cancelled: BTreeMap<String, u64>,
    /// Sockets that get a ping.
    pub(super) pinged: BTreeSet<u64>,
    /// Sessions of which an event is told.
    pub(super) posted: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) token: String,
    pub(super) web: bool,
    expires: u64,
    ttl: u64,
    /// When a late claim no longer hears that it is late; set once it has expired.
    forgotten: Option<u64>,
    wrong: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Socket {
    Unclaimed { web: bool, until: u64 },
    Claimed,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) alias: String,
    pub(super) web: bool,
    pub(super) socket: Option<u64>,
    /// The socket of its newest claim or resume.
    newest_socket: u64,
    /// The tokens that may be shown, the newest last.
    pub(super) tokens: Vec<String>,
    /// The link's token while it may still be shown, and until when.
    link: Option<(String, u64)>,
    pub(super) tools: BTreeMap<String, Option<String>>,
    pub(super) events: BTreeSet<String>,
    /// The number of the newest event.
    posted: u64,
    /// The numbers of the events that are kept, and their bytes.
    pub(super) kept: Vec<(u64, usize)>,
    /// How many numbers crashes may have taken since.
    gap: u64,
    /// An earlier process had it.
    pub(super) is_restored: bool,
    /// The next ping, or the end of the grace.
    beat: u64,
    unanswered: u8,
}

/// What is on disk, as far as it says something of its own.
#[derive(Debug, Default)]
struct Disk {
    at: u64,
    is_last: bool,
    links: BTreeMap<String, Link>,
    /// What was left of each session's grace.
    grace: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Call {
    session: String,
    tool: String,
    until: u64,
    /// The app's own deadline comes later.
    is_short: bool,
}

/// A frame of a claimed socket, as far as it matters.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// Replaces the tools; each with its group.
    Tools(Vec<(String, Option<String>)>),
    AddTool(String, Option<String>),
    RemoveTool(String),
    Events(Vec<String>),
    AddEvent(String),
    RemoveEvent(String),
    Answer {
        call: String,
        kind: &'static str,
    },
    Posted,
    /// A frame without effect.
    Nothing,
    /// A frame that breaks its guard.
    Broken {
        is_registry: bool,
    },
}

#[derive(Debug, Default)]
pub(super) struct Model {
    now: u64,
    pub(super) links: BTreeMap<String, Link>,
    sockets: BTreeMap<u64, Socket>,
    pub(super) sessions: Vec<Session>,
    calls: BTreeMap<String, Call>,
    /// Whether calls need somebody's consent.
    pub(super) asks: bool,
    is_down: bool,
    disk: Disk,
    expected: Expected,
}

impl Model {
    /// What must have happened since the last time.
    pub(super) fn take_expected(&mut self) -> Expected {
        std::mem::take(&mut self.expected)
    }

    pub(super) fn open_sockets(&self) -> usize {
        self.sockets.len()
    }

    pub(super) fn is_open(&self, socket: u64) -> bool {
        self.sockets.contains_key(&socket)
    }

    pub(super) fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn pending_links(&self) -> usize {
        self.links.values().filter(|link| link.expires > self.now).count()
    }

    pub(super) fn session_of(&self, socket: u64) -> Option<&Session> {
        self.sessions.iter().find(|session| session.socket == Some(socket))
    }

    /// The session that a selector names: of two the older one; without a selector the only one.
    pub(super) fn find(&self, selector: Option<&str>) -> Option<&Session> {
        match (selector, self.sessions.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), sessions) => sessions.iter().find(|session| session.id == name || session.alias == name),
        }
    }

    /// Time passes; whatever is due happens at `now`, in the order of its deadlines.
    pub(super) fn pass(&mut self, now: u64) {
        self.now = now;
        while let Some((_, _, due)) = self.next_due().filter(|(at, _, _)| *at <= now) {
            self.happen(due);
        }
    }

    /// When the next deadline is.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.next_due().map(|(at, _, _)| at)
    }

    fn next_due(&self) -> Option<(u64, u8, Due)> {
        if self.is_down {
            return None;
        }
        let calls = self.calls.iter().map(|(id, call)| (call.until, 0, Due::Call(id.clone())));
        let sockets = self.sockets.iter().filter_map(|(&id, socket)| match *socket {
            Socket::Unclaimed { until, .. } => Some((until, 1, Due::Hello(id))),
            Socket::Claimed => None,
        });
        let sessions = self.sessions.iter().map(|session| {
            let rank = if session.socket.is_some() { 2 } else { 3 };
            (session.beat, rank, Due::Beat(session.id.clone()))
        });
        let links = self.links.iter().map(|(id, link)| {
            let rank = if link.forgotten.is_some() { 5 } else { 4 };
            (link.forgotten.unwrap_or(link.expires), rank, Due::Link(id.clone()))
        });
        calls.chain(sockets).chain(sessions).chain(links).min_by_key(|(at, rank, _)| (*at, *rank))
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Call(id) => {
                if self.calls.get(&id).is_some_and(|call| call.is_short) {
                    self.abandons(&id);
                }
                self.end_call(&id, "timeout");
            }
            Due::Hello(socket) => self.close(socket, "pre_claim_timeout"),
            Due::Link(id) => {
                let Some(link) = self.links.get_mut(&id) else { return };
                if link.forgotten.is_some() {
                    self.links.remove(&id);
                } else {
                    link.forgotten = Some(self.now + link.ttl);
                }
            }
            Due::Beat(id) => {
                let now = self.now;
                let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) else { return };
                match session.socket {
                    None => self.end_session(&id),
                    Some(socket) if session.unanswered == UNANSWERED_PINGS => {
                        self.expected.closed.insert(socket, None);
                        self.lose(socket);
                    }
                    Some(socket) => {
                        session.unanswered += 1;
                        session.beat = now + SETTINGS.keepalive_ms;
                        self.expected.pinged.insert(socket);
                    }
                }
            }
        }
    }

    pub(super) fn minted(&mut self, id: String, token: String, web: bool, ttl: u64) {
        self.links.insert(id, Link { token, web, expires: self.now + ttl, ttl, forgotten: None, wrong: 0 });
    }

    pub(super) fn opened(&mut self, socket: u64, web: bool) {
        let waiting = self.sockets.values().filter(|socket| **socket != Socket::Claimed).count();
        self.sockets.insert(socket, Socket::Unclaimed { web, until: self.now + HELLO_MS });
        if self.is_down {
            self.close(socket, "daemon_shutdown");
        } else if waiting >= SETTINGS.max_unclaimed {
            self.close(socket, "too_many_sockets");
        }
    }

    /// Whether a socket awaits its first frame, and by which listener it came.
    pub(super) fn awaits_hello(&self, socket: u64) -> Option<bool> {
        match self.sockets.get(&socket)? {
            Socket::Unclaimed { web, .. } => Some(*web),
            Socket::Claimed => None,
        }
    }

    pub(super) fn claims(&mut self, socket: u64, id: &str, token: &str, model: Option<&str>) {
        let Some(web) = self.awaits_hello(socket) else { return };
        let Some(link) = self.links.get_mut(id) else {
            self.claims_again(socket, web, id, token);
            return;
        };
        if link.web != web {
            self.close(socket, "wrong_transport");
        } else if link.expires <= self.now {
            self.links.remove(id);
            self.close(socket, "link_expired");
        } else if link.token != token {
            link.wrong += 1;
            let is_burned = link.wrong == WRONG_TOKENS;
            if is_burned {
                self.links.remove(id);
            }
            self.close(socket, if is_burned { "claim_attempts_exceeded" } else { "invalid_token" });
        } else if let Some(link) = self.links.remove(id) {
            let alias = self.free_alias(model);
            self.sessions.push(Session {
                id: id.to_owned(),
                alias,
                web,
                socket: None,
                newest_socket: socket,
                tokens: Vec::new(),
                link: Some((link.token, link.expires)),
                tools: BTreeMap::new(),
                events: BTreeSet::new(),
                posted: 0,
                kept: Vec::new(),
                gap: 0,
                is_restored: false,
                beat: 0,
                unanswered: 0,
            });
            self.attach(socket, id);
        }
    }

    fn claims_again(&mut self, socket: u64, web: bool, id: &str, token: &str) {
        let now = self.now;
        match self.sessions.iter().find(|session| session.id == id) {
            None => self.close(socket, "unknown_session"),
            Some(session) => match &session.link {
                Some((_, expires)) if *expires <= now => self.close(socket, "already_claimed"),
                None => self.close(socket, "already_claimed"),
                Some(_) if session.web != web => self.close(socket, "wrong_transport"),
                Some((shown, _)) if shown != token => self.close(socket, "already_claimed"),
                // The sockets are numbered as they open: an older one was held back.
                Some(_) if socket < session.newest_socket => self.close(socket, "session_replaced"),
                Some(_) => self.attach(socket, id),
            },
        }
    }

    pub(super) fn resumes(&mut self, socket: u64, id: &str, token: &str) {
        let Some(web) = self.awaits_hello(socket) else { return };
        let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) else {
            self.close(socket, "unknown_session");
            return;
        };
        let newest = session.tokens.last().is_some_and(|newest| newest == token);
        if session.web != web {
            self.close(socket, "wrong_transport");
        } else if newest {
            // It got the newest ack, so what it could show before is dead.
            session.link = None;
            session.tokens = vec![token.to_owned()];
            self.attach(socket, id);
        } else if session.tokens.iter().any(|known| known == token) && socket < session.newest_socket {
            self.close(socket, "session_replaced");
        } else if session.tokens.iter().any(|known| known == token) {
            session.tokens = vec![token.to_owned()];
            self.attach(socket, id);
        } else {
            self.close(socket, "invalid_resume_token");
        }
    }

    /// The session gets this socket. The token in the ack is told by [`Model::acked`].
    fn attach(&mut self, socket: u64, id: &str) {
        self.sockets.insert(socket, Socket::Claimed);
        self.expected.acked.insert(socket);
        let now = self.now;
        let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) else { return };
        let replaced = session.socket.replace(socket);
        session.newest_socket = socket;
        session.beat = now + SETTINGS.keepalive_ms;
        session.unanswered = 0;
        if let Some(replaced) = replaced {
            self.sockets.remove(&replaced);
            self.expected.closed.insert(replaced, Some("session_replaced"));
        }
        self.end_calls_of(id, "resumed");
    }

    /// The ack on this socket carried this alias and token.
    pub(super) fn acked(&mut self, socket: u64, alias: &str, token: &str) {
        let session = self.sessions.iter_mut().find(|session| session.socket == Some(socket));
        let session = session.expect("only a session's socket gets an ack");
        assert_eq!(session.alias, alias);
        if session.link.is_some() {
            // Until the app proves that it has this one, the link's token is what it may show.
            session.tokens.clear();
        }
        session.tokens.push(token.to_owned());
    }

    /// An event of this session was told with this number.
    pub(super) fn numbered(&mut self, id: &str, seq: u64, bytes: usize) {
        let session = self.sessions.iter_mut().find(|session| session.id == id);
        let session = session.expect("it is the event of a session");
        let next = session.posted + 1;
        assert!((next..=next + session.gap).contains(&seq), "{seq} comes after {}", session.posted);
        session.gap = 0;
        session.posted = seq;
        session.kept.push((seq, bytes));
        let is_over = |kept: &[(u64, usize)]| {
            let bytes = kept.iter().map(|(_, bytes)| bytes).sum::<usize>();
            kept.len() > SETTINGS.event_buffer || (kept.len() > 1 && bytes > SETTINGS.event_buffer_bytes)
        };
        while is_over(&session.kept) {
            session.kept.remove(0);
        }
    }

    pub(super) fn says(&mut self, socket: u64, session_id: Option<&str>, said: Said) {
        if self.awaits_hello(socket).is_some() {
            self.close(socket, "expected_claim_or_resume");
            return;
        }
        let Some(session) = self.sessions.iter_mut().find(|session| session.socket == Some(socket)) else { return };
        if session_id != Some(&*session.id) {
            self.close(socket, "session_mismatch");
            return;
        }
        // Whatever it says, it says as this session.
        session.link = None;
        session.tokens.drain(..session.tokens.len() - 1);
        let is_taken = match said {
            Said::Tools(tools) => {
                let tools: BTreeMap<_, _> = tools.into_iter().collect();
                let fits = fit_tools(&tools);
                if fits {
                    session.tools = tools;
                }
                fits
            }
            Said::AddTool(name, group) => {
                let mut tools = session.tools.clone();
                tools.insert(name, group);
                let fits = fit_tools(&tools);
                if fits {
                    session.tools = tools;
                }
                fits
            }
            Said::RemoveTool(name) => {
                session.tools.remove(&name);
                true
            }
            Said::Events(events) => {
                let events: BTreeSet<_> = events.into_iter().collect();
                let fits = fit_events(&events);
                if fits {
                    session.events = events;
                }
                fits
            }
            Said::AddEvent(name) => {
                let mut events = session.events.clone();
                events.insert(name);
                let fits = fit_events(&events);
                if fits {
                    session.events = events;
                }
                fits
            }
            Said::RemoveEvent(name) => {
                session.events.remove(&name);
                true
            }
            Said::Posted => {
                self.expected.posted.insert(session.id.clone());
                true
            }
            Said::Answer { call, kind } => {
                let id = session.id.clone();
                if self.calls.get(&call).is_some_and(|call| call.session == id) {
                    self.end_call(&call, kind);
                }
                true
            }
            Said::Nothing => true,
            Said::Broken { is_registry: true } => false,
            Said::Broken { is_registry: false } => {
                self.close(socket, "invalid_message");
                true
            }
        };
        if !is_taken {
            self.close(socket, "invalid_registry");
        }
    }

    /// Something that is no frame of an app came, or went wrong below the frames.
    pub(super) fn fails(&mut self, socket: u64, reason: &'static str) {
        if self.is_open(socket) {
            self.close(socket, reason);
        }
    }

    /// The socket is gone.
    pub(super) fn gone(&mut self, socket: u64) {
        // Nothing is said any more to who is gone, a deadline that came late included.
        self.expected.closed.remove(&socket);
        self.expected.pinged.remove(&socket);
        self.expected.cancelled.retain(|_, to| *to != socket);
        self.lose(socket);
    }

    pub(super) fn pong(&mut self, socket: u64) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.socket == Some(socket)) {
            session.unanswered = 0;
        }
    }

    /// Whether a call may be made: the session is there, has a socket and the tool, and room.
    pub(super) fn may_call(&self, selector: Option<&str>, tool: &str, consent: bool) -> bool {
        (consent || !self.asks)
            && self.find(selector).is_some_and(|session| {
                let in_flight = self.calls.values().filter(|call| call.session == session.id).count();
                session.socket.is_some() && session.tools.contains_key(tool) && in_flight < SETTINGS.max_calls
            })
    }

    pub(super) fn called(&mut self, selector: Option<&str>, id: String, tool: &str, timeout_ms: u64) {
        let session = self.find(selector).expect("the call was allowed").id.clone();
        let timeout_ms = timeout_ms.clamp(1_000, 600_000);
        let until = self.now + timeout_ms;
        let call = Call { session, tool: tool.to_owned(), until, is_short: timeout_ms < APP_TIMEOUT_MS };
        assert!(self.calls.insert(id, call).is_none(), "an id is used twice");
    }

    /// The tool of a call in flight.
    pub(super) fn tool_of(&self, call: &str) -> Option<&str> {
        self.calls.get(call).map(|call| call.tool.as_str())
    }

    /// Whether a `tool_cancel` goes out.
    pub(super) fn cancels(&mut self, selector: Option<&str>, call: &str) -> bool {
        let Some(session) = self.find(selector) else { return false };
        let is_its = self.calls.get(call).is_some_and(|call| call.session == session.id);
        match session.socket.filter(|_| is_its) {
            Some(socket) => {
                self.expected.cancelled.insert(call.to_owned(), socket);
                true
            }
            None => false,
        }
    }

    /// The caller of a call is gone.
    pub(super) fn abandons(&mut self, call: &str) {
        if let Some(session) = self.calls.get(call).map(|call| call.session.clone()) {
            self.cancels(Some(&session), call);
        }
    }

    /// Whether there was a session or pending link to revoke.
    pub(super) fn revokes(&mut self, selector: Option<&str>) -> bool {
        if let Some(session) = self.find(selector) {
            let (id, socket) = (session.id.clone(), session.socket);
            if let Some(socket) = socket {
                self.sockets.remove(&socket);
                self.expected.closed.insert(socket, Some("revoked"));
            }
            self.end_session(&id);
            return true;
        }
        let now = self.now;
        let Some(id) = selector.filter(|id| self.links.get(*id).is_some_and(|link| link.expires > now)) else {
            return false;
        };
        self.links.remove(id);
        true
    }

    pub(super) fn shuts_down(&mut self) {
        self.is_down = true;
        for id in self.calls.keys().cloned().collect::<Vec<_>>() {
            self.end_call(&id, "gone");
        }
        for socket in std::mem::take(&mut self.sockets).into_keys() {
            self.expected.closed.insert(socket, Some("daemon_shutdown"));
        }
        for session in &mut self.sessions {
            if session.socket.take().is_some() {
                session.beat = self.now + SETTINGS.grace_ms;
            }
        }
    }

    /// What there is is on disk.
    pub(super) fn saved(&mut self) {
        let left = |session: &Session| match session.socket {
            Some(_) => SETTINGS.grace_ms,
            None => session.beat - self.now,
        };
        self.disk = Disk {
            at: self.now,
            is_last: self.is_down,
            links: self
                .links
                .iter()
                .filter(|(_, link)| link.expires > self.now)
                .map(|(id, link)| (id.clone(), link.clone()))
                .collect(),
            grace: self.sessions.iter().map(|session| (session.id.clone(), left(session))).collect(),
        };
    }

    /// The process is gone, and another one has read what is on disk.
    pub(super) fn restarts(&mut self, now: u64) {
        (self.now, self.is_down) = (now, false);
        self.sockets.clear();
        self.calls.clear();
        self.links = self.disk.links.clone();
        for link in self.links.values_mut() {
            link.wrong = 0;
        }
        // After a crash nobody knows for how long there was no daemon.
        let from = if self.disk.is_last { self.disk.at } else { now };
        for session in &mut self.sessions {
            session.socket = None;
            session.newest_socket = 0;
            session.beat = from + self.disk.grace[&session.id];
            session.tools.clear();
            session.events.clear();
            session.kept.clear();
            session.gap += if self.disk.is_last { 0 } else { LONGEST_GAP };
            session.is_restored = true;
        }
        self.pass(now);
    }

    fn close(&mut self, socket: u64, reason: &'static str) {
        self.expected.closed.insert(socket, Some(reason));
        self.lose(socket);
    }

    /// The socket does not count any more; its session goes on without.
    fn lose(&mut self, socket: u64) {
        self.sockets.remove(&socket);
        let now = self.now;
        let Some(session) = self.sessions.iter_mut().find(|session| session.socket == Some(socket)) else { return };
        session.socket = None;
        session.beat = now + SETTINGS.grace_ms;
        let id = session.id.clone();
        self.end_calls_of(&id, "suspended");
    }

    fn end_session(&mut self, id: &str) {
        self.sessions.retain(|session| session.id != id);
        self.end_calls_of(id, "gone");
    }

    fn end_calls_of(&mut self, session: &str, kind: &'static str) {
        let calls = self.calls.iter().filter(|(_, call)| call.session == session);
        for id in calls.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.end_call(&id, kind);
        }
    }

    fn end_call(&mut self, id: &str, kind: &'static str) {
        self.calls.remove(id);
        let before = self.expected.ended.insert(id.to_owned(), kind);
        assert!(before.is_none(), "the model ends a call twice");
    }

    /// The first free name of `base`, `base-2`, `base-3`.
    fn free_alias(&self, model: Option<&str>) -> String {
        let lower = model.unwrap_or_default().to_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let base = words.collect::<Vec<_>>().join("-");
        let base = if base.is_empty() { "device" } else { &base };
        let names = std::iter::once(base.to_owned()).chain((2..).map(|number| format!("{base}-{number}")));
        let is_free = |name: &String| self.sessions.iter().all(|session| session.alias != *name);
        names.into_iter().find(is_free).expect("numbers do not run out")
    }
}

fn fit_tools(tools: &BTreeMap<String, Option<String>>) -> bool {
    let bytes: usize = tools.iter().map(|(name, group)| tool_bytes(name, group.as_deref())).sum();
    tools.len() <= SETTINGS.max_tools && bytes <= SETTINGS.max_registry_bytes
}

fn fit_events(events: &BTreeSet<String>) -> bool {
    let bytes: usize = events.iter().map(|name| event_bytes(name)).sum();
    events.len() <= SETTINGS.max_events && bytes <= SETTINGS.max_registry_bytes
}

/// Something whose moment comes.
#[derive(Clone, Debug)]
enum Due {
    Call(String),
    Hello(u64),
    Beat(String),
    Link(String),
}
