//! Random sequences of operations, and what must hold after each.

use proptest::prelude::*;

use super::deadlines::Deadline;
use super::socket::Awaits;
use super::*;

/// One thing that the world does. Numbers pick among what there is.
#[derive(Clone, Debug)]
enum Op {
    Link { web: bool, ttl_s: u64 },
    Connect { web: bool },
    Claim { socket: usize, link: usize, right: bool },
    Join,
    ComeBack { token: usize },
    Frame { socket: usize, kind: u8, own: bool },
    Text { socket: usize, text: u8 },
    Answer { socket: usize, call: usize, kind: u8 },
    Fault { socket: usize, fault: u8 },
    Gone { socket: usize, background: bool },
    Pong { socket: usize },
    Call { selector: usize, tool: u8, timeout_ms: u64 },
    Cancel { selector: usize, call: usize },
    Abandon { call: usize },
    Revoke { selector: usize },
    Policy { decision: u8 },
    Pass { ms: u64 },
    Sleep { ms: u64 },
    Saved { ok: bool },
    Shutdown,
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0..64_usize;
    prop_oneof![
        2 => (any::<bool>(), 1..400_u64).prop_map(|(web, ttl_s)| Op::Link { web, ttl_s }),
        4 => prop::bool::weighted(0.2).prop_map(|web| Op::Connect { web }),
        6 => (n.clone(), n.clone(), prop::bool::weighted(0.8))
            .prop_map(|(socket, link, right)| Op::Claim { socket, link, right }),
        8 => Just(Op::Join),
        8 => (0..12_usize).prop_map(|token| Op::ComeBack { token }),
        16 => (n.clone(), 0..9_u8, prop::bool::weighted(0.95))
            .prop_map(|(socket, kind, own)| Op::Frame { socket, kind, own }),
        2 => (n.clone(), 0..4_u8).prop_map(|(socket, text)| Op::Text { socket, text }),
        12 => (n.clone(), n.clone(), 0..3_u8).prop_map(|(socket, call, kind)| Op::Answer { socket, call, kind }),
        2 => (n.clone(), 0..4_u8).prop_map(|(socket, fault)| Op::Fault { socket, fault }),
        6 => (n.clone(), any::<bool>()).prop_map(|(socket, background)| Op::Gone { socket, background }),
        6 => n.clone().prop_map(|socket| Op::Pong { socket }),
        24 => (n.clone(), 0..3_u8, 0..20_000_u64)
            .prop_map(|(selector, tool, timeout_ms)| Op::Call { selector, tool, timeout_ms }),
        3 => (n.clone(), n.clone()).prop_map(|(selector, call)| Op::Cancel { selector, call }),
        2 => n.clone().prop_map(|call| Op::Abandon { call }),
        1 => n.prop_map(|selector| Op::Revoke { selector }),
        1 => (0..3_u8).prop_map(|decision| Op::Policy { decision }),
        10 => (0..6_000_u64).prop_map(|ms| Op::Pass { ms }),
        1 => (0..700_000_u64).prop_map(|ms| Op::Sleep { ms }),
        10 => prop::bool::weighted(0.8).prop_map(|ok| Op::Saved { ok }),
        1 => prop::bool::weighted(0.02).prop_map(|end| if end { Op::Shutdown } else { Op::Pass { ms: 1 } }),
    ]
}

/// The world and what the operations pick from.
struct Run {
    world: World,
    links: Vec<MintedLink>,
    made: Vec<CallId>,
}

impl Run {
    fn new(persist: bool) -> Self {
        let settings = Settings {
            persist,
            max_unclaimed_sockets: 4,
            max_calls_per_session: 3,
            max_tools: 3,
            event_buffer: 2,
            ..Settings::default()
        };
        Self { world: World::with(settings), links: Vec::new(), made: Vec::new() }
    }

    /// Mostly a socket that awaits this; now and then any, one that never was included.
    fn socket(&self, pick: usize, wanted: fn(Awaits) -> bool) -> SocketId {
        let fits = |&&socket: &&SocketId| self.world.host.sockets.awaits(socket).is_some_and(wanted);
        let fitting: Vec<_> = self.world.open.iter().filter(fits).copied().collect();
        if pick.is_multiple_of(8) || fitting.is_empty() {
            return SocketId(pick as u64 / 8 % (self.world.sockets + 1) + 1);
        }
        fitting[pick % fitting.len()]
    }

