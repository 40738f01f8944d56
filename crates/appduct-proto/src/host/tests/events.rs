//! App events, their numbers, and reading them later.

use super::*;

fn post(world: &mut World, app: &App, name: &str) {
    world.frame(app, "event", json!({ "name": name, "ts": 12.5 }));
}

fn since(world: &World, query: EventQuery) -> (Vec<u64>, u64, u64, usize) {
    let read = world.host.events_since(None, &query).unwrap();
    let seqs = read.events.iter().map(|event| event.seq).collect();
    (seqs, read.cursor, read.dropped, read.remaining)
}

fn ring_of(capacity: usize, events: usize) -> World {
    let mut world = World::with(Settings { event_buffer: capacity, ..Settings::default() });
    let app = world.claimed();
    for number in 1..=events {
        post(&mut world, &app, if number % 2 == 0 { "even" } else { "odd" });
    }
    world
}

#[test]
fn only_app_events_are_numbered_from_one_without_gaps() {
    let mut world = World::new();
    let app = world.claimed();
    let other = world.claimed();
    world.frame(&app, "event", json!({ "name": "a", "ts": 12.5, "payload": { "x": 1 } }));
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    world.frame(&other, "event", json!({ "name": "b", "ts": 3 }));
    world.frame(&app, "event", json!({ "name": "c", "ts": 0, "payload": null }));
    world.expect(&[
        r#"event pixel-8 #1 app_event a at 12.5 {"x":1}"#,
        "event pixel-8 tools_changed 0",
        "event pixel-8-2 #1 app_event b at 3 -",
        "event pixel-8 #2 app_event c at 0 null",
    ]);
}

#[test]
fn events_carry_the_daemons_time() {
    let mut world = World::new();
    let app = world.claimed();
    world.pass(secs(3));
    post(&mut world, &app, "a");
    let read = world.host.events_since(None, &EventQuery::default()).unwrap();
    assert_eq!(read.events[0].ts, Timestamp(START_MS + 3_000));
    assert_eq!(read.events[0].session_id, app.session);
    assert_eq!(read.events[0].alias.as_deref(), Some("pixel-8"));
}

#[test]
fn a_session_without_events_reads_empty() {
    assert_eq!(since(&ring_of(4, 0), EventQuery::default()), (vec![], 0, 0, 0));
    assert_eq!(since(&ring_of(4, 0), EventQuery { since: 9, ..Default::default() }), (vec![], 0, 0, 0));
}

#[test]
fn since_is_exclusive_and_the_cursor_goes_on_from_it() {
    let world = ring_of(4, 3);
    assert_eq!(since(&world, EventQuery::default()), (vec![1, 2, 3], 3, 0, 0));
    assert_eq!(since(&world, EventQuery { since: 2, ..Default::default() }), (vec![3], 3, 0, 0));
    assert_eq!(since(&world, EventQuery { since: 3, ..Default::default() }), (vec![], 3, 0, 0));
    assert_eq!(since(&world, EventQuery { since: u64::MAX, ..Default::default() }), (vec![], 3, 0, 0));
}

#[test]
fn what_left_the_ring_is_counted_whatever_the_name() {
    let world = ring_of(4, 10);
    assert_eq!(since(&world, EventQuery::default()), (vec![7, 8, 9, 10], 10, 6, 0));
    assert_eq!(since(&world, EventQuery { since: 5, ..Default::default() }), (vec![7, 8, 9, 10], 10, 1, 0));
    assert_eq!(since(&world, EventQuery { since: 6, ..Default::default() }), (vec![7, 8, 9, 10], 10, 0, 0));
    let odd = EventQuery { name: Some(Glob::new("o*")), ..Default::default() };
    assert_eq!(since(&world, odd), (vec![7, 9], 9, 6, 0));
}

