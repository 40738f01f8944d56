//! What a bad link may and may not cost.

use crate::app::{Core, SessionChange, State};
use crate::host::{Outcome, SuspendReason};
use crate::testing::{Pair, raw, tool};

/// A host and one app with an active session.
fn paired() -> (Pair, String) {
    let mut pair = Pair::new(1);
    pair.add_app("Pixel 8", 1);
    let session = pair.link(0);
    pair.run(1_000);
    pair.check_agreement(0, &session);
    (pair, session)
}

fn is_result(outcome: &Outcome, text: &str) -> bool {
    matches!(outcome, Outcome::Result(result) if result.as_str() == text)
}

fn claims(pair: &Pair, app: usize) -> usize {
    pair.apps[app].changes.iter().filter(|change| matches!(change, SessionChange::Claimed { .. })).count()
}

#[test]
fn a_link_pairs_an_app_and_its_tools_can_be_called() {
    let (mut pair, session) = paired();
    let call = pair.call(&session, "who").unwrap();
    pair.run(1_000);
    assert!(is_result(pair.outcome(&call), "0"));
    assert_eq!(pair.apps[0].settled, [true]);
    assert_eq!(pair.apps[0].core.alias(), Some("pixel-8"));
}

#[test]
fn a_dropped_connection_comes_back_with_the_same_session_and_registry() {
    let (mut pair, session) = paired();
    for round in 0..5 {
        pair.cut_all();
        pair.drive_app(0, |core, now| core.register_tool(now, &tool(&format!("round-{round}")))).unwrap();
        pair.run(2_000);
        pair.check_agreement(0, &session);
    }
    assert_eq!(claims(&pair, 0), 1);
}

#[test]
fn a_connection_that_breaks_at_any_one_message_costs_nothing_but_time() {
    let mut at = 0;
    loop {
        let mut pair = Pair::new(at);
        pair.network.break_at = Some(at);
        pair.add_app("Pixel 8", at);
        let session = pair.link(0);
        pair.run(3_000);
        pair.check_agreement(0, &session);
        // A resume whose ack may be the message that is lost.
        pair.cut_all();
        pair.run(3_000);
        pair.check_agreement(0, &session);
        pair.call(&session, "who");
        pair.drive_app(0, |core, now| core.register_tool(now, &tool("late"))).unwrap();
        pair.run(5_000);
        pair.check_agreement(0, &session);
        pair.check_calls();
        let call = pair.call(&session, "who").unwrap();
        pair.run(20_000);
        pair.check_calls();
        pair.check_agreement(0, &session);
        assert!(!matches!(pair.outcome(&call), Outcome::TimedOut(_) | Outcome::SessionGone));
        assert_eq!(claims(&pair, 0), 1, "broken at {at}");
        if pair.network.messages <= at {
            break;
        }
        at += 1;
    }
    assert!(at > 15, "the script has a dozen messages at least: {at}");
}

#[test]
fn an_ack_of_a_claim_that_is_lost_again_and_again_costs_nothing() {
    let mut pair = Pair::new(2);
    pair.add_app("Pixel 8", 2);
    let session = pair.link(0);
    for _ in 0..4 {
        // The claim is the next message, its ack the one after.
        pair.network.break_at = Some(pair.network.messages + 1);
        let before = pair.network.messages;
        while pair.network.messages < before + 2 {
            pair.run(10);
        }
        assert_eq!(pair.apps[0].core.state(), State::Connecting);
    }
    pair.network.break_at = None;
    pair.run(20_000);
    pair.check_agreement(0, &session);
    assert_eq!(pair.host.sessions().len(), 1);
}

#[test]
fn an_ack_of_a_resume_that_is_lost_again_and_again_costs_nothing() {
    let (mut pair, session) = paired();
    pair.cut_all();
    for _ in 0..4 {
        pair.network.break_at = Some(pair.network.messages + 1);
        let before = pair.network.messages;
        while pair.network.messages < before + 2 {
            pair.run(10);
        }
        assert_eq!(pair.apps[0].core.state(), State::Reconnecting);
    }
    pair.network.break_at = None;
    pair.run(30_000);
    pair.check_agreement(0, &session);
    assert_eq!(claims(&pair, 0), 1);
}

