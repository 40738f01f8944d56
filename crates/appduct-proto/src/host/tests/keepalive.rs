//! Pings and dead peers.

use super::*;

#[test]
fn a_dead_peer_is_dropped_on_the_third_tick() {
    let mut world = World::new();
    world.claimed();
    world.pass(secs(15));
    world.expect(&["ping 1"]);
    world.pass(secs(15));
    world.expect(&["ping 1"]);
    world.pass(secs(15) - millis(1));
    world.expect(&[]);
    world.pass(millis(1));
    world.expect(&["terminate 1", "event pixel-8 session_suspended connection_lost"]);
    world.gone(SocketId(1), None);
    world.expect(&[]);
}

#[test]
fn any_pong_starts_the_count_anew() {
    let mut world = World::new();
    let app = world.claimed();
    world.pass(secs(30));
    world.pong(app.socket);
    world.pass(secs(30));
    world.expect(&["ping 1", "ping 1", "ping 1", "ping 1"]);
    world.pass(secs(15));
    world.expect(&["terminate 1", "event pixel-8 session_suspended connection_lost"]);
}

#[test]
fn nothing_of_a_terminated_socket_counts() {
    let mut world = World::new();
    let app = world.claimed();
    world.pass(secs(45));
    world.log();
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    world.pong(app.socket);
    world.expect(&[]);
    assert_eq!(world.host.open_sockets(), 0);
}

#[test]
fn a_resume_starts_the_count_and_the_beat_anew() {
    let mut world = World::new();
    let mut app = world.claimed();
    world.pass(secs(40));
    world.reconnect(&mut app);
    world.log();
    world.pass(secs(44));
    world.expect(&["ping 2", "ping 2"]);
    world.pass(secs(1));
    world.expect(&["terminate 2", "event pixel-8 session_suspended connection_lost"]);
}

#[test]
fn each_session_has_a_beat_of_its_own() {
    let mut world = World::new();
    world.claimed();
    world.pass(secs(5));
    world.claimed();
    world.pass(secs(10));
    world.expect(&["ping 1"]);
    world.pass(secs(5));
    world.expect(&["ping 2"]);
}

#[test]
fn a_suspended_session_is_not_pinged() {
    let mut world = World::new();
    let app = world.claimed();
    world.drop_socket(app.socket);
    world.log();
    world.pass(secs(599));
    world.expect(&[]);
}

#[test]
fn a_long_sleep_costs_one_tick() {
    let mut world = World::new();
    let app = world.claimed();
    world.jump(secs(3600));
    world.act(Host::handle_timeout);
    world.expect(&["ping 1"]);
    world.pong(app.socket);
    world.pass(secs(15));
    world.expect(&["ping 1"]);
}

#[test]
fn a_socket_that_is_gone_hears_nothing_of_a_deadline_that_came_late() {
    let mut world = World::new();
    let socket = world.connect();
    world.jump(secs(11));
    world.gone(socket, None);
    world.expect(&[]);
    let app = world.claimed();
    world.jump(secs(16));
    world.gone(app.socket, None);
    world.expect(&["event pixel-8 session_suspended connection_lost"]);
}
