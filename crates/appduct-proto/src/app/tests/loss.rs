//! Losing the socket: backoff, grace, the terminal rule.

use super::rig::{Rig, failure};
use crate::app::{Core, SocketLoss, State};
use crate::wire::CloseReason;

#[test]
fn a_loss_says_error_state_then_cancelled_calls_in_the_order_they_came() {
    let mut rig = Rig::active_with_tool();
    for id in ["b", "c", "a"] {
        rig.call(id, "ping");
    }
    rig.take();
    rig.close(1006, "");
    assert_eq!(
        rig.take(),
        [
            "error socket: the connection was closed with code 1006",
            "lease resume-1 lost at 0",
            "state reconnecting",
            "cancel b session_suspended",
            "cancel c session_suspended",
            "cancel a session_suspended"
        ]
    );
}

#[test]
fn only_1008_is_terminal_and_its_text_is_the_reason() {
    for reason in CloseReason::ALL.iter().filter(|reason| reason.code() != 1000) {
        let mut rig = Rig::active();
        rig.close(reason.code(), reason.as_str());
        let expected = if reason.code() == 1008 { State::Closed } else { State::Reconnecting };
        assert_eq!(rig.core.state(), expected, "{reason:?}");
        if expected == State::Closed {
            let text = reason.as_str();
            assert_eq!(
                rig.take(),
                [
                    format!("error socket: {text}"),
                    "no lease".into(),
                    format!("state closed {text}"),
                    format!("lost {text}")
                ]
            );
            assert_eq!(rig.until, None);
        }
    }
}

#[test]
fn a_1008_without_a_text_is_rejected_by_daemon() {
    for reason in [None, Some(String::new())] {
        let mut rig = Rig::active();
        rig.lose(SocketLoss { code: Some(1008), reason, error: None });
        let lines = rig.take_without_errors();
        assert_eq!(lines, ["no lease", "state closed rejected_by_daemon", "lost rejected_by_daemon"]);
    }
}

#[test]
fn a_1000_from_the_daemon_is_a_revocation_whatever_it_says() {
    for reason in ["revoked", "session_replaced", ""] {
        let mut rig = Rig::active();
        rig.close(1000, reason);
        assert_eq!(rig.take(), ["no lease", "state closed revoked", "lost revoked"], "{reason}");
    }
}

#[test]
fn a_1000_during_a_resume_fails_that_attempt_only() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.take();
    rig.close(1000, "revoked");
    assert_eq!(rig.take(), ["error socket: Appduct resume attempt failed: revoked."]);
    assert_eq!(rig.core.state(), State::Reconnecting);
}

#[test]
fn a_refused_resume_ends_the_session_at_once() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.take();
    rig.close(1008, "unknown_session");
    assert_eq!(
        rig.take(),
        [
            "error socket: Appduct resume attempt failed: unknown_session.",
            "no lease",
            "state closed unknown_session",
            "lost unknown_session"
        ]
    );
    assert_eq!(rig.until, None);
}

#[test]
fn an_invalid_ack_to_a_resume_ends_the_session_too() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.take();
    rig.receive("{}");
    let lines = rig.take_without_errors();
    assert_eq!(lines, ["close 2 1008 invalid_ack", "no lease", "state closed invalid_ack", "lost invalid_ack"]);
}

#[test]
fn backoff_doubles_to_fifteen_seconds_and_starts_over_after_an_ack() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    let long_grace = super::rig::ack("resume-1", "").replace(r#""grace_s":10"#, r#""grace_s":1000"#);
    rig.receive(&long_grace);
    rig.drop_socket();
    for wait in [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000] {
        rig.take();
        rig.advance(wait - 1);
        assert_eq!(rig.take(), [""; 0], "{wait}");
        rig.advance(1);
        assert_eq!(rig.take().len(), 2, "{wait}");
        rig.lose(failure("host_unreachable", false));
    }
    rig.advance(15_000);
    rig.receive(&long_grace);
    rig.drop_socket();
    rig.take();
    rig.advance(250);
    assert_eq!(rig.take().len(), 2);
}

