//! A host takes over from another.

use super::ring::Ring;
use super::*;

/// The last records of a daemon that shut down in order.
fn stopped(world: &mut World) -> Records {
    world.act(Host::shutdown);
    let mut last = world.saved(true);
    while world.host.is_saving() {
        last = world.saved(true);
    }
    world.log();
    last
}

/// What is on disk when the daemon is killed.
fn killed(world: &mut World) -> Records {
    let records = world.host.records(world.now);
    world.log();
    records
}

fn expires_in(world: &mut World) -> u64 {
    let start = world.now.mono;
    while !world.host.sessions().is_empty() {
        let until = world.until.unwrap();
        world.pass(until.since(world.now.mono));
        world.save_all();
    }
    world.now.mono.since(start).as_secs()
}

fn wall(world: &mut World, by: i64) {
    world.now.wall = Timestamp(world.now.wall.0.checked_add_signed(by * 1_000).unwrap());
}

#[test]
fn sessions_come_back_suspended_in_claim_order_as_they_were() {
    let mut world = World::persistent();
    let first = world.app(&[tool("a")]);
    let web = world.claimed_by(Transport::Web);
    world.gone(first.socket, Some(CloseReason::AppBackgrounded.into()));
    let before = world.host.sessions();
    let records = killed(&mut world);
    world.jump(secs(3));
    world.restart(records);
    let after = world.host.sessions();
    assert_eq!(after[0], SessionSummary { tool_count: 0, tools_pending: true, ..before[0].clone() });
    let lost = Some((world.now.wall, SuspendReason::ConnectionLost));
    assert_eq!(after[1], SessionSummary { suspended: lost, ..before[1].clone() });
    assert_eq!(after[1].session_id, web.session);
    world.expect(&[]);
}

#[test]
fn an_app_resumes_and_registers_anew() {
    let mut world = World::persistent();
    let mut app = world.app(&[tool("a")]);
    let records = killed(&mut world);
    world.restart(records);
    assert!(matches!(world.call("a", "{}"), Err(Refusal::SessionSuspended { .. })));
    world.reconnect(&mut app);
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("b")] }));
    assert!(matches!(world.call("a", "{}"), Err(Refusal::ToolNotFound { .. })));
    assert!(world.call("b", "{}").is_ok());
}

#[test]
fn an_alias_that_came_back_is_taken() {
    let mut world = World::persistent();
    world.claimed();
    world.claimed();
    let records = killed(&mut world);
    world.restart(records);
    let app = world.claimed();
    assert_eq!(world.alias(&app), "pixel-8-3");
}

#[test]
fn after_a_crash_grace_runs_from_the_new_start() {
    let mut world = World::persistent();
    world.claimed();
    let records = killed(&mut world);
    world.jump(secs(100_000));
    world.restart(records);
    assert_eq!(expires_in(&mut world), 600);
}

#[test]
fn after_a_crash_a_suspended_session_has_the_grace_that_was_recorded() {
    let mut world = World::persistent();
    let app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(400));
    let records = killed(&mut world);
    world.jump(secs(100_000));
    world.restart(records);
    assert_eq!(expires_in(&mut world), 200);
}

#[test]
fn after_a_shutdown_grace_runs_from_the_shutdown() {
    let mut world = World::persistent();
    let app = world.claimed();
    world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(0));
    let records = stopped(&mut world);
    world.jump(secs(450));
    world.restart(records);
    assert_eq!(expires_in(&mut world), 150);
}

#[test]
fn a_session_whose_grace_has_passed_meanwhile_expires_at_once() {
    let mut world = World::persistent();
    world.claimed();
    let records = stopped(&mut world);
    world.jump(secs(600));
    world.restart(records);
    world.expect(&["event pixel-8 session_expired"]);
    assert_eq!(world.host.sessions(), []);
    world.pass(secs(1));
    world.expect(&["save 0 sessions, 0 links"]);
}

#[test]
fn a_wall_clock_that_was_set_meanwhile_changes_no_grace() {
    for by in [-1_000_000, 1_000_000] {
        let mut world = World::persistent();
        world.claimed();
        let records = stopped(&mut world);
        world.jump(secs(100));
        wall(&mut world, by);
        world.restart(records);
        assert_eq!(expires_in(&mut world), 500, "{by}");
    }
}

#[test]
fn after_a_reboot_the_wall_clock_counts_and_never_adds_to_a_grace() {
    for (by, left) in [(100, 500), (0, 600), (-1_000_000, 600)] {
        let mut world = World::persistent();
        world.claimed();
        let records = stopped(&mut world);
        wall(&mut world, by);
        world.now.mono = Moment(5);
        world.host.settings.boot = Some("another".to_owned());
        world.restart(records);
        assert_eq!(expires_in(&mut world), left, "{by}");
    }
}

#[test]
fn a_shorter_grace_holds_for_recorded_sessions_too() {
    let mut world = World::persistent();
    world.claimed();
    let records = killed(&mut world);
    world.host.settings.grace = secs(20);
    world.restart(records);
    assert_eq!(expires_in(&mut world), 20);
}

