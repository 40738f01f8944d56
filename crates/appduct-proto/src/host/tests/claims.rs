//! Links and the claims of them.

use super::*;

fn refused(close: &str, socket: u64) -> String {
    format!("close {socket}: 1008 {close}")
}

#[test]
fn a_link_carries_what_an_app_needs() {
    let mut world = World::new();
    let link = world.link();
    world.expect(&[&format!("event - link_created {}", START_MS + 300_000)]);
    assert_eq!(link.session_id.len(), 16);
    assert!(!link.session_id.starts_with('-'));
    assert_eq!(link.bootstrap.session_id, link.session_id);
    assert_eq!(link.bootstrap.port, 8443);
    assert_eq!(link.bootstrap.expires_at, (START_MS + 300_000) / 1000);
    assert!(link.bootstrap.encode().is_ok());
    assert_eq!(world.host.pending_links(world.now), 1);
    assert!(world.host.sessions().is_empty());
}

#[test]
fn a_claim_makes_a_session_and_the_ack_comes_first() {
    let mut world = World::new();
    let link = world.link();
    world.pass(secs(5));
    let socket = world.connect();
    world.log();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["to 1: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
    assert_eq!(world.host.pending_links(world.now), 0);
    let session = world.host.session(None).unwrap();
    assert_eq!(session.session_id, link.session_id);
    assert_eq!(session.created_at, Timestamp(START_MS));
    assert_eq!(session.claimed_at, Timestamp(START_MS + 5_000));
    assert_eq!(session.suspended, None);
    assert_eq!(session.device.model.as_deref(), Some("Pixel 8"));
}

#[test]
fn the_ack_says_what_the_daemon_runs_by() {
    let settings = Settings { grace: secs(90), keepalive_interval: millis(2_500), ..Settings::default() };
    let mut host = Host::new(settings, [1; 32]);
    let now = Now::default();
    let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 1 };
    let request = LinkRequest { transport: Transport::Native, endpoint, ttl: LINK_TTL };
    let link = host.create_link(now, &request).unwrap();
    host.handle_opened(now, SocketId(1), Transport::Native);
    let claim = json!({
        "type": "session_claim", "protocol_version": 2, "session_id": link.session_id,
        "token": link.bootstrap.token_text(),
    });
    host.handle_received(now, SocketId(1), Received::decode(&Bytes::from(claim.to_string())));
    let ack = std::iter::from_fn(|| Some(host.poll_output())).find_map(|output| match output {
        Output::Send { text, .. } => Some(text),
        Output::Ping { .. }
        | Output::Close { .. }
        | Output::Terminate { .. }
        | Output::Event(_)
        | Output::CallFinished(_)
        | Output::Save { .. }
        | Output::Idle { .. } => None,
    });
    let ack: Value = serde_json::from_str(&ack.unwrap()).unwrap();
    assert_eq!(ack["type"], "session_ack");
    assert_eq!(ack["status"], "ok");
    assert_eq!(ack["session_id"], link.session_id.as_str());
    assert_eq!(ack["alias"], "device");
    assert_eq!(ack["keepalive_interval_s"], 2.5);
    assert_eq!(ack["grace_s"], 90);
    assert_eq!(ack["event_registry"], true);
    assert_eq!(ack["resume_token"].as_str().unwrap().len(), 43);
}

#[test]
fn a_claim_of_nothing_hears_unknown_session() {
    let mut world = World::new();
    let socket = world.connect();
    world.claim(socket, "nothing", "token");
    world.expect(&[&refused("unknown_session", 1)]);
}