#[test]
fn grace_is_counted_once_from_the_first_loss_and_ends_a_resume_in_flight() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.drop_socket();
    rig.advance(500);
    rig.take();
    rig.advance(9_249);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(
        rig.take(),
        ["close 3 1000 client_close", "no lease", "state closed grace_expired", "lost grace_expired"]
    );
    assert_eq!(rig.until, None);
}

#[test]
fn an_ack_starts_a_new_grace() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.ack("resume-2");
    rig.drop_socket();
    rig.advance(250);
    rig.ack("resume-3");
    rig.advance(9_900);
    assert_eq!(rig.core.state(), State::Active, "the first loss is over ten seconds ago");
    rig.drop_socket();
    rig.opens = false;
    rig.advance(9_999);
    assert_eq!(rig.core.state(), State::Reconnecting);
    rig.advance(1);
    assert_eq!(rig.core.state(), State::Closed);
}

#[test]
fn grace_has_whole_milliseconds() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    rig.receive(&super::rig::ack("resume-1", "").replace(r#""grace_s":10"#, r#""grace_s":0.1009"#));
    rig.drop_socket();
    rig.advance(99);
    assert_eq!(rig.core.state(), State::Reconnecting);
    rig.advance(1);
    assert_eq!(rig.core.state(), State::Closed);
}

#[test]
fn a_grace_without_end_is_no_trouble() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    let endless = super::rig::ack("resume-1", "").replace(":10}", ":1e300}").replace(":15,", ":1e300,");
    rig.receive(&endless);
    rig.drop_socket();
    rig.advance(250);
    rig.receive(&endless);
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_resume_that_comes_back_after_grace_is_over_is_too_late_even_if_its_timer_is_late_too() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.advance(250);
    rig.take();
    rig.freeze(10_000);
    rig.ack("resume-2");
    assert_eq!(
        rig.take(),
        ["close 2 1000 client_close", "no lease", "state closed grace_expired", "lost grace_expired"]
    );
}

#[test]
fn every_resume_carries_the_newest_token_and_the_links_own_pin() {
    let mut rig = Rig::active();
    for (old, new) in [("resume-1", "resume-2"), ("resume-2", "resume-3")] {
        rig.drop_socket();
        rig.advance(250);
        assert_eq!(rig.pins(), [vec![super::rig::pin("daemon")]]);
        assert_eq!(rig.take().last().unwrap(), &format!("send session_resume {old}"));
        rig.ack(new);
        let lines = rig.take();
        assert_eq!(lines[0], format!("lease {new}"), "before anybody hears of the ack");
        assert_eq!(lines[1..3], ["state active", "resumed session-1 phone"]);
    }
}

#[test]
fn a_resume_goes_on_after_a_failure_that_a_claim_would_not_survive() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.next_failure = Some(failure("pin_mismatch", false));
    rig.advance(250);
    assert_eq!(rig.core.state(), State::Reconnecting, "another daemon may hold the port for a while");
    rig.advance(500);
    rig.ack("resume-2");
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_failed_write_costs_the_socket_only() {
    let mut rig = Rig::active();
    let socket = rig.socket;
    rig.drive(|core, now| core.handle_send_failed(now, socket));
    assert_eq!(
        rig.take(),
        [
            "close 1 1011 send_failed",
            "error socket: a write to the socket failed",
            "lease resume-1 lost at 0",
            "state reconnecting"
        ]
    );
    rig.close(1006, "");
    assert_eq!(rig.take(), [""; 0], "what the socket echoes does not count");
}

#[test]
fn a_resume_that_is_never_answered_is_tried_again_within_grace() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    rig.receive(&super::rig::ack("resume-1", "").replace(r#""grace_s":10"#, r#""grace_s":600"#));
    rig.drop_socket();
    rig.advance(250);
    rig.take();
    rig.advance(10_000);
    assert_eq!(rig.take_without_errors(), ["close 2 1011 send_failed"]);
    rig.advance(500);
    assert_eq!(rig.take(), ["open 3 192.168.1.2 8443", "send session_resume resume-1"]);
    rig.drive(Core::disconnect);
    assert_eq!(rig.until, None);
}