#[test]
fn a_pending_link_comes_back_for_what_is_left_of_its_time() {
    let mut world = World::persistent();
    let link = world.link();
    world.pass(secs(100));
    let records = killed(&mut world);
    world.jump(secs(199));
    world.restart(records.clone());
    assert_eq!(world.host.pending_links(world.now), 1);
    let socket = world.connect();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.log();
    world.saved(true);
    world.expect(&["to 1: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
    world.jump(secs(1));
    world.restart(records);
    world.expect(&["event - link_expired"]);
}

#[test]
fn a_link_that_was_revoked_or_burned_does_not_come_back() {
    let mut world = World::persistent();
    let (revoked, burned) = (world.link(), world.link());
    world.save_all();
    world.act(|host, now| host.revoke(now, Some(&revoked.session_id))).unwrap();
    world.save_all();
    for _ in 0..5 {
        let socket = world.connect();
        world.claim(socket, &burned.session_id, "AAAA");
    }
    let records = world.saved(true);
    assert_eq!(records.link_count(), 0);
}

#[test]
fn the_links_token_of_a_lost_ack_dies_in_time_after_a_restart_too() {
    for (passed, ack) in [(199, true), (200, false)] {
        let mut world = World::persistent();
        let link = world.link();
        let socket = world.connect();
        world.claim(socket, &link.session_id, &link.bootstrap.token_text());
        world.save_all();
        world.pass(secs(100));
        let records = killed(&mut world);
        world.jump(secs(passed));
        world.restart(records);
        let again = world.connect();
        world.claim(again, &link.session_id, &link.bootstrap.token_text());
        world.save_all();
        assert_eq!(world.acks.contains_key(&again), ack, "{passed}");
    }
}

#[test]
fn a_crash_between_the_save_and_the_ack_costs_a_claim_nothing() {
    let mut world = World::persistent();
    let link = world.link();
    world.save_all();
    let socket = world.connect();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    let (_, records) = world.saving.take().unwrap();
    world.restart(records);
    world.log();
    let again = world.connect();
    world.claim(again, &link.session_id, &link.bootstrap.token_text());
    world.save_all();
    assert_eq!(world.log()[1..], ["to 2: ack pixel-8", "event pixel-8 session_resumed"]);
}

#[test]
fn a_session_that_is_about_to_be_active_is_recorded_with_its_whole_grace() {
    let mut world = World::persistent();
    let app = world.claimed();
    world.drop_socket(app.socket);
    world.pass(secs(500));
    world.save_all();
    let socket = world.connect();
    world.resume(socket, &app.session, &world.token(&app));
    let records = killed(&mut world);
    world.restart(records);
    assert_eq!(expires_in(&mut world), 600);
}

fn events(world: &mut World, app: &App, count: u64) {
    for _ in 0..count {
        world.frame(app, "event", json!({ "name": "n", "ts": 1 }));
    }
}

fn since(world: &World, since: u64) -> (Vec<u64>, u64, u64) {
    let query = EventQuery { since, ..EventQuery::default() };
    let read = world.host.events_since(None, &query).unwrap();
    (read.events.iter().map(|event| event.seq).collect(), read.cursor, read.dropped)
}

#[test]
fn after_a_shutdown_event_numbers_go_on_and_those_before_are_dropped() {
    let mut world = World::persistent();
    let mut app = world.claimed();
    events(&mut world, &app, 5);
    let records = stopped(&mut world);
    world.restart(records);
    assert_eq!(since(&world, 3), (vec![], 5, 0));
    world.reconnect(&mut app);
    events(&mut world, &app, 1);
    assert_eq!(since(&world, 3), (vec![6], 6, 2));
}

#[test]
fn after_a_crash_no_event_number_comes_twice_and_the_gap_is_not_called_dropped() {
    let mut world = World::persistent();
    let mut app = world.claimed();
    events(&mut world, &app, 5);
    let records = killed(&mut world);
    events(&mut world, &app, 4);
    assert_eq!(since(&world, 8), (vec![9], 9, 0));
    world.restart(records);
    world.reconnect(&mut app);
    events(&mut world, &app, 1);
    assert_eq!(since(&world, 9), (vec![200_001], 200_001, 0));
    assert_eq!(since(&world, 3), (vec![200_001], 200_001, 2));
}

#[test]
fn many_events_are_recorded_before_their_numbers_could_come_twice() {
    let mut world = World::persistent();
    let app = world.claimed();
    events(&mut world, &app, 1);
    world.pass(secs(1));
    world.save_all();
    let session = world.host.sessions.by_id(&app.session).unwrap().0;
    world.host.sessions.get_mut(session).unwrap().ring = Ring::restored(99_998, false);
    world.log();
    events(&mut world, &app, 1);
    assert!(!world.host.is_saving());
    events(&mut world, &app, 1);
    assert!(world.host.is_saving());
}
