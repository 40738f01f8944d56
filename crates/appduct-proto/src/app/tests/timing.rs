//! Keepalive, and drivers that come late.

use super::rig::{Rig, ack, input, options};
use crate::app::{Core, Options, State};

fn pong(rig: &mut Rig) {
    let socket = rig.socket;
    rig.drive(|core, now| core.handle_pong(now, socket));
}

#[test]
fn the_app_pings_at_the_acks_interval() {
    let mut rig = Rig::active();
    rig.advance(14_999);
    assert_eq!(rig.take(), [""; 0]);
    for _ in 0..5 {
        rig.advance(1);
        assert_eq!(rig.take(), ["ping"]);
        pong(&mut rig);
        rig.advance(14_999);
        assert_eq!(rig.take(), [""; 0]);
    }
}

#[test]
fn one_missed_pong_is_forgiven_and_the_second_in_a_row_is_a_loss() {
    let mut rig = Rig::active();
    rig.advance(30_000);
    pong(&mut rig);
    rig.advance(30_000);
    assert_eq!(rig.take(), ["ping", "ping", "ping", "ping"]);
    rig.advance(15_000);
    assert_eq!(
        rig.take(),
        [
            "close 1 1011 send_failed",
            "error socket: the daemon did not answer two pings in a row",
            "lease resume-1 lost at 75000",
            "state reconnecting"
        ]
    );
    rig.advance(249);
    assert_eq!(rig.take(), [""; 0], "no ping after the socket is gone");
}

#[test]
fn a_late_pong_resets_the_count() {
    let mut rig = Rig::active();
    for _ in 0..5 {
        rig.advance(29_999);
        pong(&mut rig);
    }
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_pong_of_an_older_socket_does_not_count() {
    let mut rig = Rig::active();
    let old = rig.socket;
    rig.drop_socket();
    rig.advance(250);
    rig.ack("resume-2");
    for _ in 0..3 {
        rig.advance(15_000);
        rig.drive(|core, now| core.handle_pong(now, old));
    }
    assert_eq!(rig.core.state(), State::Reconnecting);
}

#[test]
fn a_driver_without_pings_sends_none_and_has_no_timer() {
    let mut rig = Rig::with(Options { pings: false, ..options() });
    rig.activate();
    assert_eq!(rig.until, None);
    rig.advance(1_000_000);
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_stretch_in_which_the_app_was_frozen_costs_a_live_peer_nothing() {
    let mut rig = Rig::active();
    rig.advance(15_000);
    assert_eq!(rig.take(), ["ping"]);
    rig.freeze(200_000);
    rig.drive(Core::handle_timeout);
    assert_eq!(rig.take(), ["ping"], "one ping is due, not thirteen");
    pong(&mut rig);
    rig.advance(14_000);
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_stretch_in_which_the_app_was_frozen_costs_a_dead_peer_one_reconnect() {
    let mut rig = Rig::active();
    rig.advance(15_000);
    rig.freeze(200_000);
    rig.drive(Core::handle_timeout);
    rig.take();
    rig.advance(15_000);
    rig.advance(250);
    let lines = rig.take();
    assert_eq!(lines.iter().filter(|line| line.starts_with("open")).count(), 1, "{lines:?}");
}

#[test]
fn an_interval_of_nothing_does_not_make_the_app_spin() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.receive(&ack("resume-1", "").replace(":15,", ":1e-300,"));
    rig.take();
    rig.advance(999);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(rig.take(), ["ping"]);
}

#[test]
fn the_keepalive_of_the_newest_ack_counts() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.receive(&ack("resume-2", "").replace(":15,", ":3,"));
    rig.take();
    rig.advance(3_000);
    assert_eq!(rig.take(), ["ping"]);
}

#[test]
fn waits_are_spread_and_follow_from_the_seed() {
    let wait = |seed| {
        let mut rig = Rig::with(Options { jitter: crate::app::Jitter::Seeded(seed), ..options() });
        rig.activate();
        rig.drop_socket();
        let wait = rig.until.unwrap().since(rig.now.mono).as_millis();
        assert!(wait < 500);
        wait
    };
    assert_eq!(wait(7), wait(7));
    let all: std::collections::BTreeSet<_> = (0..50).map(wait).collect();
    assert!(all.len() > 30, "{all:?}");
}

#[test]
fn jitter_outside_of_its_range_is_brought_into_it() {
    for (random, expected) in [(2.0, 500), (-1.0, 0), (f64::NAN, 0)] {
        let mut rig = Rig::with(Options { jitter: crate::app::Jitter::Fixed(random), ..options() });
        rig.activate();
        rig.drop_socket();
        assert_eq!(rig.until.unwrap().since(rig.now.mono).as_millis(), expected);
    }
}

#[test]
fn a_loss_that_is_reported_late_closes_nothing_and_sends_nothing() {
    let mut rig = Rig::active_with_tool();
    rig.call("call-1", "ping");
    rig.take();
    rig.freeze(1_000_000);
    rig.drop_socket();
    assert_eq!(
        rig.take_without_errors(),
        ["cancel call-1 timeout", "lease resume-1 lost at 1000000", "state reconnecting"]
    );
}