#[test]
fn a_connection_that_goes_silent_is_noticed_by_both_ends_and_replaced() {
    let (mut pair, session) = paired();
    let call = pair.call(&session, "who").unwrap();
    pair.stall_all();
    pair.run(60_000);
    pair.check_agreement(0, &session);
    pair.check_calls();
    assert!(!is_result(pair.outcome(&call), "0"), "its answer went nowhere");
    let call = pair.call(&session, "who").unwrap();
    pair.run(1_000);
    assert!(is_result(pair.outcome(&call), "0"));
}

#[test]
fn connections_that_go_silent_before_the_ack_do_not_keep_a_session_waiting() {
    let (mut pair, session) = paired();
    pair.network.stalls = true;
    pair.cut_all();
    pair.run(60_000);
    assert_eq!(pair.apps[0].core.state(), State::Reconnecting);
    pair.network.stalls = false;
    pair.run(60_000);
    pair.check_agreement(0, &session);
}

#[test]
fn a_daemon_that_cannot_be_reached_for_five_minutes_has_its_app_back() {
    let (mut pair, session) = paired();
    pair.network.is_down = true;
    pair.cut_all();
    pair.run(300_000);
    assert_eq!(pair.apps[0].core.state(), State::Reconnecting);
    pair.network.is_down = false;
    pair.run(31_000);
    pair.check_agreement(0, &session);
}

#[test]
fn both_ends_give_a_session_up_when_its_grace_is_over() {
    let (mut pair, session) = paired();
    pair.network.is_down = true;
    pair.cut_all();
    pair.run(601_000);
    assert_eq!(pair.apps[0].core.state(), State::Closed);
    assert_eq!(pair.apps[0].changes.last(), Some(&SessionChange::Lost { reason: "grace_expired".into() }));
    assert!(pair.apps[0].lease.is_none());
    assert!(pair.host.session(Some(&session)).is_err());
}

#[test]
fn two_apps_of_the_same_model_get_two_aliases_and_their_own_calls() {
    let mut pair = Pair::new(3);
    for app in 0..2 {
        pair.add_app("X", app);
    }
    let sessions: Vec<_> = (0..2).map(|app| pair.link(app)).collect();
    pair.run(1_000);
    let aliases: Vec<_> = pair.host.sessions().iter().map(|session| session.alias.clone()).collect();
    assert_eq!(aliases, ["x", "x-2"]);
    let calls: Vec<_> = ["x", "x-2"].map(|alias| pair.call(alias, "who").unwrap()).into_iter().collect();
    pair.run(1_000);
    for (app, call) in calls.iter().enumerate() {
        assert!(is_result(pair.outcome(call), &app.to_string()));
        pair.check_agreement(app, &sessions[app]);
    }
    pair.cut_all();
    pair.run(2_000);
    let call = pair.call("x-2", "who").unwrap();
    pair.run(1_000);
    assert!(is_result(pair.outcome(&call), "1"), "after a resume too");
}

#[test]
fn a_call_in_flight_ends_once_when_the_connection_breaks_and_its_late_answer_goes_nowhere() {
    let (mut pair, session) = paired();
    pair.apps[0].handler_ms = 3_000;
    let call = pair.call(&session, "who").unwrap();
    pair.run(1_000);
    pair.cut_all();
    pair.run(10_000);
    assert_eq!(*pair.outcome(&call), Outcome::Suspended(SuspendReason::ConnectionLost));
    assert_eq!(pair.apps[0].cancelled, ["session_suspended"]);
    pair.check_agreement(0, &session);
}

