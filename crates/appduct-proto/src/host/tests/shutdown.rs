//! The daemon goes away.

use super::*;

#[test]
fn a_shutdown_ends_every_call_and_closes_every_open_socket() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    world.connect();
    let closed = world.connect();
    world.text(closed, "[]");
    world.link();
    world.call("sum", "{}").unwrap();
    world.log();
    world.act(Host::shutdown);
    world.expect(&[
        "event pixel-8 tool_call_finished sum session gone (0 ms)",
        "answer sum session gone (0 ms)",
        "close 1: 1001 daemon_shutdown",
        "close 2: 1001 daemon_shutdown",
    ]);
    assert_eq!(world.until, None);
    world.gone(app.socket, None);
    world.expect(&[]);
}

#[test]
fn sessions_stay_listed_as_suspended_for_whoever_writes_them_down() {
    let mut world = World::new();
    let first = world.claimed();
    world.drop_socket(first.socket);
    let since = world.now.wall;
    world.claimed();
    world.pass(secs(1));
    world.act(Host::shutdown);
    let suspended: Vec<_> = world.host.sessions().into_iter().map(|session| session.suspended.unwrap().0).collect();
    assert_eq!(suspended, [since, world.now.wall]);
}

#[test]
fn a_socket_that_opens_meanwhile_is_turned_away() {
    let mut world = World::new();
    world.act(Host::shutdown);
    world.connect();
    world.expect(&["close 1: 1001 daemon_shutdown"]);
}

#[test]
fn a_second_shutdown_does_nothing() {
    let mut world = World::new();
    world.claimed();
    world.act(Host::shutdown);
    world.log();
    world.act(Host::shutdown);
    world.expect(&[]);
}
