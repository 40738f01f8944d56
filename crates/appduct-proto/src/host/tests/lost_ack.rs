//! An ack that the network ate costs nothing.

use super::*;

struct Lost {
    world: World,
    session: String,
    token: String,
}

/// A claim whose ack never reached the app.
fn lost_claim() -> Lost {
    let mut world = World::new();
    let link = world.link();
    let socket = world.connect();
    let token = link.bootstrap.token_text();
    world.claim(socket, &link.session_id, &token);
    world.log();
    Lost { world, session: link.session_id, token }
}

fn snapshot(world: &mut World, socket: SocketId, session: &str) {
    let app = App { socket, session: session.to_owned() };
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    world.log();
}

#[test]
fn the_same_claim_again_takes_the_session_over_under_its_alias() {
    let Lost { mut world, session, token } = lost_claim();
    let first = world.acks[&SocketId(1)].1.clone();
    world.drop_socket(SocketId(1));
    let again = world.connect();
    world.log();
    world.claim(again, &session, &token);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
    assert_ne!(world.acks[&again].1, first);
    assert_eq!(world.host.sessions().len(), 1);
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn the_same_claim_again_closes_an_older_socket_that_is_still_open() {
    let Lost { mut world, session, token } = lost_claim();
    let again = world.connect();
    world.claim(again, &session, &token);
    world.expect(&["close 1: 1000 session_replaced", "to 2: ack pixel-8", "event pixel-8 session_resumed"]);
    world.gone(SocketId(1), None);
    world.expect(&[]);
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn a_claim_may_be_lost_again_and_again() {
    let Lost { mut world, session, token } = lost_claim();
    for socket in 2..8 {
        world.connect();
        world.claim(SocketId(socket), &session, &token);
        world.drop_socket(SocketId(socket));
    }
    let last = world.connect();
    world.claim(last, &session, &token);
    world.log();
    snapshot(&mut world, last, &session);
    let late = world.connect();
    world.claim(late, &session, &token);
    world.expect(&["close 9: 1008 already_claimed"]);
}

#[test]
fn the_first_frame_kills_the_links_token() {
    let Lost { mut world, session, token } = lost_claim();
    snapshot(&mut world, SocketId(1), &session);
    world.drop_socket(SocketId(1));
    world.log();
    let again = world.connect();
    world.claim(again, &session, &token);
    world.expect(&["close 2: 1008 already_claimed"]);
}

#[test]
fn the_links_token_dies_when_the_link_would_have_expired() {
    let Lost { mut world, session, token } = lost_claim();
    world.drop_socket(SocketId(1));
    world.pass(LINK_TTL - millis(1));
    world.log();
    let in_time = world.connect();
    world.claim(in_time, &session, &token);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
    world.pass(millis(1));
    let late = world.connect();
    world.claim(late, &session, &token);
    world.expect(&["close 3: 1008 already_claimed"]);
}

#[test]
fn a_wrong_token_or_listener_in_the_window_takes_nothing_over() {
    let Lost { mut world, session, token } = lost_claim();
    let (native, web) = (world.connect(), world.connect_by(Transport::Web));
    world.claim(native, &session, "AAAA");
    world.claim(web, &session, &token);
    world.expect(&["close 2: 1008 already_claimed", "close 3: 1008 wrong_transport"]);
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn the_links_token_is_no_resume_token() {
    let Lost { mut world, session, token } = lost_claim();
    let socket = world.connect();
    world.resume(socket, &session, &token);
    world.expect(&["close 2: 1008 invalid_resume_token"]);
}

#[test]
fn showing_the_newest_resume_token_kills_the_links_token() {
    let Lost { mut world, session, token } = lost_claim();
    let newest = world.acks[&SocketId(1)].1.clone();
    let resumed = world.connect();
    world.resume(resumed, &session, &newest);
    let again = world.connect();
    world.log();
    world.claim(again, &session, &token);
    world.expect(&["close 3: 1008 already_claimed"]);
}

#[test]
fn the_resume_token_before_the_newest_works_until_a_frame_comes() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let kept = world.token(&app);
    for socket in 2..6 {
        world.drop_socket(app.socket);
        app.socket = world.connect();
        world.log();
        world.resume(app.socket, &app.session, &kept);
        world.expect(&[&format!("to {socket}: ack pixel-8"), "event pixel-8 session_resumed"]);
    }
    snapshot(&mut world, app.socket, &app.session);
    let late = world.connect();
    world.resume(late, &app.session, &kept);
    world.expect(&["close 6: 1008 invalid_resume_token"]);
}

#[test]
fn a_token_two_resumes_back_is_dead() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let first = world.token(&app);
    world.reconnect(&mut app);
    world.reconnect(&mut app);
    let late = world.connect();
    world.log();
    world.resume(late, &app.session, &first);
    world.expect(&["close 4: 1008 invalid_resume_token"]);
}

#[test]
fn an_ack_that_was_overtaken_by_another_resume_is_dead() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let kept = world.token(&app);
    world.reconnect(&mut app);
    let overtaken = world.token(&app);
    let socket = world.connect();
    world.resume(socket, &app.session, &kept);
    let late = world.connect();
    world.log();
    world.resume(late, &app.session, &overtaken);
    world.expect(&["close 4: 1008 invalid_resume_token"]);
}