#[test]
fn a_call_that_is_too_slow_ends_once_at_its_deadline() {
    let (mut pair, session) = paired();
    pair.apps[0].handler_ms = 11_000;
    let call = pair.call(&session, "who").unwrap();
    pair.run(20_000);
    pair.check_calls();
    assert!(!is_result(pair.outcome(&call), "0"));
    assert_eq!(pair.apps[0].cancelled, ["timeout"]);
    pair.check_agreement(0, &session);
}

#[test]
fn a_cancelled_call_ends_once_with_the_apps_word() {
    let (mut pair, session) = paired();
    pair.apps[0].handler_ms = 5_000;
    let call = pair.call(&session, "who").unwrap();
    pair.run(100);
    let asked = pair.drive_host(|host, now| host.cancel(now, Some(&session), &call.0, "enough")).unwrap();
    assert!(asked);
    pair.run(10_000);
    assert!(matches!(pair.outcome(&call), Outcome::Error(fault) if fault.message == "Tool \"who\" was cancelled."));
    assert_eq!(pair.apps[0].cancelled, ["enough"]);
}

#[test]
fn the_background_suspends_the_session_by_name_and_the_foreground_brings_it_back() {
    let (mut pair, session) = paired();
    pair.drive_app(0, Core::handle_background);
    pair.run(60_000);
    let suspended = pair.host.session(Some(&session)).unwrap().suspended;
    assert_eq!(suspended.map(|(_, reason)| reason), Some(SuspendReason::AppBackgrounded));
    pair.drive_app(0, Core::handle_foreground);
    pair.run(1_000);
    pair.check_agreement(0, &session);
}

#[test]
fn an_app_that_freezes_for_a_minute_comes_back_with_one_reconnect() {
    let (mut pair, session) = paired();
    pair.freeze(0, 60_000);
    pair.run(65_000);
    pair.check_agreement(0, &session);
    let resumes = pair.apps[0].changes.iter().filter(|change| matches!(change, SessionChange::Resumed { .. })).count();
    assert_eq!(resumes, 1);
}

#[test]
fn a_disconnect_by_the_app_leaves_the_daemon_with_no_session_and_no_call() {
    let (mut pair, session) = paired();
    pair.apps[0].handler_ms = 5_000;
    let call = pair.call(&session, "who").unwrap();
    pair.run(100);
    pair.drive_app(0, Core::disconnect);
    pair.run(1_000);
    assert_eq!(*pair.outcome(&call), Outcome::Suspended(SuspendReason::ConnectionLost));
    assert!(pair.host.session(Some(&session)).is_err());
}

#[test]
fn a_revocation_reaches_the_app_which_forgets_everything() {
    let (mut pair, session) = paired();
    pair.drive_host(|host, now| host.revoke(now, Some(&session))).unwrap();
    pair.run(1_000);
    assert_eq!(pair.apps[0].core.state(), State::Closed);
    assert_eq!(pair.apps[0].changes.last(), Some(&SessionChange::Lost { reason: "revoked".into() }));
    assert!(pair.apps[0].lease.is_none());
}

#[test]
fn a_reload_resumes_by_its_lease() {
    let (mut pair, session) = paired();
    pair.drive_app(0, Core::shut_down);
    let lease = pair.apps[0].lease.clone();
    pair.run(500);
    assert!(pair.host.session(Some(&session)).unwrap().suspended.is_some(), "the daemon knows at once");
    let reloaded = pair.add_app("Pixel 8", 9);
    assert!(pair.drive_app(reloaded, |core, now| core.restore_session(now, lease)));
    pair.run(1_000);
    pair.check_agreement(reloaded, &session);
    assert_eq!(claims(&pair, reloaded), 0);
}

#[test]
fn a_daemon_that_goes_away_and_keeps_its_sessions_is_found_again() {
    let (mut pair, session) = paired();
    pair.drive_app(0, |core, now| core.register_event(now, &raw(r#"{"name":"late","description":"d"}"#))).unwrap();
    pair.network.is_down = true;
    pair.cut_all();
    pair.run(3_000);
    pair.network.is_down = false;
    pair.run(31_000);
    pair.check_agreement(0, &session);
}
