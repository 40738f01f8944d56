//! `connect`: what is refused, what is retried, how it ends.

use super::rig::{Rig, START_MS, ack, failure, input, options};
use crate::app::{ConnectFault, ConnectInput, Core, Options, Secret, SocketError, SocketLoss, State};
use crate::wire::Device;

fn refused(change: impl FnOnce(&mut ConnectInput)) -> ConnectFault {
    let mut rig = Rig::new();
    let mut wrong = input();
    change(&mut wrong);
    let fault = rig.connect(wrong).unwrap_err();
    assert_eq!(rig.core.state(), State::Idle);
    assert_eq!(rig.take(), [""; 0], "a refused input opens no socket and changes nothing");
    assert_eq!(rig.until, None);
    fault
}

#[test]
fn an_input_that_no_daemon_could_take_is_refused_by_field() {
    assert_eq!(refused(|input| input.session_id.clear()), ConnectFault::InvalidInput("session_id"));
    assert_eq!(refused(|input| input.session_id = "x".repeat(129)), ConnectFault::InvalidInput("session_id"));
    assert_eq!(refused(|input| input.port = 0), ConnectFault::InvalidInput("port"));
    assert_eq!(refused(|input| input.secret = Secret::Token(String::new())), ConnectFault::InvalidInput("token"));
    let long = Secret::ResumeToken("😀".repeat(65));
    assert_eq!(refused(|input| input.secret = long), ConnectFault::InvalidInput("resume_token"));
}

#[test]
fn the_second_of_expiry_is_too_late_and_the_one_before_is_not() {
    assert_eq!(refused(|input| input.expires_at = START_MS / 1000), ConnectFault::Expired);
    let mut rig = Rig::new();
    rig.connect(ConnectInput { expires_at: START_MS / 1000 + 1, ..input() }).unwrap();
    assert_eq!(rig.core.state(), State::Connecting);
}

#[test]
fn a_claim_settles_at_the_ack_and_says_everything_in_order() {
    let mut rig = Rig::new();
    rig.opens = false;
    rig.connect(input()).unwrap();
    assert_eq!(rig.take(), ["no lease", "state connecting", "open 1 192.168.1.2 8443"]);
    assert_eq!(rig.core.session_id(), Some("session-1"));
    assert_eq!(rig.core.alias(), None);
    rig.drive(|core, now| core.handle_opened(now, crate::app::SocketId(1)));
    assert_eq!(rig.take(), ["send session_claim link-token"]);
    rig.receive(&ack("resume-1", r#","event_registry":true"#));
    assert_eq!(
        rig.take(),
        [
            "lease resume-1",
            "state active",
            "claimed session-1 phone",
            "send tool_registry_snapshot []",
            "send event_registry_snapshot []",
            "settled 1 ok"
        ]
    );
    assert_eq!(rig.core.alias(), Some("phone"));
}

#[test]
fn a_claim_carries_the_device_with_the_inputs_fields_in_place_cut_to_what_the_wire_takes() {
    let mut rig = Rig::new();
    let device = Device { model: Some("m".repeat(300)), ..Device::default() };
    rig.connect(ConnectInput { device, ..input() }).unwrap();
    let frame: serde_json::Value = serde_json::from_str(&rig.take_sent()[0]).unwrap();
    assert_eq!(frame["protocol_version"], 2);
    assert_eq!(frame["device_manufacturer"], "Acme");
    assert_eq!(frame["device_model"], "m".repeat(256));
    assert_eq!(frame["device_os"], "OS 1");
}

#[test]
fn a_resume_token_makes_the_first_frame_a_resume() {
    let mut rig = Rig::new();
    rig.connect(ConnectInput { secret: Secret::ResumeToken("old".into()), ..input() }).unwrap();
    assert_eq!(rig.take().last().unwrap(), "send session_resume old");
    rig.ack("resume-1");
    assert!(rig.take().contains(&"claimed session-1 phone".to_owned()), "whoever connects hears `claimed`");
}

#[test]
fn a_busy_client_refuses_a_second_connect_unless_it_supersedes() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    assert_eq!(rig.connect(input()), Err(ConnectFault::Busy));
    rig.ack("resume-1");
    assert_eq!(rig.connect(input()), Err(ConnectFault::Busy));
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_superseding_connect_settles_the_older_one_and_closes_its_socket() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    rig.drive(|core, now| core.connect(now, input(), true)).unwrap();
    assert_eq!(
        rig.take(),
        [
            "no lease",
            "close 1 1000 client_close",
            "settled 1 superseded",
            "open 2 192.168.1.2 8443",
            "send session_claim link-token"
        ]
    );
}

#[test]
fn a_superseding_connect_cancels_the_calls_of_an_active_session_and_loses_nothing_by_name() {
    let mut rig = Rig::active_with_tool();
    rig.call("call-1", "ping");
    rig.take();
    rig.drive(|core, now| core.connect(now, input(), true)).unwrap();
    assert_eq!(
        rig.take(),
        [
            "no lease",
            "close 1 1000 client_close",
            "state connecting",
            "cancel call-1 session_suspended",
            "open 2 192.168.1.2 8443",
            "send session_claim link-token"
        ]
    );
}

#[test]
fn a_superseding_input_is_checked_before_the_old_session_is_harmed() {
    let mut rig = Rig::active();
    let expired = ConnectInput { expires_at: 1, ..input() };
    assert_eq!(rig.drive(|core, now| core.connect(now, expired, true)), Err(ConnectFault::Expired));
    let no_pin = ConnectInput { link_pin: None, ..input() };
    assert_eq!(rig.drive(|core, now| core.connect(now, no_pin, true)), Err(ConnectFault::NoLinkPin));
    assert_eq!(rig.core.state(), State::Active);
    assert_eq!(rig.take(), ["error connect: the app trusts the link's pin and the link has none"]);
}

#[test]
fn a_reconnecting_session_is_superseded_without_asking() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.take();
    rig.connect(input()).unwrap();
    assert_eq!(rig.core.state(), State::Connecting);
    rig.ack("resume-2");
    rig.take();
    rig.advance(10_000);
    assert_eq!(rig.core.state(), State::Active, "the grace of the old session is over, not that of the new one");
}