#[test]
fn a_limit_keeps_the_oldest_matches_and_counts_the_rest() {
    let world = ring_of(10, 10);
    assert_eq!(since(&world, EventQuery { limit: Some(3), ..Default::default() }), (vec![1, 2, 3], 3, 0, 7));
    let even = EventQuery { since: 3, limit: Some(2), name: Some(Glob::new("even")), ..Default::default() };
    assert_eq!(since(&world, even), (vec![4, 6], 6, 0, 2));
    let none = EventQuery { name: Some(Glob::new("none")), ..Default::default() };
    assert_eq!(since(&world, none), (vec![], 10, 0, 0));
}

#[test]
fn a_host_that_keeps_no_events_still_numbers_them() {
    let world = ring_of(0, 3);
    assert_eq!(since(&world, EventQuery::default()), (vec![], 3, 0, 0));
}

#[test]
fn old_events_make_room_for_bytes_and_count_as_dropped() {
    let settings = Settings { event_buffer: 10, event_buffer_bytes: 12, ..Settings::default() };
    let mut world = World::with(settings);
    let app = world.claimed();
    let mut post = |payload: Value| {
        world.frame(&app, "event", json!({ "name": "ab", "ts": 1, "payload": payload }));
        since(&world, EventQuery::default())
    };
    for _ in 0..4 {
        post(json!(1));
    }
    assert_eq!(post(json!(1)), (vec![2, 3, 4, 5], 5, 1, 0));
    assert_eq!(post(json!(12345)), (vec![5, 6], 6, 4, 0));
    assert_eq!(post(json!("longer than all of it")), (vec![7], 7, 6, 0), "the newest is kept whatever its size");
    assert_eq!(post(json!(1)), (vec![8], 8, 7, 0));
}

#[test]
fn the_ring_survives_suspension_and_resume_and_can_be_read_meanwhile() {
    let mut world = World::new();
    let mut app = world.claimed();
    post(&mut world, &app, "a");
    world.drop_socket(app.socket);
    assert_eq!(since(&world, EventQuery::default()).0, [1]);
    world.reconnect(&mut app);
    post(&mut world, &app, "b");
    assert_eq!(since(&world, EventQuery::default()), (vec![1, 2], 2, 0, 0));
}

#[test]
fn a_large_payload_comes_as_a_preview() {
    let mut world = World::new();
    let app = world.claimed();
    let session = &app.session;
    let frame = format!(r#"{{"type":"event","session_id":"{session}","name":"a","ts":1,"payload":[ "é", 2 ]}}"#);
    world.text(app.socket, &frame);
    world.log();
    for (max, expected) in [
        (20, r#"event pixel-8 #1 app_event a at 1 [ "é", 2 ]"#),
        (8, r#"event pixel-8 #1 app_event a at 1 [ "é", 2 ]"#),
        (7, r#"event pixel-8 #1 app_event a ["é",2 of 8"#),
        (3, r#"event pixel-8 #1 app_event a [" of 8"#),
    ] {
        let query = EventQuery { payload_max_bytes: Some(max), ..Default::default() };
        let read = world.host.events_since(None, &query).unwrap();
        assert_eq!(show::event(&read.events[0]), expected);
    }
}

#[test]
fn the_order_of_a_sessions_first_events_is_that_of_their_causes() {
    let mut world = World::new();
    let link = world.link();
    let socket = world.connect();
    world.log();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    let app = App { socket, session: link.session_id };
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("sum")] }));
    post(&mut world, &app, "a");
    let call = world.call("sum", "{}").unwrap();
    world.result(&app, &call, json!(1));
    let kinds: Vec<_> = world.log().into_iter().filter(|line| line.starts_with("event")).collect();
    assert_eq!(
        kinds,
        [
            "event pixel-8 session_claimed Pixel 8",
            "event pixel-8 tools_changed 1",
            "event pixel-8 #1 app_event a at 12.5 -",
            "event pixel-8 tool_call_started sum",
            "event pixel-8 tool_call_finished sum result 1 (0 ms)",
        ]
    );
}
