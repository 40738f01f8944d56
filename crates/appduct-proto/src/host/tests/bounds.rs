//! Bounds, each with a clear refusal.

use super::*;

#[test]
fn over_the_bound_of_unclaimed_sockets_the_newest_may_come_again_later() {
    let mut world = World::with(Settings { max_unclaimed_sockets: 2, ..Settings::default() });
    world.claimed();
    let first = world.connect();
    world.connect();
    world.connect();
    world.expect(&["close 4: 1013 too_many_sockets"]);
    assert!(!Close::from(CloseReason::TooManySockets).is_terminal());
    world.drop_socket(first);
    let link = world.link();
    let socket = world.connect();
    world.log();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["to 5: ack pixel-8-2", "event pixel-8-2 session_claimed Pixel 8"]);
    world.connect();
    world.expect(&[]);
}

#[test]
fn a_socket_that_is_closed_no_longer_counts_as_unclaimed() {
    let mut world = World::with(Settings { max_unclaimed_sockets: 1, ..Settings::default() });
    let first = world.connect();
    world.text(first, "[]");
    world.log();
    world.connect();
    world.expect(&[]);
    world.pass(secs(10));
    world.connect();
    world.expect(&["close 2: 1008 pre_claim_timeout"]);
}

#[test]
fn over_the_bound_of_calls_in_flight_the_next_is_refused() {
    let mut world = World::with(Settings { max_calls_per_session: 2, ..Settings::default() });
    let app = world.app(&[tool("sum")]);
    let first = world.call("sum", "{}").unwrap();
    world.call("sum", "{}").unwrap();
    world.log();
    assert_eq!(world.call("sum", "{}"), Err(Refusal::TooManyCalls { alias: "pixel-8".to_owned(), limit: 2 }));
    world.expect(&[]);
    world.result(&app, &first, json!(1));
    assert!(world.call("sum", "{}").is_ok());
}

#[test]
fn a_registry_over_the_bound_closes_with_invalid_registry() {
    let settings = Settings { max_tools: 2, max_events: 1, ..Settings::default() };
    let event = |name: &str| json!({ "name": name, "description": "d" });
    for (kind, fields) in [
        ("tool_registry_snapshot", json!({ "tools": [tool("a"), tool("b"), tool("c")] })),
        ("tool_registry_delta", json!({ "operation": "upsert", "tool": tool("c") })),
        ("event_registry_snapshot", json!({ "events": [event("a"), event("b")] })),
        ("event_registry_delta", json!({ "operation": "upsert", "event": event("b") })),
    ] {
        let mut world = World::with(settings.clone());
        let app = world.app(&[tool("a"), tool("b")]);
        world.frame(&app, "event_registry_snapshot", json!({ "events": [event("a"), event("a")] }));
        world.frame(&app, "tool_registry_delta", json!({ "operation": "upsert", "tool": tool("b") }));
        world.expect(&["event pixel-8 events_changed 1", "event pixel-8 tools_changed 2"]);
        world.frame(&app, kind, fields);
        world.expect(&["close 1: 1008 invalid_registry", "event pixel-8 session_suspended connection_lost"]);
        assert_eq!(world.host.session(None).unwrap().tool_count, 2);
        assert_eq!(world.host.list_events(None, &DeclaredEventQuery::default()).unwrap().total, 1);
    }
}

#[test]
fn a_registry_over_the_bound_of_bytes_closes_with_invalid_registry_and_stays_as_it_was() {
    let one = tool("a").to_string().len();
    let mut world = World::with(Settings { max_registry_bytes: 2 * one, ..Settings::default() });
    let app = world.app(&[tool("a"), tool("b")]);
    world.frame(&app, "tool_registry_delta", json!({ "operation": "remove", "name": "a" }));
    world.frame(&app, "tool_registry_delta", json!({ "operation": "upsert", "tool": tool("c") }));
    world.log();
    world.frame(&app, "tool_registry_delta", json!({ "operation": "upsert", "tool": tool("d") }));
    world.expect(&["close 1: 1008 invalid_registry", "event pixel-8 session_suspended connection_lost"]);
    assert_eq!(world.host.session(None).unwrap().tool_count, 2);
}

#[test]
fn pending_links_are_bounded_and_an_expired_one_makes_room() {
    let mut world = World::with(Settings { max_pending_links: 2, ..Settings::default() });
    let first = world.link();
    world.link();
    let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
    let request = LinkRequest { transport: Transport::Native, endpoint, ttl: secs(1) };
    let made = world.act(|host, now| host.create_link(now, &request));
    assert_eq!(made, Err(Refusal::TooManyLinks { limit: 2 }));
    world.act(|host, now| host.revoke(now, Some(&first.session_id))).unwrap();
    world.act(|host, now| host.create_link(now, &request)).unwrap();
    world.pass(secs(1));
    world.act(|host, now| host.create_link(now, &request)).unwrap();
}
