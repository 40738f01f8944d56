//! The ack, and what ends a session by will: disconnect, reload, background.

use super::rig::{Rig, SESSION, ack, tool};
use crate::app::{Core, State};

/// What a fresh claim makes of `frame`: `None` if it takes it for its ack, else the reason that it closes with.
fn refusal(frame: &str) -> Option<String> {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    rig.take();
    rig.receive(frame);
    if rig.core.state() == State::Active {
        return None;
    }
    let lines = rig.take_without_errors();
    assert_eq!(lines[1..], ["state closed connect_error", "settled 1 session_claim_rejected"]);
    assert_eq!(rig.until, None);
    assert!(lines[0].starts_with("close 1 1008 "), "{lines:?}");
    lines[0].strip_prefix("close 1 1008 ").map(str::to_owned)
}

#[test]
fn an_ack_is_taken_only_if_every_field_keeps_its_rule() {
    let good = ack("resume-1", "");
    assert_eq!(refusal(&good), None);
    assert_eq!(refusal(&ack("resume-1", r#","event_registry":true,"surplus":null"#)), None);
    assert_eq!(refusal(&good.replace(":15,", ":15.0,")), None);
    for (from, to) in [
        ("session_ack", "session_nack"),
        (r#""status":"ok""#, r#""status":"no""#),
        (SESSION, "another"),
        (r#""alias":"phone""#, r#""alias":"""#),
        (r#""alias":"phone","#, ""),
        ("resume-1", &"r".repeat(129)),
        (":15,", ":0,"),
        (":15,", ":true,"),
        (":15,", r#":"15","#),
        (":10}", ":-1}"),
        (":10}", ":1e999}"),
        (":10}", r#":10,"event_registry":false}"#),
        (":10}", r#":10,"event_registry":null}"#),
    ] {
        let wrong = good.replace(from, to);
        assert_ne!(wrong, good);
        assert_eq!(refusal(&wrong), Some("invalid_ack".into()), "{wrong}");
    }
    for wrong in ["", "nonsense", "[]", "{}"] {
        assert_eq!(refusal(wrong), Some("invalid_ack".into()), "{wrong}");
    }
}

#[test]
fn a_first_frame_with_a_reason_of_its_own_closes_with_it_cut_to_a_close_frame() {
    assert_eq!(refusal(r#"{"type":"session_error","reason":"too_old"}"#), Some("too_old".into()));
    assert_eq!(refusal(r#"{"type":"session_error","reason":""}"#), Some("invalid_ack".into()));
    let long = refusal(&format!(r#"{{"reason":"{}"}}"#, "é".repeat(100_000))).unwrap();
    assert_eq!(long, "é".repeat(61));
}

#[test]
fn a_binary_first_message_fails_that_attempt_only() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    rig.take();
    let socket = rig.socket;
    rig.drive(|core, now| core.handle_binary(now, socket));
    assert_eq!(rig.take_without_errors(), ["close 1 1003 binary_not_supported"]);
    assert_eq!(rig.core.state(), State::Connecting);
}

#[test]
fn a_message_before_the_socket_opened_is_ignored() {
    let mut rig = Rig::new();
    rig.opens = false;
    rig.connect(super::rig::input()).unwrap();
    rig.take();
    rig.ack("resume-1");
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_socket_opens_once() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    rig.take();
    let socket = rig.socket;
    rig.drive(|core, now| core.handle_opened(now, socket));
    rig.ack("resume-1");
    rig.take();
    rig.drive(|core, now| core.handle_opened(now, socket));
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_disconnect_says_goodbye_and_leaves_no_timer() {
    let mut rig = Rig::active_with_tool();
    rig.call("call-1", "ping");
    rig.take();
    rig.drive(Core::disconnect);
    assert_eq!(
        rig.take(),
        [
            "close 1 1000 client_close",
            "no lease",
            "state closed closed_by_app",
            "lost closed_by_app",
            "cancel call-1 session_suspended"
        ]
    );
    assert_eq!(rig.until, None);
    assert_eq!(rig.core.session_id(), None);
}

#[test]
fn a_disconnect_of_a_closed_client_is_confirmed_with_nothing_lost() {
    for mut rig in [Rig::new(), Rig::active()] {
        rig.drive(Core::disconnect);
        rig.take();
        rig.drive(Core::disconnect);
        assert_eq!(rig.take(), ["no lease", "state closed closed_by_app"]);
    }
}

#[test]
fn a_disconnect_while_reconnecting_loses_the_session() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.take();
    rig.drive(Core::disconnect);
    assert_eq!(rig.take(), ["no lease", "state closed closed_by_app", "lost closed_by_app"]);
    assert_eq!(rig.until, None);
}

#[test]
fn registrations_outlive_every_session() {
    let mut rig = Rig::active_with_tool();
    rig.drive(Core::disconnect);
    rig.connect(super::rig::input()).unwrap();
    rig.ack("resume-1");
    assert!(rig.take().contains(&r#"send tool_registry_snapshot ["ping"]"#.to_owned()));
}

#[test]
fn a_shutdown_keeps_the_lease_and_tells_the_listeners_nothing() {
    let mut rig = Rig::active_with_tool();
    rig.call("call-1", "ping");
    rig.take();
    rig.drive(Core::shut_down);
    assert_eq!(rig.take(), ["close 1 1001 ", "lease resume-1 lost at 0", "cancel call-1 session_suspended"]);
    assert_eq!(rig.until, None);
    rig.respond("call-1", crate::app::Answer::Result(super::rig::raw("1")));
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_shutdown_during_a_claim_settles_it() {
    let mut rig = Rig::new();
    rig.connect(super::rig::input()).unwrap();
    rig.take();
    rig.drive(Core::shut_down);
    assert_eq!(rig.take(), ["close 1 1001 ", "settled 1 closed_by_app"]);
    assert_eq!(rig.until, None);
}

#[test]
fn the_background_gives_the_socket_up_without_an_error_and_waits_for_the_foreground() {
    let mut rig = Rig::active_with_tool();
    rig.call("call-1", "ping");
    rig.take();
    rig.drive(Core::handle_background);
    assert_eq!(
        rig.take(),
        [
            "close 1 1001 app_backgrounded",
            "lease resume-1 lost at 0",
            "state reconnecting",
            "cancel call-1 session_suspended"
        ]
    );
    rig.advance(9_000);
    assert_eq!(rig.take(), [""; 0]);
    rig.drive(Core::handle_foreground);
    assert_eq!(rig.take(), ["open 2 192.168.1.2 8443", "send session_resume resume-1"]);
    rig.drive(Core::handle_foreground);
    assert_eq!(rig.take(), [""; 0], "a resume is under way");
    rig.ack("resume-2");
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn grace_goes_on_in_the_background() {
    let mut rig = Rig::active();
    rig.drive(Core::handle_background);
    rig.take();
    rig.advance(9_999);
    assert_eq!(rig.take(), [""; 0]);
    rig.advance(1);
    assert_eq!(rig.take(), ["no lease", "state closed grace_expired", "lost grace_expired"]);
    rig.drive(Core::handle_foreground);
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_socket_lost_in_the_background_is_not_replaced_before_the_foreground() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.drive(Core::handle_background);
    rig.take();
    rig.advance(5_000);
    assert_eq!(rig.take(), [""; 0]);
    rig.drive(Core::handle_foreground);
    assert_eq!(rig.take().len(), 2);
    rig.drive(Core::handle_background);
    rig.drop_socket();
    rig.take();
    rig.advance(4_000);
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn the_foreground_does_not_wait_for_a_backoff() {
    let mut rig = Rig::active();
    rig.drop_socket();
    rig.take();
    rig.drive(Core::handle_foreground);
    assert_eq!(rig.take(), ["open 2 192.168.1.2 8443", "send session_resume resume-1"]);
    rig.advance(5_000);
    assert_eq!(rig.take(), [""; 0], "the backoff that was running is gone");
}

#[test]
fn background_and_foreground_of_an_idle_client_do_nothing() {
    let mut rig = Rig::new();
    rig.drive(|core, now| core.register_tool(now, &tool("ping"))).unwrap();
    rig.drive(Core::handle_background);
    rig.drive(Core::handle_foreground);
    assert_eq!(rig.take(), [""; 0]);
    assert_eq!(rig.core.state(), State::Idle);
}