#[test]
fn only_a_frame_of_the_session_on_the_new_socket_is_a_proof() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let old = App { socket: app.socket, session: app.session.clone() };
    let kept = world.token(&app);
    world.reconnect(&mut app);
    world.pong(app.socket);
    world.frame(&old, "tool_registry_snapshot", json!({ "tools": [] }));
    world.text(app.socket, r#"{"type":"event","session_id":"other","name":"n","ts":1}"#);
    app.socket = world.connect();
    world.log();
    world.resume(app.socket, &app.session, &kept);
    world.expect(&["to 3: ack pixel-8", "event pixel-8 session_resumed"]);
    world.frame(&app, "event", json!({ "name": "" }));
    let late = world.connect();
    world.log();
    world.resume(late, &app.session, &kept);
    world.expect(&["close 4: 1008 invalid_resume_token"]);
}

#[test]
fn the_close_of_the_lost_socket_may_come_before_during_or_after() {
    for when in 0..3 {
        let Lost { mut world, session, token } = lost_claim();
        if when == 0 {
            world.drop_socket(SocketId(1));
        }
        let again = world.connect();
        world.claim(again, &session, &token);
        if when == 1 {
            world.gone(SocketId(1), None);
        }
        snapshot(&mut world, again, &session);
        if when == 2 {
            world.gone(SocketId(1), Some(CloseReason::AppBackgrounded.into()));
        }
        world.expect(&[]);
        assert_eq!(world.host.session(None).unwrap().suspended, None);
        assert_eq!(world.host.open_sockets(), 1);
    }
}

#[test]
fn a_suspended_session_keeps_both_tokens_through_its_grace() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let kept = world.token(&app);
    world.reconnect(&mut app);
    world.drop_socket(app.socket);
    world.pass(secs(500));
    app.socket = world.connect();
    world.log();
    world.resume(app.socket, &app.session, &kept);
    world.expect(&["to 3: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_resume_that_the_network_held_back_costs_its_successor_nothing() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let kept = world.token(&app);
    world.drop_socket(app.socket);
    let held_back = world.connect();
    app.socket = world.connect();
    world.resume(app.socket, &app.session, &kept);
    world.log();
    world.resume(held_back, &app.session, &kept);
    world.expect(&["close 2: 1000 session_replaced"]);
    let token = world.token(&app);
    snapshot(&mut world, app.socket, &app.session);
    world.drop_socket(app.socket);
    app.socket = world.connect();
    world.log();
    world.resume(app.socket, &app.session, &token);
    world.expect(&["to 4: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_resume_that_comes_when_its_successor_is_gone_does_not_kill_the_ack_that_this_one_got() {
    let mut world = World::new();
    let mut app = world.app(&[]);
    let kept = world.token(&app);
    world.drop_socket(app.socket);
    let held_back = world.connect();
    app.socket = world.connect();
    world.resume(app.socket, &app.session, &kept);
    let token = world.token(&app);
    world.drop_socket(app.socket);
    world.log();
    world.resume(held_back, &app.session, &kept);
    world.expect(&["close 2: 1000 session_replaced"]);
    app.socket = world.connect();
    world.resume(app.socket, &app.session, &token);
    world.expect(&["to 4: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_claim_that_the_network_held_back_costs_its_successor_nothing() {
    let mut world = World::new();
    let link = world.link();
    let (held_back, socket) = (world.connect(), world.connect());
    let token = link.bootstrap.token_text();
    world.claim(socket, &link.session_id, &token);
    world.log();
    world.claim(held_back, &link.session_id, &token);
    world.expect(&["close 1: 1000 session_replaced"]);
    let app = App { socket, session: link.session_id };
    let token = world.token(&app);
    let again = world.connect();
    world.resume(again, &app.session, &token);
    world.expect(&["close 2: 1000 session_replaced", "to 3: ack pixel-8", "event pixel-8 session_resumed"]);
}