#[test]
fn a_second_claim_hears_already_claimed() {
    let mut world = World::new();
    let link = world.link();
    let first = world.connect();
    let token = link.bootstrap.token_text();
    world.claim(first, &link.session_id, &token);
    let app = App { socket: first, session: link.session_id.clone() };
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    let second = world.connect();
    world.log();
    world.claim(second, &link.session_id, &token);
    world.expect(&[&refused("already_claimed", 2)]);
    world.call("none", "{}").unwrap_err();
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn a_link_of_the_other_listener_stays_claimable_there() {
    for (right, wrong) in [(Transport::Native, Transport::Web), (Transport::Web, Transport::Native)] {
        let mut world = World::new();
        let link = world.link_for(right, LINK_TTL);
        let token = link.bootstrap.token_text();
        world.log();
        for socket in 1..=6 {
            world.connect_by(wrong);
            world.claim(SocketId(socket), &link.session_id, "wrong token too");
            world.expect(&[&refused("wrong_transport", socket)]);
        }
        let socket = world.connect_by(right);
        world.claim(socket, &link.session_id, &token);
        world.expect(&["to 7: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
        assert_eq!(world.host.session(None).unwrap().transport, right);
    }
}

#[test]
fn the_fifth_wrong_token_burns_the_link() {
    let mut world = World::new();
    let link = world.link();
    world.log();
    let right = link.bootstrap.token_text();
    let short = &right[..40];
    for (socket, token) in [(1, "AAAA"), (2, "not base64!"), (3, short), (4, &right[1..])] {
        world.connect();
        world.claim(SocketId(socket), &link.session_id, token);
        world.expect(&[&refused("invalid_token", socket)]);
    }
    let fifth = world.connect();
    world.claim(fifth, &link.session_id, "AAAA");
    world.expect(&[&refused("claim_attempts_exceeded", 5)]);
    assert_eq!(world.host.pending_links(world.now), 0);
    let sixth = world.connect();
    world.claim(sixth, &link.session_id, &right);
    world.expect(&[&refused("unknown_session", 6)]);
    for socket in 1..=6 {
        world.gone(SocketId(socket), None);
    }
    assert_eq!(world.until, None);
}

#[test]
fn four_wrong_tokens_do_not_burn_it() {
    let mut world = World::new();
    let link = world.link();
    for socket in 1..=4 {
        world.connect();
        world.claim(SocketId(socket), &link.session_id, "AAAA");
    }
    let socket = world.connect();
    world.log();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["to 5: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
}

#[test]
fn a_padded_token_is_the_same_token() {
    let mut world = World::new();
    let link = world.link();
    let socket = world.connect();
    world.log();
    world.claim(socket, &link.session_id, &format!("{}=", link.bootstrap.token_text()));
    world.expect(&["to 1: ack pixel-8", "event pixel-8 session_claimed Pixel 8"]);
}

#[test]
fn a_late_claim_hears_link_expired_once() {
    let mut world = World::new();
    let link = world.link();
    world.log();
    world.pass(LINK_TTL - millis(1));
    assert_eq!(world.host.pending_links(world.now), 1);
    world.expect(&[]);
    world.pass(millis(1));
    world.expect(&["event - link_expired"]);
    assert_eq!(world.host.pending_links(world.now), 0);
    world.pass(LINK_TTL - millis(2));
    let (first, second) = (world.connect(), world.connect());
    world.claim(first, &link.session_id, &link.bootstrap.token_text());
    world.expect(&[&refused("link_expired", 1)]);
    world.claim(second, &link.session_id, &link.bootstrap.token_text());
    world.expect(&[&refused("unknown_session", 2)]);
}

#[test]
fn the_record_of_an_expired_link_is_dropped_after_as_long_again() {
    let mut world = World::new();
    let link = world.link();
    world.pass(LINK_TTL * 2);
    world.log();
    assert_eq!(world.until, None);
    let socket = world.connect();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.expect(&[&refused("unknown_session", 1)]);
}

#[test]
fn a_claim_at_the_moment_of_expiry_is_late_even_if_nobody_woke_the_host() {
    let mut world = World::new();
    let link = world.link();
    world.log();
    world.pass(LINK_TTL - millis(10));
    let socket = world.connect();
    world.jump(millis(10));
    assert_eq!(world.host.pending_links(world.now), 0);
    world.claim(socket, &link.session_id, "wrong token too");
    world.expect(&["event - link_expired", &refused("link_expired", 1)]);
}

#[test]
fn a_link_on_the_wrong_listener_says_so_even_when_expired() {
    let mut world = World::new();
    let link = world.link();
    world.pass(LINK_TTL);
    let (web, native) = (world.connect_by(Transport::Web), world.connect());
    world.log();
    world.claim(web, &link.session_id, &link.bootstrap.token_text());
    world.expect(&[&refused("wrong_transport", 1)]);
    world.claim(native, &link.session_id, &link.bootstrap.token_text());
    world.expect(&[&refused("link_expired", 2)]);
}

#[test]
fn a_claimed_link_never_expires() {
    let mut world = World::new();
    let app = world.claimed();
    for _ in 0..60 {
        world.pass(secs(10));
        world.pong(app.socket);
    }
    assert!(world.log().iter().all(|line| line == "ping 1"));
    assert_eq!(world.host.sessions().len(), 1);
}

#[test]
fn a_ttl_of_nothing_or_over_the_bound_is_refused() {
    let mut world = World::new();
    let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
    let max = secs(7 * 24 * 60 * 60);
    for (ttl, good) in [(Duration::ZERO, false), (millis(1), true), (max, true), (max + millis(1), false)] {
        let request = LinkRequest { transport: Transport::Native, endpoint, ttl };
        let made = world.act(|host, now| host.create_link(now, &request));
        assert_eq!(made.is_ok(), good, "{ttl:?}");
        if !good {
            assert_eq!(made, Err(Refusal::LinkTtl { max }));
        }
    }
}

#[test]
fn devices_of_one_model_get_numbered_aliases_and_free_them_when_they_end() {
    let mut world = World::new();
    let apps = [world.claimed(), world.claimed(), world.claimed()];
    assert_eq!(apps.each_ref().map(|app| world.alias(app)), ["pixel-8", "pixel-8-2", "pixel-8-3"]);
    world.drop_socket(apps[1].socket);
    let fourth = world.claimed();
    assert_eq!(world.alias(&fourth), "pixel-8-4");
    world.act(|host, now| host.revoke(now, Some("pixel-8-2"))).unwrap();
    let fifth = world.claimed();
    assert_eq!(world.alias(&fifth), "pixel-8-2");
}

#[test]
fn sessions_are_listed_in_claim_order() {
    let mut world = World::new();
    let (late, early) = (world.link(), world.link());
    for link in [&early, &late] {
        let socket = world.connect();
        world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    }
    let ids: Vec<_> = world.host.sessions().into_iter().map(|session| session.session_id).collect();
    assert_eq!(ids, [early.session_id, late.session_id]);
}

#[test]
fn tokens_are_not_shown_by_debug() {
    let mut world = World::new();
    let link = world.link();
    let socket = world.connect();
    let token = link.bootstrap.token_text();
    let claim =
        json!({ "type": "session_claim", "protocol_version": 2, "session_id": link.session_id, "token": token });
    world.host.handle_received(world.now, socket, Received::decode(&Bytes::from(claim.to_string())));
    let shown = format!("{:?} {link:?}", world.host);
    let ack = world.host.poll_output();
    let shown = format!("{shown} {ack:?}");
    let Output::Send { text, .. } = ack else { panic!("the ack comes first") };
    let ack: Value = serde_json::from_str(&text).unwrap();
    assert!(!shown.contains(ack["resume_token"].as_str().unwrap()));
    assert!(!shown.contains(&token));
}