#[test]
fn what_a_superseded_attempts_socket_says_later_does_not_touch_the_newer_one() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    let stale = rig.socket;
    rig.drive(|core, now| core.connect(now, input(), true)).unwrap();
    rig.take();
    let rejection = SocketLoss { code: Some(1008), reason: Some("already_claimed".into()), error: None };
    rig.drive(|core, now| core.handle_lost(now, stale, rejection));
    rig.drive(|core, now| core.handle_binary(now, stale));
    rig.drive(|core, now| core.handle_send_failed(now, stale));
    assert_eq!(rig.take(), [""; 0]);
    assert_eq!(rig.core.state(), State::Connecting);
}

#[test]
fn a_refused_claim_is_final_and_loses_no_session() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    rig.close(1008, "invalid_token");
    assert_eq!(
        rig.take(),
        [
            "state closed connect_error",
            "error connect: the daemon refused the connection: invalid_token",
            "settled 1 session_claim_rejected"
        ]
    );
    assert_eq!(rig.until, None);
    assert_eq!(rig.core.session_id(), None);
}

#[test]
fn claims_are_repeated_at_250_500_and_1000_ms_until_the_link_expires() {
    let mut rig = Rig::new();
    let expires_at = START_MS / 1000 + 1;
    rig.connect(ConnectInput { expires_at, ..input() }).unwrap();
    rig.drop_socket();
    rig.take();
    rig.advance(249);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(rig.take(), ["open 2 192.168.1.2 8443", "send session_claim link-token"]);
    rig.drop_socket();
    assert_eq!(rig.take(), ["error connect: Appduct claim attempt failed: the connection was lost."]);
    rig.advance(500);
    assert_eq!(rig.take(), ["open 3 192.168.1.2 8443", "send session_claim link-token"]);
    rig.lose(failure("receive_failed", false));
    rig.take();
    rig.advance(999);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(
        rig.take(),
        [
            "state closed connect_error",
            "error connect: the link expired before a claim came through: receive_failed happened",
            "settled 1 session_claim_expired"
        ]
    );
    assert_eq!(rig.until, None);
}

#[test]
fn an_error_of_a_claim_that_is_tried_again_says_so() {
    let mut rig = Rig::new();
    rig.next_failure = Some(failure("host_unreachable", true));
    rig.connect(input()).unwrap();
    let error = rig.take_errors().remove(0);
    assert_eq!(error.retryable, Some(true));
    assert_eq!(error.code.as_deref(), Some("host_unreachable"));
    assert!(error.hint.is_some());
}

#[test]
fn a_socket_that_never_opened_is_retried_only_if_the_driver_says_that_it_can_help() {
    let mut rig = Rig::new();
    rig.next_failure = Some(failure("connection_failed", false));
    rig.connect(input()).unwrap();
    assert_eq!(rig.core.state(), State::Closed);
    assert_eq!(rig.take().last().unwrap(), "settled 1 connection_failed");
}

#[test]
fn a_wrong_pin_is_never_retried_whatever_the_driver_says() {
    let mut rig = Rig::new();
    rig.next_failure = Some(failure("pin_mismatch", true));
    rig.connect(input()).unwrap();
    assert_eq!(rig.core.state(), State::Closed);
    let lines = rig.take();
    assert!(!lines.iter().any(|line| line.starts_with("send")), "the token is never sent: {lines:?}");
    assert_eq!(lines.last().unwrap(), "settled 1 pin_mismatch");
}

