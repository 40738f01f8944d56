//! Suspension, resumes, grace.

use super::*;

#[test]
fn a_lost_socket_suspends_and_a_resume_brings_the_session_back() {
    let mut world = World::new();
    let mut app = world.app(&[tool("a")]);
    world.drop_socket(app.socket);
    world.expect(&["event pixel-8 session_suspended connection_lost"]);
    let suspended = world.host.session(Some("pixel-8")).unwrap();
    assert_eq!(suspended.suspended, Some((world.now.wall, SuspendReason::ConnectionLost)));
    assert_eq!(suspended.tool_count, 1);
    world.reconnect(&mut app);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
    let resumed = world.host.session(None).unwrap();
    assert_eq!(resumed.suspended, None);
    assert_eq!(resumed.tool_count, 1);
    assert_eq!(resumed.session_id, app.session);
}

#[test]
fn tools_are_pending_until_the_app_has_told_them() {
    let mut world = World::new();
    let app = world.claimed_by(Transport::Native);
    assert!(world.host.session(None).unwrap().tools_pending);
    world.frame(&app, "tool_registry_delta", json!({"operation": "remove", "name": "a"}));
    assert!(world.host.session(None).unwrap().tools_pending, "nothing was told");
    world.frame(&app, "tool_registry_snapshot", json!({"tools": []}));
    assert!(!world.host.session(None).unwrap().tools_pending, "it has none");
    world.drop_socket(app.socket);
    assert!(!world.host.session(None).unwrap().tools_pending);
}

#[test]
fn only_the_apps_own_goodbye_counts_as_background() {
    for (code, reason, expected) in [
        (1001, "app_backgrounded", SuspendReason::AppBackgrounded),
        (1000, "app_backgrounded", SuspendReason::ConnectionLost),
        (1001, "going away", SuspendReason::ConnectionLost),
        (1000, "", SuspendReason::ConnectionLost),
        (1001, "client_close", SuspendReason::ConnectionLost),
    ] {
        let mut world = World::new();
        let app = world.claimed();
        world.gone(app.socket, Some(Close { code, reason: reason.to_owned() }));
        assert_eq!(world.host.session(None).unwrap().suspended.unwrap().1, expected, "{code} {reason}");
    }
}

#[test]
fn an_app_that_says_goodbye_ends_its_session_at_once() {
    let mut world = World::persistent();
    let app = world.app(&[tool("sum")]);
    world.save_all();
    world.call("sum", "{}").unwrap();
    world.log();
    world.gone(app.socket, Some(CloseReason::ClientClose.into()));
    let log = world.log();
    let place =
        |part: &str| log.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {log:?}"));
    assert!(place("session_suspended connection_lost") < place("event pixel-8 session_expired"), "{log:?}");
    assert!(place("answer sum") < place("event pixel-8 session_expired"), "{log:?}");
    assert!(world.host.sessions().is_empty());
    assert_eq!(world.host.calls_in_flight(), 0);
    world.pass(secs(1));
    assert_eq!(world.saved(true).session_count(), 0);
    world.claimed();
    assert_eq!(world.host.session(Some("pixel-8")).unwrap().suspended, None, "the alias is free");
}

