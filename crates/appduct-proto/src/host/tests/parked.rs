//! What may happen while an ack waits for its save.

use super::*;

/// An app that resumes; its ack waits for the save in flight. The log starts after it.
struct Waiting {
    world: World,
    app: App,
    /// Where the resume came.
    socket: SocketId,
    /// What it showed.
    token: String,
}

/// The older socket is still open when the resume comes.
fn waiting() -> Waiting {
    let mut world = World::persistent();
    let app = world.app(&[tool("sum")]);
    world.settle();
    let token = world.token(&app);
    let socket = world.connect();
    world.resume(socket, &app.session, &token);
    world.log();
    Waiting { world, app, socket, token }
}

/// The older socket was lost before.
fn waiting_alone() -> Waiting {
    let mut world = World::persistent();
    let app = world.app(&[tool("sum")]);
    world.drop_socket(app.socket);
    world.settle();
    let token = world.token(&app);
    let socket = world.connect();
    world.resume(socket, &app.session, &token);
    world.log();
    Waiting { world, app, socket, token }
}

/// A claim whose ack waits.
struct Claiming {
    world: World,
    link: MintedLink,
    socket: SocketId,
}

impl Claiming {
    fn new() -> Self {
        let mut world = World::persistent();
        let link = world.link();
        world.save_all();
        let socket = world.connect();
        world.claim(socket, &link.session_id, &link.bootstrap.token_text());
        world.log();
        Self { world, link, socket }
    }

    fn claim_again(&mut self, token: &str) -> SocketId {
        let socket = self.world.connect();
        self.world.claim(socket, &self.link.session_id, token);
        socket
    }
}

impl World {
    /// Lets every save come and end.
    fn settle(&mut self) {
        while self.host.is_saving() {
            self.save_all();
            self.pass(secs(1));
        }
        self.log();
    }
}

