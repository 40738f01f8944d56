//! One operation after the other, as the choices have it.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use appduct_proto::host::{
    CallId, CallRequest, Decision, DeclaredEventQuery, Endpoint, EventQuery, LinkRequest, Policy, SocketFault,
    SocketId, ToolQuery, Transport,
};
use appduct_proto::testing::Choices;
use appduct_proto::wire::{CloseReason, RawJson, Received};
use bytes::Bytes;
use serde_json::{Value, json};

use super::frames;
use super::world::World;

const MODELS: [Option<&str>; 4] = [None, Some("X 1"), Some("x"), Some("X-2")];

/// Texts that are no frame of an app, with the reason of the close once a session is there.
const JUNK: [(&str, &str); 4] = [
    ("x", "invalid_json"),
    ("[]", "invalid_json"),
    ("{}", "unknown_message_type"),
    (r#"{"type":"tool_call"}"#, "unknown_message_type"),
];

/// A link as its app knows it.
#[derive(Clone)]
struct Known {
    id: String,
    token: String,
}

pub(super) struct Run {
    world: World,
    persist: bool,
    links: Vec<Known>,
    sockets: u64,
    /// Sockets that the driver has not reported gone; the host may have closed them.
    alive: BTreeSet<u64>,
}

impl Run {
    pub(super) fn new(persist: bool) -> Self {
        Self { world: World::new(persist), persist, links: Vec::new(), sockets: 0, alive: BTreeSet::new() }
    }

    /// `false` if nothing may follow.
    pub(super) fn step(&mut self, choices: &mut Choices<'_>) -> bool {
        let persist = self.persist;
        match choices.below(64) {
            0 | 1 => {
                self.link(choices.below(8) == 1, 1 + choices.below(100_000));
            }
            2..5 => {
                self.open(choices.below(8) == 1);
            }
            5..9 => {
                let (socket, model) = (self.unclaimed(choices), MODELS[choices.place(MODELS.len())]);
                // The newest links are the likeliest.
                let back = choices.place(4);
                let Some(link) = self.links.iter().rev().nth(back).cloned() else { return true };
                let token = if choices.below(4) == 3 { "AAAA".to_owned() } else { link.token };
                self.claim(socket, &link.id, &token, model);
            }
            9..13 => self.join(choices),
            13..19 => {
                let socket = if choices.flag() { self.unclaimed(choices) } else { self.open(choices.below(8) == 1) };
                // The newest tokens are the likeliest.
                let back = choices.below(6) as usize;
                let known = &self.world.tokens;
                let Some((session, token)) = known.len().checked_sub(1 + back).and_then(|at| known.get(at)) else {
                    return true;
                };
                let (session, token) = (session.clone(), token.clone());
                self.resume(socket, &session, &token);
            }
            19..33 => self.speak(choices),
            33 => {
                let (socket, junk) = (self.any(choices), JUNK[choices.place(JUNK.len())]);
                self.junk(socket, junk);
            }
            34 => {
                let socket = self.any(choices);
                let faults = [
                    (SocketFault::TooBig, ""),
                    (SocketFault::Binary, "binary_frame_not_supported"),
                    (SocketFault::InvalidUtf8, ""),
                    (SocketFault::SendFailed, "send_failed"),
                ];
                let (fault, reason) = faults[choices.place(faults.len())];
                self.world.act(
                    |host, now| host.handle_fault(now, SocketId(socket), fault),
                    |model, ()| model.fails(socket, reason),
                );
            }
            35..38 => {
                let (socket, close) = (self.any(choices), choices.flag().then(|| CloseReason::AppBackgrounded.into()));
                self.alive.remove(&socket);
                self.world
                    .act(|host, now| host.handle_closed(now, SocketId(socket), close), |model, ()| model.gone(socket));
            }
            38..41 => {
                let socket = self.any(choices);
                self.world.act(|host, now| host.handle_pong(now, SocketId(socket)), |model, ()| model.pong(socket));
            }
            41..49 => self.call(choices),
            49 => {
                let (selector, call) = (self.selector(choices), self.call_id(choices));
                let sent = self.world.act(
                    |host, now| host.cancel(now, selector.as_deref(), &call, ""),
                    |model, _| {
                        model.cancels(selector.as_deref(), &call);
                    },
                );
                assert!(sent.is_ok() == self.world.model.find(selector.as_deref()).is_some());
            }
            50 => {
                let call = self.call_id(choices);
                let id = CallId(call.as_str().into());
                self.world.act(|host, now| host.abandon(now, &id), |model, ()| model.abandons(&call));
            }
            51 => {
                let selector = self.selector(choices);
                let mut is_there = false;
                let revoked = self.world.act(
                    |host, now| host.revoke(now, selector.as_deref()),
                    |model, _| is_there = model.revokes(selector.as_deref()),
                );
                assert_eq!(revoked.is_ok(), is_there);
            }
            52 => {
                let asks = choices.flag();
                let default = if asks { Decision::Prompt } else { Decision::Allow };
                self.world.host.set_policy(Policy { default, ..Policy::default() });
                self.world.model.asks = asks;
            }
            53 => {
                // Nothing looks at the host until the next operation.
                self.world.sleep(choices.below(60_000));
                return true;
            }
            54..58 => self.list(choices),
            58 if choices.below(4) == 3 => {
                self.world.act(|host, now| host.shutdown(now), |model, ()| model.shuts_down());
                self.alive.clear();
                if !persist {
                    self.world.compare();
                    return false;
                }
                self.world.sleep(choices.below(30_000));
                self.world.restart();
            }
            59 if persist => {
                // What may wait for a save waits for a second.
                self.world.wake();
                while self.world.host.is_saving() {
                    self.world.pass(1_000);
                }
                self.world.sleep(choices.below(30_000));
                self.alive.clear();
                self.world.restart();
            }
            _ => self.world.pass(choices.below(20_000)),
        }
        self.world.compare();
        true
    }

    /// Nobody speaks any more: every call ends and every session expires.
    pub(super) fn end(&mut self) {
        self.world.wake();
        self.world.pass(1_000_000);
        self.world.compare();
        assert_eq!(self.world.host.calls_in_flight(), 0);
    }

    fn link(&mut self, web: bool, ttl_ms: u64) -> Known {
        let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
        let transport = transport(web);
        let request = LinkRequest { transport, endpoint, ttl: Duration::from_millis(ttl_ms) };
        let minted = self.world.act(
            |host, now| host.create_link(now, &request).expect("the TTL is within the bound"),
            |model, minted| {
                model.minted(minted.session_id.clone(), minted.bootstrap.token_text(), web, ttl_ms);
            },
        );
        let known = Known { id: minted.session_id, token: minted.bootstrap.token_text() };
        self.links.push(known.clone());
        known
    }

    fn open(&mut self, web: bool) -> u64 {
        self.sockets += 1;
        let socket = self.sockets;
        self.alive.insert(socket);
        self.world.act(
            |host, now| host.handle_opened(now, SocketId(socket), transport(web)),
            |model, ()| model.opened(socket, web),
        );
        socket
    }

    fn claim(&mut self, socket: u64, id: &str, token: &str, model: Option<&str>) {
        let mut claim = json!({ "type": "session_claim", "protocol_version": 2, "session_id": id, "token": token });
        if let Some(model) = model {
            claim["device_model"] = model.into();
        }
        self.hello(socket, &claim, |world| world.claims(socket, id, token, model));
    }

    fn resume(&mut self, socket: u64, id: &str, token: &str) {
        let resume =
            json!({ "type": "session_resume", "protocol_version": 2, "session_id": id, "resume_token": token });
        self.hello(socket, &resume, |model| model.resumes(socket, id, token));
    }

    fn hello(&mut self, socket: u64, hello: &Value, of_model: impl FnOnce(&mut super::model::Model)) {
        self.world.act(
            |host, now| host.handle_received(now, SocketId(socket), decoded(hello)),
            |model, ()| match model.awaits_hello(socket) {
                Some(_) => of_model(model),
                None => model.fails(socket, "unknown_message_type"),
            },
        );
    }

    /// An app scans a link, claims it and registers its tools.
    fn join(&mut self, choices: &mut Choices<'_>) {
        let web = choices.below(8) == 1;
        let link = self.link(web, 60_000);
        let socket = self.open(web);
        self.claim(socket, &link.id, &link.token, MODELS[choices.place(MODELS.len())]);
        if choices.flag() {
            let tools = json!([{ "name": "a", "description": "d" }, { "name": "b", "description": "d" }]);
            let frame = json!({ "type": "tool_registry_snapshot", "session_id": link.id, "tools": tools });
            let said = frames_of_join();
            self.world.act(
                |host, now| host.handle_received(now, SocketId(socket), decoded(&frame)),
                |model, ()| model.says(socket, Some(&link.id), said),
            );
        }
    }

    fn speak(&mut self, choices: &mut Choices<'_>) {
        let socket = self.claimed(choices);
        let call = self.call_id(choices);
        let (mut frame, said) = frames::choose(choices, &call);
        let own = self.world.model.session_of(socket).map(|session| session.id.clone());
        let session = if choices.below(16) == 15 { Some("other".to_owned()) } else { own };
        if let Some(session) = &session {
            frame["session_id"] = session.as_str().into();
        }
        self.world.act(
            |host, now| host.handle_received(now, SocketId(socket), decoded(&frame)),
            |model, ()| {
                if model.is_open(socket) {
                    model.says(socket, session.as_deref(), said);
                }
            },
        );
    }

    fn junk(&mut self, socket: u64, (text, reason): (&str, &'static str)) {
        let received = Received::decode(&Bytes::copy_from_slice(text.as_bytes()));
        self.world.act(
            |host, now| host.handle_received(now, SocketId(socket), received),
            |model, ()| {
                let early = model.awaits_hello(socket).is_some() && reason == "unknown_message_type";
                model.fails(socket, if early { "expected_claim_or_resume" } else { reason });
            },
        );
    }

    fn call(&mut self, choices: &mut Choices<'_>) {
        let (selector, tool) = (self.selector(choices), frames::name(choices));
        let (timeout_ms, consent) = (choices.below(20_000), choices.flag());
        // No call's frame is that short, and none that is made here is longer than the other.
        let room_bytes = if choices.below(8) == 0 { 40 } else { 1_000 };
        let request = CallRequest {
            selector: selector.clone(),
            tool: tool.to_owned(),
            args: RawJson::empty_object(),
            timeout_ms: Some(timeout_ms as f64),
            consent,
            room_bytes,
        };
        let mut may = false;
        let called = self.world.act(
            |host, now| host.call(now, request),
            |model, called| {
                may = model.may_call(selector.as_deref(), tool, consent) && room_bytes == 1_000;
                if let Ok(CallId(id)) = called {
                    model.called(selector.as_deref(), id.to_string(), tool, timeout_ms);
                }
            },
        );
        assert_eq!(called.is_ok(), may, "{called:?}");
        self.world.calls.extend(called.ok().map(|CallId(id)| id.to_string()));
    }

    /// What readers are shown of one session.
    fn list(&mut self, choices: &mut Choices<'_>) {
        let selector = self.selector(choices);
        let (limit, offset) = (choices.place(4), choices.place(4));
        let group = choices.flag().then(|| "g".parse().expect("it is a group"));
        self.world.wake();
        let (host, model) = (&self.world.host, &self.world.model);
        let query = ToolQuery { group, filter: None, limit: Some(limit), offset };
        let Some(session) = model.find(selector.as_deref()) else {
            assert!(host.list_tools(selector.as_deref(), &query).is_err());
            return;
        };
        let page = host.list_tools(selector.as_deref(), &query).expect("the session is there");
        let is_inside = |group: &Option<String>| matches!(group.as_deref(), Some("g" | "g/h")) || query.group.is_none();
        let all: Vec<_> =
            session.tools.iter().filter(|(_, group)| is_inside(group)).map(|(name, _)| name.as_str()).collect();
        let names: Vec<_> = page.tools.iter().map(|tool| tool.descriptor.name.as_str()).collect();
        assert_eq!(names, all.iter().copied().skip(offset).take(limit).collect::<Vec<_>>());
        assert_eq!(page.total, all.len());
        for row in &page.groups {
            let row_name = row.group.as_ref().map(|group| group.as_str().to_owned());
            let subgroups = row_name.as_ref().map(|name| format!("{name}/"));
            let belongs = |group: &&Option<String>| {
                **group == row_name
                    || group
                        .as_ref()
                        .zip(subgroups.as_ref())
                        .is_some_and(|(group, top)| group.starts_with(top.as_str()))
            };
            assert_eq!(row.total, session.tools.values().filter(belongs).count(), "{row:?}");
        }
        let declared =
            host.list_events(selector.as_deref(), &DeclaredEventQuery::default()).expect("the session is there");
        assert_eq!(
            declared.events.iter().map(|event| &event.name).collect::<Vec<_>>(),
            session.events.iter().collect::<Vec<_>>()
        );
        let since = choices.below(8);
        let kept = host.events_since(selector.as_deref(), &EventQuery { since, ..EventQuery::default() });
        let kept = kept.expect("the session is there");
        let expected: Vec<_> = session.kept.iter().map(|&(seq, _)| seq).filter(|&seq| seq > since).collect();
        assert_eq!(kept.events.iter().map(|event| event.seq).collect::<Vec<_>>(), expected);
        if !session.is_restored {
            let oldest = session.kept.first().map_or(0, |&(seq, _)| seq);
            assert_eq!(kept.dropped, oldest.saturating_sub(since + 1));
        }
    }

    /// Mostly a socket that awaits its first frame.
    fn unclaimed(&self, choices: &mut Choices<'_>) -> u64 {
        let model = &self.world.model;
        self.socket(choices, |socket| model.awaits_hello(socket).is_some())
    }

    /// Mostly a socket of a session.
    fn claimed(&self, choices: &mut Choices<'_>) -> u64 {
        let model = &self.world.model;
        self.socket(choices, |socket| model.session_of(socket).is_some())
    }

    /// Mostly a socket that is open.
    fn any(&self, choices: &mut Choices<'_>) -> u64 {
        let model = &self.world.model;
        self.socket(choices, |socket| model.is_open(socket))
    }

    /// Now and then one that has been closed, or never was.
    fn socket(&self, choices: &mut Choices<'_>, fits: impl Fn(u64) -> bool) -> u64 {
        if choices.below(16) == 15 {
            return 1 + choices.below(self.sockets + 1);
        }
        let fitting: Vec<_> = self.alive.iter().copied().filter(|&socket| fits(socket)).collect();
        choices.pick(&fitting).copied().unwrap_or(self.sockets + 1)
    }

    /// An id, an alias, the id of a link, something else, or none.
    fn selector(&self, choices: &mut Choices<'_>) -> Option<String> {
        let sessions = self.world.model.sessions.iter();
        let names = sessions.flat_map(|session| [session.alias.clone(), session.id.clone()]);
        let links = self.links.iter().rev().take(2).map(|link| link.id.clone());
        let all: Vec<_> = names.chain(links).map(Some).chain([Some("nobody".to_owned()), None]).collect();
        choices.pick(&all).cloned().flatten()
    }

    /// Mostly one of the newest calls.
    fn call_id(&self, choices: &mut Choices<'_>) -> String {
        let back = choices.place(6);
        let newest = self.world.calls.iter().rev().nth(back);
        newest.cloned().unwrap_or_else(|| "call-0".to_owned())
    }
}

fn transport(web: bool) -> Transport {
    if web { Transport::Web } else { Transport::Native }
}

fn decoded(frame: &Value) -> Received {
    Received::decode(&Bytes::from(frame.to_string()))
}

/// What an app says right after its first claim.
fn frames_of_join() -> super::model::Said {
    super::model::Said::Tools(vec![("a".to_owned(), None), ("b".to_owned(), None)])
}
