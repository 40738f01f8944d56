//! When saves come, and what becomes of acks whose save fails.

use super::*;

/// Apps that were connected and have lost their sockets; nothing is left to save.
fn lost(count: usize) -> (World, Vec<App>) {
    let mut world = World::persistent();
    let apps: Vec<_> = (0..count).map(|_| world.app(&[])).collect();
    for app in &apps {
        world.drop_socket(app.socket);
    }
    while world.host.is_saving() {
        world.save_all();
        world.pass(secs(1));
    }
    world.log();
    (world, apps)
}

/// The app resumes; nobody waits for the save.
fn resume(world: &mut World, app: &App) -> SocketId {
    let socket = world.connect();
    world.resume(socket, &app.session, &world.token(app));
    socket
}

#[test]
fn a_storm_of_resumes_costs_two_saves() {
    let (mut world, apps) = lost(500);
    let sockets: Vec<_> = apps.iter().map(|app| resume(&mut world, app)).collect();
    world.saved(true);
    world.saved(true);
    assert!(sockets.iter().all(|socket| world.acks.contains_key(socket)));
    assert!(!world.host.is_saving());
    let saves = world.log().iter().filter(|line| line.starts_with("save")).count();
    assert_eq!(saves, 2);
}

#[test]
fn the_proofs_of_a_storm_cost_one_more() {
    let (mut world, mut apps) = lost(50);
    for app in &mut apps {
        app.socket = resume(&mut world, app);
    }
    world.save_all();
    for app in &apps {
        world.frame(app, "tool_registry_snapshot", json!({ "tools": [] }));
        world.pass(millis(1));
    }
    world.log();
    world.pass(secs(2));
    world.expect(&["save 50 sessions, 0 links"]);
    world.saved(true);
    assert!(!world.host.is_saving());
}

#[test]
fn an_ack_waits_for_a_save_that_began_after_its_resume() {
    let (mut world, apps) = lost(2);
    let first = resume(&mut world, &apps[0]);
    let second = resume(&mut world, &apps[1]);
    world.saved(true);
    assert!(world.acks.contains_key(&first) && !world.acks.contains_key(&second));
    world.saved(true);
    assert!(world.acks.contains_key(&second));
}

#[test]
fn what_nobody_waits_for_is_saved_within_a_second() {
    let mut world = World::persistent();
    let app = world.app(&[]);
    world.pass(secs(2));
    world.save_all();
    world.log();
    world.drop_socket(app.socket);
    world.pass(millis(999));
    world.expect(&["event pixel-8 session_suspended connection_lost"]);
    world.pass(millis(1));
    world.expect(&["save 1 sessions, 0 links"]);
}

#[test]
fn a_revoked_session_is_out_of_the_records_at_once() {
    let mut world = World::persistent();
    world.claimed();
    world.act(|host, now| host.revoke(now, None)).unwrap();
    world.expect(&["close 1: 1000 revoked", "event pixel-8 session_revoked", "save 0 sessions, 0 links"]);
}

#[test]
fn a_slow_disk_gets_a_rest_after_each_save() {
    let (mut world, apps) = lost(2);
    resume(&mut world, &apps[0]);
    world.pass(millis(40));
    resume(&mut world, &apps[1]);
    world.log();
    world.saved(true);
    world.pass(millis(159));
    world.expect(&["to 3: ack pixel-8", "event pixel-8 session_resumed"]);
    world.pass(millis(1));
    world.expect(&["save 2 sessions, 0 links"]);
}

#[test]
fn a_rest_is_never_long() {
    let (mut world, apps) = lost(2);
    resume(&mut world, &apps[0]);
    world.pass(secs(2));
    resume(&mut world, &apps[1]);
    world.saved(true);
    world.log();
    world.pass(millis(250));
    world.expect(&["save 2 sessions, 0 links"]);
}

#[test]
fn a_failed_save_lets_everybody_in() {
    let (mut world, apps) = lost(2);
    resume(&mut world, &apps[0]);
    resume(&mut world, &apps[1]);
    world.saved(false);
    assert_eq!(world.host.unsaved_acks(), 1);
    assert!(world.saving.is_some(), "the other resume asks for a save of its own");
    world.saved(false);
    assert_eq!(world.host.unsaved_acks(), 2);
    assert_eq!(world.host.sessions().iter().filter(|session| session.suspended.is_none()).count(), 2);
}

#[test]
fn a_failed_save_is_tried_again_with_the_next_change() {
    let (mut world, apps) = lost(2);
    resume(&mut world, &apps[0]);
    world.saved(false);
    world.pass(millis(10));
    assert_eq!(world.saving, None);
    resume(&mut world, &apps[1]);
    assert!(world.saving.is_some());
}

#[test]
fn a_failed_save_is_tried_again_in_growing_intervals() {
    let mut world = World::persistent();
    world.link();
    let mut waits = Vec::new();
    for _ in 0..9 {
        world.saved(false);
        let failed = world.now.mono;
        while world.saving.is_none() {
            let until = world.until.unwrap();
            world.pass(until.since(world.now.mono));
        }
        waits.push(world.now.mono.since(failed).as_secs());
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    world.saved(true);
    assert!(!world.host.is_saving());
}

#[test]
fn a_save_that_does_not_return_holds_nobody_up_for_long() {
    let (mut world, apps) = lost(2);
    let first = resume(&mut world, &apps[0]);
    world.pass(millis(2_999));
    assert!(!world.acks.contains_key(&first));
    world.pass(millis(1));
    assert!(world.acks.contains_key(&first));
    let second = resume(&mut world, &apps[1]);
    assert!(world.acks.contains_key(&second));
    assert_eq!(world.host.unsaved_acks(), 2);
}

#[test]
fn a_save_that_returns_late_makes_room_for_the_next() {
    let (mut world, apps) = lost(3);
    resume(&mut world, &apps[0]);
    world.pass(secs(60));
    resume(&mut world, &apps[1]);
    world.saved(true);
    world.pass(millis(250));
    world.saved(true);
    let third = resume(&mut world, &apps[2]);
    world.pass(millis(250));
    assert!(!world.acks.contains_key(&third));
    world.saved(true);
    assert!(world.acks.contains_key(&third));
}

#[test]
fn the_end_of_another_save_is_ignored() {
    let (mut world, apps) = lost(1);
    let socket = resume(&mut world, &apps[0]);
    world.act(|host, now| host.handle_saved(now, Generation::default(), true));
    assert!(!world.acks.contains_key(&socket));
    world.saved(true);
    assert!(world.acks.contains_key(&socket));
}

#[test]
fn a_failed_save_after_the_shutdown_is_the_last() {
    let mut world = World::persistent();
    world.claimed();
    world.act(Host::shutdown);
    world.saved(false);
    assert!(!world.host.is_saving());
    assert_eq!(world.until, None);
}