#[test]
fn the_goodbye_of_an_older_socket_ends_nothing() {
    let mut world = World::new();
    let mut app = world.claimed();
    let older = app.socket;
    world.reconnect(&mut app);
    world.gone(older, Some(CloseReason::ClientClose.into()));
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn an_unknown_session_or_a_pending_link_cannot_be_resumed() {
    let mut world = World::new();
    let link = world.link();
    let (first, second) = (world.connect(), world.connect());
    world.log();
    world.resume(first, "nothing", "token");
    world.resume(second, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["close 1: 1008 unknown_session", "close 2: 1008 unknown_session"]);
    assert_eq!(world.host.pending_links(world.now), 1);
}

#[test]
fn a_wrong_resume_token_harms_nothing_however_often() {
    let mut world = World::new();
    let mut app = world.claimed();
    for socket in 2..10 {
        world.connect();
        world.resume(SocketId(socket), &app.session, "AAAA");
        world.expect(&[&format!("close {socket}: 1008 invalid_resume_token")]);
    }
    assert_eq!(world.host.session(None).unwrap().suspended, None);
    world.reconnect(&mut app);
    world.expect(&["close 1: 1000 session_replaced", "to 10: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_resume_on_the_other_listener_leaves_the_token_valid() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.drop_socket(app.socket);
    world.log();
    let web = world.connect_by(Transport::Web);
    let token = world.token(&app);
    world.resume(web, &app.session, &token);
    world.expect(&["close 2: 1008 wrong_transport"]);
    world.reconnect(&mut app);
    world.expect(&["to 3: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_web_session_resumes_on_the_web_listener() {
    let mut world = World::new();
    let app = world.claimed_by(Transport::Web);
    let token = world.token(&app);
    let socket = world.connect_by(Transport::Web);
    world.resume(socket, &app.session, &token);
    world.expect(&["close 1: 1000 session_replaced", "to 2: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_resume_of_an_active_session_replaces_its_socket_without_a_suspension() {
    let mut world = World::new();
    let mut app = world.app(&[tool("sum")]);
    let old = app.socket;
    world.call("sum", "{}").unwrap();
    world.log();
    world.reconnect(&mut app);
    world.expect(&[
        "close 1: 1000 session_replaced",
        "to 2: ack pixel-8",
        "event pixel-8 session_resumed",
        "event pixel-8 tool_call_finished sum resumed (0 ms)",
        "answer sum resumed (0 ms)",
    ]);
    world.gone(old, None);
    world.expect(&[]);
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn frames_of_a_replaced_socket_are_ignored() {
    let mut world = World::new();
    let mut app = world.app(&[tool("sum")]);
    let old = App { socket: app.socket, session: app.session.clone() };
    world.reconnect(&mut app);
    let call = world.call("sum", "{}").unwrap();
    world.log();
    world.frame(&old, "tool_registry_snapshot", json!({ "tools": [] }));
    world.result(&old, &call, json!("from the grave"));
    world.text(old.socket, "garbage");
    world.fault(old.socket, SocketFault::TooBig);
    world.expect(&[]);
    world.result(&app, &call, json!(3));
    assert_eq!(world.finished.last().unwrap().outcome, Outcome::Result(RawJson::parse("3").unwrap()));
}

#[test]
fn each_resume_rotates_the_token_and_the_old_one_dies_with_the_first_frame() {
    let mut world = World::new();
    let mut app = world.claimed();
    let first = world.token(&app);
    world.reconnect(&mut app);
    let second = world.token(&app);
    assert_ne!(first, second);
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    world.log();
    let socket = world.connect();
    world.resume(socket, &app.session, &first);
    world.expect(&["close 3: 1008 invalid_resume_token"]);
    world.reconnect(&mut app);
    world.expect(&["close 2: 1000 session_replaced", "to 4: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_suspended_session_expires_when_its_grace_ends() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(600) - millis(1));
    world.log();
    assert_eq!(world.host.sessions().len(), 1);
    world.pass(millis(1));
    world.expect(&["event pixel-8 session_expired"]);
    assert!(world.host.sessions().is_empty());
    assert_eq!(world.until, None);
    world.reconnect(&mut app);
    world.expect(&["close 2: 1008 unknown_session"]);
}

#[test]
fn a_resume_ends_the_grace_and_the_next_suspension_starts_a_new_one() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(599));
    world.reconnect(&mut app);
    world.drop_socket(app.socket);
    world.log();
    world.pass(secs(599));
    world.expect(&[]);
    world.pass(secs(1));
    world.expect(&["event pixel-8 session_expired"]);
}

#[test]
fn a_resumed_session_outlives_the_grace_of_its_last_suspension() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(300));
    world.reconnect(&mut app);
    world.log();
    for _ in 0..60 {
        world.pass(secs(10));
        world.pong(app.socket);
    }
    assert!(world.log().iter().all(|line| line == "ping 2"));
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn a_close_with_1008_after_the_claim_leaves_the_session_in_its_grace() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.text(app.socket, "[]");
    world.gone(app.socket, None);
    world.log();
    world.reconnect(&mut app);
    world.expect(&["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_resume_at_the_moment_the_grace_ends_is_late() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(595));
    let token = world.token(&app);
    app.socket = world.connect();
    world.jump(secs(5));
    world.log();
    world.resume(app.socket, &app.session, &token);
    world.expect(&["event pixel-8 session_expired", "close 2: 1008 unknown_session"]);
}