#[test]
fn a_close_with_1000_or_1011_before_the_ack_fails_that_attempt_only() {
    for code in [1000, 1001, 1003, 1006, 1009, 1011, 4000] {
        let mut rig = Rig::new();
        rig.connect(input()).unwrap();
        rig.close(code, "whatever");
        assert_eq!(rig.core.state(), State::Connecting, "{code}");
        rig.advance(250);
        rig.ack("resume-1");
        assert_eq!(rig.core.state(), State::Active, "{code}");
    }
}

#[test]
fn the_background_neither_skips_nor_hastens_nor_stops_a_claims_backoff() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.drop_socket();
    rig.take();
    rig.drive(Core::handle_background);
    rig.advance(100);
    rig.drive(Core::handle_foreground);
    rig.advance(149);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(rig.take().len(), 2);
}

#[test]
fn a_disconnect_during_a_claims_backoff_loses_no_session() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.drop_socket();
    rig.take();
    rig.drive(Core::disconnect);
    assert_eq!(rig.take(), ["no lease", "state closed closed_by_app", "settled 1 closed_by_app"]);
    assert_eq!(rig.until, None);
}

#[test]
fn a_claim_that_is_never_answered_gives_its_socket_up_and_tries_again() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    rig.advance(9_999);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(rig.take_without_errors(), ["close 1 1011 send_failed"]);
    rig.advance(250);
    assert_eq!(rig.take(), ["open 2 192.168.1.2 8443", "send session_claim link-token"]);
}

#[test]
fn a_claim_that_was_frozen_until_the_daemon_gave_its_socket_up_is_tried_again() {
    let mut rig = Rig::new();
    rig.opens = false;
    rig.connect(input()).unwrap();
    rig.freeze(10_000);
    rig.close(1008, "pre_claim_timeout");
    assert_eq!(rig.core.state(), State::Connecting);
    rig.opens = true;
    rig.advance(250);
    rig.ack("resume-1");
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_socket_that_opens_after_five_seconds_is_not_used_any_more() {
    for (after, is_used) in [(5_000, true), (5_001, false)] {
        let mut rig = Rig::new();
        rig.opens = false;
        rig.connect(input()).unwrap();
        rig.take();
        rig.advance(after);
        let socket = rig.socket;
        rig.drive(|core, now| core.handle_opened(now, socket));
        let expected = if is_used { "send session_claim link-token" } else { "close 1 1011 send_failed" };
        assert_eq!(rig.take_without_errors(), [expected]);
        assert_eq!(rig.core.state(), State::Connecting);
    }
}

#[test]
fn a_client_whose_build_trusts_nobody_shows_it_and_opens_no_socket() {
    let mut rig =
        Rig::with(Options { trust: crate::app::Trust { mode: Some("pin".into()), ..options().trust }, ..options() });
    assert_eq!(rig.connect(input()), Err(ConnectFault::NoEmbeddedPins));
    assert_eq!(
        rig.take(),
        ["state closed connect_error", "error connect: the app trusts embedded pins only and has none"]
    );
}

#[test]
fn every_fault_has_a_code_of_its_own_and_says_what_is_wrong() {
    let socket = SocketError { code: "receive_failed", message: "gone".into(), retryable: true };
    let faults = [
        ConnectFault::InvalidInput("port"),
        ConnectFault::Expired,
        ConnectFault::Busy,
        ConnectFault::NotALink,
        ConnectFault::InvalidPayload,
        ConnectFault::PublicAddress,
        ConnectFault::NoEmbeddedPins,
        ConnectFault::NoLinkPin,
        ConnectFault::UnknownTrustMode("lnk".into()),
        ConnectFault::Rejected("invalid_token".into()),
        ConnectFault::Socket(socket),
        ConnectFault::Superseded,
        ConnectFault::ClosedByApp,
    ];
    let codes: std::collections::BTreeSet<_> = faults.iter().map(ConnectFault::code).collect();
    assert_eq!(codes.len(), faults.len());
    assert!(ConnectFault::Busy.to_string().contains("already connecting or active"));
    assert!(ConnectFault::UnknownTrustMode("lnk".into()).to_string().contains("\"lnk\""));
}

#[test]
fn debug_shows_no_token() {
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    let shown = format!("{:?} {:?} {:?}", rig.core, rig.outputs, input());
    assert!(!shown.contains("link-token"), "{shown}");
    rig.ack("resume-1");
    let shown = format!("{:?} {:?}", rig.core, rig.outputs);
    assert!(!shown.contains("resume-1") && !shown.contains("link-token"), "{shown}");
}