    fn unclaimed(&self, pick: usize) -> SocketId {
        self.socket(pick, |awaits| matches!(awaits, Awaits::Hello(_)))
    }

    fn claimed(&self, pick: usize) -> SocketId {
        self.socket(pick, |awaits| matches!(awaits, Awaits::Frames(_)))
    }

    /// An app scans a link, claims it and registers its tools.
    fn join(&mut self) {
        let link = self.world.link();
        let socket = self.world.connect();
        self.world.claim(socket, &link.session_id, &link.bootstrap.token_text());
        let app = App { socket, session: link.session_id.clone() };
        self.links.push(link);
        self.world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("a"), tool("b")] }));
    }

    /// An app comes back with a token that it once got.
    fn come_back(&mut self, pick: usize) {
        let socket = self.world.connect();
        let acks: Vec<_> = self.world.acks.values().rev().cloned().collect();
        let Some((alias, token)) = acks.get(pick % acks.len().max(1)) else { return };
        let Ok(session) = self.world.host.session(Some(alias)) else { return };
        self.world.resume(socket, &session.session_id, token);
    }

    fn selector(&self, pick: usize) -> Option<String> {
        let sessions = self.world.host.sessions();
        let links = self.links.iter().map(|link| link.session_id.clone());
        let links = links.take(2);
        let names: Vec<_> = sessions
            .into_iter()
            .flat_map(|session| [session.alias, session.session_id])
            .chain(links)
            .map(Some)
            .chain([None])
            .collect();
        names[pick % names.len()].clone()
    }

    fn session_of(&self, socket: SocketId) -> String {
        let session = self.world.host.sockets.session(socket).and_then(|no| self.world.host.sessions.get(no));
        session.map_or("none".to_owned(), |session| session.label.session_id.to_string())
    }

    fn call(&self, pick: usize) -> Option<CallId> {
        self.made.get(pick % self.made.len().max(1)).cloned()
    }

    fn run(&mut self, op: &Op) {
        let transport = |web: bool| if web { Transport::Web } else { Transport::Native };
        match *op {
            Op::Link { web, ttl_s } => {
                let link = self.world.link_for(transport(web), secs(ttl_s));
                self.links.push(link);
            }
            Op::Connect { web } => {
                self.world.connect_by(transport(web));
            }
            Op::Claim { socket, link, right } => {
                let Some(link) = self.links.get(link % self.links.len().max(1)) else { return };
                let token = if right { link.bootstrap.token_text() } else { "AAAA".to_owned() };
                let id = link.session_id.clone();
                self.world.claim(self.unclaimed(socket), &id, &token);
            }
            Op::Join => self.join(),
            Op::ComeBack { token } => self.come_back(token),
            Op::Frame { socket, kind, own } => {
                let socket = self.claimed(socket);
                let session = if own { self.session_of(socket) } else { "other".to_owned() };
                let (kind, fields) = frame(kind);
                self.world.frame(&App { socket, session }, kind, fields);
            }
            Op::Text { socket, text } => {
                let texts = ["[]", "{}", r#"{"type":"tool_call"}"#, "{"];
                self.world.text(self.claimed(socket), texts[usize::from(text)]);
            }
            Op::Answer { socket, call, kind } => {
                let Some(call) = self.call(call) else { return };
                let socket = self.claimed(socket);
                let app = App { session: self.session_of(socket), socket };
                let error = json!({ "type": "tool_execution_error", "message": "m" });
                let (kind, fields) = match kind {
                    0 => ("tool_result", json!({ "id": &*call.0, "result": 1 })),
                    1 => ("tool_error", json!({ "id": &*call.0, "error": error })),
                    _ => ("tool_call_progress", json!({ "id": &*call.0, "progress": 0.5 })),
                };
                self.world.frame(&app, kind, fields);
            }
            Op::Fault { socket, fault } => {
                let faults =
                    [SocketFault::TooBig, SocketFault::Binary, SocketFault::InvalidUtf8, SocketFault::SendFailed];
                self.world.fault(self.claimed(socket), faults[usize::from(fault)]);
            }
            Op::Gone { socket, background } => {
                let close = background.then(|| CloseReason::AppBackgrounded.into());
                self.world.gone(self.claimed(socket), close);
            }
            Op::Pong { socket } => self.world.pong(self.claimed(socket)),
            Op::Call { selector, tool, timeout_ms } => {
                let request = CallRequest {
                    selector: self.selector(selector),
                    timeout_ms: (timeout_ms > 1_000).then_some(timeout_ms as f64),
                    ..request(TOOLS[usize::from(tool)], "{}")
                };
                let target = self.world.host.call_target(&request);
                let made = self.world.request(request);
                if let Ok(call) = made {
                    assert!(target.is_ok(), "a call was made that its target refuses");
                    self.made.push(call);
                }
            }
            Op::Cancel { selector, call } => {
                let (Some(call), selector) = (self.call(call), self.selector(selector)) else { return };
                let running = self.world.finished.iter().all(|ended| ended.call != call);
                let asked = self.world.act(|host, now| host.cancel(now, selector.as_deref(), &call.0, ""));
                assert!(running || asked != Ok(true), "a call was cancelled after its end");
            }
            Op::Abandon { call } => {
                let Some(call) = self.call(call) else { return };
                self.world.act(|host, now| host.abandon(now, &call));
            }
            Op::Revoke { selector } => {
                let selector = self.selector(selector);
                let revoked = self.world.act(|host, now| host.revoke(now, selector.as_deref()));
                let found = selector.is_some_and(|selector| self.world.host.session(Some(&selector)).is_ok());
                assert!(revoked.is_err() || !found, "a revoked session is still found");
            }
            Op::Policy { decision } => {
                let default = [Decision::Allow, Decision::Prompt, Decision::Deny][usize::from(decision)];
                self.world.host.set_policy(Policy { default, ..Policy::default() });
            }
            Op::Pass { ms } => self.world.pass(millis(ms)),
            Op::Sleep { ms } => self.world.jump(millis(ms)),
            Op::Saved { ok } => {
                if self.world.saving.is_some() {
                    self.world.saved(ok);
                }
            }
            Op::Shutdown => self.world.act(Host::shutdown),
        }
    }

    /// What holds after every operation; `World` itself checks each output.
    fn check(&mut self) {
        let world = &mut self.world;
        world.act(Host::handle_timeout);
        let host = &world.host;
        let sessions = host.sessions();
        let aliases: BTreeSet<_> = sessions.iter().map(|session| session.alias.as_str()).collect();
        assert_eq!(aliases.len(), sessions.len(), "two live sessions share an alias");
        let mut sockets = BTreeSet::new();
        for (no, session) in host.sessions.iter() {
            assert_eq!(host.session(Some(&session.label.alias)).unwrap().session_id, *session.label.session_id);
            if let Some(socket) = session.socket() {
                assert!(world.open.contains(&socket), "an active session has no open socket");
                assert_eq!(host.sockets.session(socket), Some(no));
                assert!(sockets.insert(socket), "two sessions share a socket");
            } else {
                assert!(session.calls.is_empty(), "a suspended session has calls in flight");
            }
            assert!(session.calls.len() <= 3 && session.tools.len() <= 3);
            let grouped: usize =
                session.tools.groups().totals().iter().filter(|row| top_level(row)).map(|row| row.total).sum();
            assert_eq!(grouped, session.tools.len());
        }
        self.check_parked();
        let world = &self.world;
        let host = &world.host;
        assert_eq!(host.open_sockets(), world.open.len(), "the host and the driver disagree on open sockets");
        assert_eq!(host.calls_in_flight() + world.finished.len(), self.made.len(), "a call was lost");
        let ended: BTreeSet<_> = world.finished.iter().map(|call| call.call.clone()).collect();
        assert_eq!(ended.len(), world.finished.len(), "a call ended twice");
        if !host.shutting_down {
            assert_eq!(host.deadlines.armed(), self.awaited(), "what is armed is not what is awaited");
        }
    }

    /// Every parked socket is known to what it is parked for, and nothing waits for a save that does not come.
    fn check_parked(&self) {
        let host = &self.world.host;
        let of_links = host.links.values().filter_map(|link| link.claim.as_ref()).map(|claim| claim.socket);
        let of_sessions = host.sessions.iter().filter_map(|(_, session)| session.parked);
        let known: BTreeSet<_> = of_links.chain(of_sessions).collect();
        let parked: BTreeSet<_> = host.parked.values().map(|parked| parked.socket).collect();
        assert_eq!(known, parked);
        for (&generation, parked) in &host.parked {
            assert_eq!(host.sockets.awaits(parked.socket), Some(Awaits::Save(generation)));
            assert!(self.world.open.contains(&parked.socket));
        }
        assert!(parked.is_empty() || host.is_saving());
    }

    /// What each part of the host waits for.
    fn awaited(&self) -> BTreeSet<Deadline> {
        let host = &self.world.host;
        let hello = |&socket: &SocketId| matches!(host.sockets.awaits(socket), Some(Awaits::Hello(_)));
        let sockets = self.world.open.iter().copied().filter(hello).map(Deadline::Hello);
        let links = host.links.iter().filter(|(_, link)| link.claim.is_none()).map(|(id, link)| {
            let expired = link.has_expired(self.world.now.mono);
            if expired { Deadline::LinkForgotten(id.clone()) } else { Deadline::LinkExpiry(id.clone()) }
        });
        let sessions = host.sessions.iter().flat_map(|(no, session)| {
            let grace = session.parked.is_none().then_some(Deadline::Grace(no));
            let beat = session.socket().map_or(grace, |_| Some(Deadline::Keepalive(no)));
            session.calls.iter().copied().map(Deadline::Call).chain(beat)
        });
        let saves = [
            host.saves.may_become_overdue().then_some(Deadline::SaveOverdue),
            host.saves.starts().map(|_| Deadline::Save),
        ];
        sockets.chain(links).chain(sessions).chain(saves.into_iter().flatten()).collect()
    }
}