#[test]
fn a_claim_is_heard_of_once_it_is_saved() {
    let Claiming { mut world, link, .. } = Claiming::new();
    assert_eq!(world.host.sessions(), []);
    assert_eq!(world.host.session(Some("pixel-8")), Err(Refusal::UnknownSession { selector: "pixel-8".to_owned() }));
    assert_eq!(world.host.pending_links(world.now), 0);
    world.saved(true);
    world.expect(&["to 1: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
    assert_eq!(world.host.session(None).unwrap().session_id, link.session_id);
}

#[test]
fn a_resume_takes_over_once_it_is_saved() {
    let Waiting { mut world, app, .. } = waiting();
    let call = world.call("sum", "{}").unwrap();
    world.expect(&["to 1: call sum {}", "event pixel-8 tool_call_started sum"]);
    world.result(&app, &call, json!(1));
    world.call("sum", "{}").unwrap();
    world.log();
    world.saved(true);
    world.expect(&[
        "close 1: 1000 session_replaced",
        "to 2: ack pixel-8",
        "event pixel-8 session_resumed",
        "event pixel-8 tool_call_finished sum resumed (0 ms)",
        "answer sum resumed (0 ms)",
    ]);
    world.call("sum", "{}").unwrap();
    world.expect(&["to 2: call sum {}", "event pixel-8 tool_call_started sum"]);
}

#[test]
fn while_a_resume_waits_a_suspended_session_stays_suspended() {
    let Waiting { mut world, .. } = waiting_alone();
    assert!(matches!(world.call("sum", "{}"), Err(Refusal::SessionSuspended { .. })));
    assert!(world.host.session(None).unwrap().suspended.is_some());
    world.saved(true);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_host_that_records_nothing_lets_everybody_in_at_once() {
    let mut world = World::new();
    let app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(5));
    assert_eq!(world.saving, None);
    assert!(!world.host.is_saving());
    assert_eq!(world.host.unsaved_acks(), 0);
}

#[test]
fn the_loss_of_the_older_socket_meanwhile_suspends() {
    let Waiting { mut world, app, .. } = waiting();
    world.drop_socket(app.socket);
    world.expect(&["event pixel-8 session_suspended connection_lost"]);
    world.saved(true);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_waiting_socket_that_is_lost_was_never_there() {
    let Waiting { mut world, app, socket, token } = waiting();
    world.drop_socket(socket);
    world.saved(true);
    world.expect(&[]);
    let call = world.call("sum", "{}").unwrap();
    world.result(&app, &call, json!(1));
    world.log();
    // The frame on the older socket proves nothing of the token that never left.
    let again = world.connect();
    world.resume(again, &app.session, &token);
    world.save_all();
    assert!(world.acks.contains_key(&again));
}

#[test]
fn a_lost_resume_starts_the_grace_anew() {
    let mut world = World::persistent();
    let app = world.app(&[]);
    world.drop_socket(app.socket);
    world.settle();
    world.pass(secs(590));
    let socket = world.connect();
    world.resume(socket, &app.session, &world.token(&app));
    world.pass(secs(2));
    world.gone(socket, Some(CloseReason::AppBackgrounded.into()));
    world.pass(secs(598));
    assert_eq!(world.host.session(None).unwrap().suspended.unwrap().1, SuspendReason::AppBackgrounded);
    world.pass(secs(2));
    assert_eq!(world.host.sessions(), []);
}

#[test]
fn the_grace_does_not_end_while_a_resume_waits() {
    let mut world = World::persistent();
    let app = world.app(&[]);
    world.settle();
    world.drop_socket(app.socket);
    world.pass(secs(1));
    world.save_all();
    world.pass(secs(598));
    let socket = world.connect();
    world.resume(socket, &app.session, &world.token(&app));
    world.log();
    world.pass(secs(2));
    world.expect(&[]);
    world.saved(true);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_second_resume_overtakes_one_that_waits() {
    let Waiting { mut world, app, token, .. } = waiting_alone();
    let second = world.connect();
    world.resume(second, &app.session, &token);
    world.expect(&["close 2: 1000 session_replaced"]);
    world.gone(SocketId(2), None);
    world.saved(true);
    world.expect(&["save 1 sessions, 0 links"]);
    world.saved(true);
    world.expect(&["to 3: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_revoked_session_turns_its_waiting_resume_away() {
    let Waiting { mut world, .. } = waiting();
    world.act(|host, now| host.revoke(now, None)).unwrap();
    world.expect(&["close 1: 1000 revoked", "close 2: 1000 revoked", "event pixel-8 session_revoked"]);
    world.saved(true);
    world.expect(&["save 0 sessions, 0 links"]);
    world.saved(true);
    world.expect(&[]);
    assert!(!world.host.is_saving());
}

#[test]
fn a_link_whose_claim_waits_can_be_revoked() {
    let Claiming { mut world, link, .. } = Claiming::new();
    world.act(|host, now| host.revoke(now, Some(&link.session_id))).unwrap();
    world.expect(&["close 1: 1000 revoked", "event - session_revoked"]);
    world.save_all();
    world.log();
    let app = world.claimed();
    assert_eq!(world.alias(&app), "pixel-8");
}

#[test]
fn a_lost_claim_leaves_its_link_as_it_was() {
    let mut claiming = Claiming::new();
    claiming.world.drop_socket(claiming.socket);
    assert_eq!(claiming.world.host.pending_links(claiming.world.now), 1);
    claiming.world.expect(&[]);
    let token = claiming.link.bootstrap.token_text();
    claiming.claim_again(&token);
    claiming.world.save_all();
    let log = claiming.world.log();
    assert_eq!(log[1..], ["to 2: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
}

#[test]
fn a_link_may_expire_while_its_claim_waits() {
    let mut world = World::persistent();
    let link = world.link_for(Transport::Native, secs(1));
    world.save_all();
    let socket = world.connect();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.log();
    world.pass(secs(2));
    world.expect(&[]);
    world.drop_socket(socket);
    world.expect(&["event - link_expired"]);
    world.save_all();
    world.log();
    let late = world.connect();
    world.claim(late, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["close 2: 1008 link_expired"]);
}

#[test]
fn a_second_claim_overtakes_one_that_waits_under_the_same_alias() {
    let mut claiming = Claiming::new();
    let token = claiming.link.bootstrap.token_text();
    claiming.claim_again(&token);
    claiming.world.expect(&["close 1: 1000 session_replaced"]);
    claiming.world.saved(true);
    claiming.world.saved(true);
    claiming.world.expect(&["save 1 sessions, 0 links", "to 2: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
}

#[test]
fn a_wrong_claim_or_listener_leaves_a_waiting_claim_alone() {
    let mut claiming = Claiming::new();
    for socket in 2..9 {
        claiming.claim_again("AAAA");
        claiming.world.expect(&[&format!("close {socket}: 1008 already_claimed")]);
    }
    let web = claiming.world.connect_by(Transport::Web);
    let Claiming { mut world, link, .. } = claiming;
    world.claim(web, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["close 9: 1008 wrong_transport"]);
    world.saved(true);
    world.expect(&["to 1: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
}

#[test]
fn two_claims_that_wait_get_aliases_in_the_order_of_their_claims() {
    let mut world = World::persistent();
    let links = [world.link(), world.link()];
    world.save_all();
    for link in &links {
        let socket = world.connect();
        world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    }
    world.save_all();
    let aliases: Vec<_> = world.host.sessions().into_iter().map(|session| session.alias).collect();
    assert_eq!(aliases, ["pixel-8", "pixel-8-2"]);
}

#[test]
fn what_comes_before_the_ack_counts_after_it_and_proves_nothing() {
    let Waiting { mut world, app, socket, token } = waiting_alone();
    let early = App { socket, session: app.session.clone() };
    world.frame(&early, "tool_registry_snapshot", json!({ "tools": [] }));
    world.expect(&[]);
    world.saved(true);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed", "event pixel-8 tools_changed 0"]);
    world.drop_socket(socket);
    let again = world.connect();
    world.resume(again, &app.session, &token);
    world.save_all();
    assert!(world.acks.contains_key(&again));
}

#[test]
fn a_bad_message_before_the_ack_closes_after_it() {
    let Waiting { mut world, app, socket, .. } = waiting_alone();
    world.text(socket, "[]");
    world.frame(&App { socket, session: app.session }, "event", json!({ "name": "n", "ts": 1 }));
    world.saved(true);
    world.expect(&[
        "to 2: ack pixel-8",
        "event pixel-8 session_resumed",
        "close 2: 1008 invalid_json",
        "event pixel-8 session_suspended connection_lost",
    ]);
}

#[test]
fn too_many_messages_before_the_ack_close_the_socket() {
    let Waiting { mut world, socket, .. } = waiting_alone();
    for _ in 0..8 {
        world.text(socket, "[]");
    }
    world.expect(&[]);
    world.text(socket, "[]");
    world.expect(&["close 2: 1008 expected_claim_or_resume"]);
    world.saved(true);
    world.expect(&[]);
}

#[test]
fn a_waiting_socket_meets_neither_the_timer_nor_the_bound_of_unclaimed_ones() {
    let mut world = World::with(Settings {
        persist: true,
        max_unclaimed_sockets: 1,
        keepalive_interval: secs(60),
        ..Settings::default()
    });
    let app = world.claimed();
    world.settle();
    let silent = world.connect();
    world.resume(silent, &app.session, &world.token(&app));
    world.connect();
    assert_eq!(world.open.len(), 3);
    world.pass(secs(2));
    world.saved(true);
    world.pass(secs(9));
    assert!(world.open.contains(&silent));
}

#[test]
fn a_shutdown_turns_everybody_away_and_saves_once_more() {
    let Waiting { mut world, token, .. } = waiting();
    world.act(Host::shutdown);
    world.expect(&["close 1: 1001 daemon_shutdown", "close 2: 1001 daemon_shutdown"]);
    assert!(world.host.is_saving());
    world.saved(true);
    world.expect(&["save 1 sessions, 0 links"]);
    let records = world.saved(true);
    assert!(!world.host.is_saving());
    assert_eq!(world.until, None);
    world.restart(records);
    let session = world.host.session(None).unwrap();
    let socket = world.connect();
    world.resume(socket, &session.session_id, &token);
    world.save_all();
    assert!(world.acks.contains_key(&socket));
}

#[test]
fn a_claim_that_the_network_held_back_does_not_overtake_its_successor() {
    let mut world = World::persistent();
    let link = world.link();
    world.save_all();
    let (held_back, socket) = (world.connect(), world.connect());
    let token = link.bootstrap.token_text();
    world.claim(socket, &link.session_id, &token);
    world.log();
    world.claim(held_back, &link.session_id, &token);
    world.expect(&["close 1: 1000 session_replaced"]);
    world.saved(true);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
}