fn top_level(row: &GroupTotal) -> bool {
    row.group.as_ref().is_none_or(|group| group.segments().1.is_none())
}

const TOOLS: [&str; 4] = ["a", "b", "c", "d"];

fn frame(kind: u8) -> (&'static str, Value) {
    let grouped = |name: &str, group: &str| with(tool(name), "group", group);
    match kind {
        0 => ("tool_registry_snapshot", json!({ "tools": [tool("a"), grouped("b", "g/h"), tool("a")] })),
        1 => ("tool_registry_snapshot", json!({ "tools": [tool("a"), tool("b"), tool("c")] })),
        2 => ("tool_registry_delta", json!({ "operation": "upsert", "tool": grouped("d", "g") })),
        3 => ("tool_registry_delta", json!({ "operation": "remove", "name": "a" })),
        4 => ("tool_registry_snapshot", json!({ "tools": TOOLS.map(tool) })),
        5 => ("event_registry_snapshot", json!({ "events": [] })),
        6 => ("event", json!({ "name": "n", "ts": 1 })),
        7 => ("event", json!({ "name": "" })),
        _ => ("event", json!({ "name": "n", "ts": 1, "payload": [1, 2] })),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_operations_breaks_an_invariant(
        persist: bool,
        ops in prop::collection::vec(op(), 1..120),
    ) {
        let mut run = Run::new(persist);
        for op in &ops {
            run.run(op);
            run.check();
        }
        // Nobody speaks any more: every call ends and every session expires.
        run.world.save_all();
        run.world.pass(secs(3_000));
        while run.world.host.is_saving() {
            run.world.save_all();
            run.world.pass(secs(2));
        }
        run.check();
        prop_assert_eq!(run.world.host.calls_in_flight(), 0);
        let over = run.world.host.shutting_down || run.world.host.sessions().is_empty();
        prop_assert!(over, "a session outlives its grace");
        prop_assert_eq!(run.world.until, None);
    }
}
