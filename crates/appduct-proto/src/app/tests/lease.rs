//! The lease, and resuming from it after a reload.

use super::rig::{Rig, START_MS, input, lease, options};
use crate::Timestamp;
use crate::app::{Core, Lease, Options, State, Trust};

fn restore(rig: &mut Rig, lease: Option<Lease>) -> bool {
    rig.drive(|core, now| core.restore_session(now, lease))
}

#[test]
fn a_lease_resumes_at_once_with_its_own_pin() {
    let mut rig = Rig::new();
    assert!(restore(&mut rig, Some(lease())));
    assert_eq!(rig.pins(), [vec![super::rig::pin("daemon")]]);
    assert_eq!(
        rig.take(),
        ["lease resume-0 lost at 0", "state reconnecting", "open 1 192.168.1.2 8443", "send session_resume resume-0"]
    );
    assert_eq!((rig.core.session_id(), rig.core.alias()), (Some("session-1"), Some("phone")));
    rig.ack("resume-1");
    assert_eq!(
        rig.take(),
        ["lease resume-1", "state active", "resumed session-1 phone", "send tool_registry_snapshot []"]
    );
}

#[test]
fn grace_counts_from_the_loss_that_the_lease_names() {
    let mut rig = Rig::new();
    let lost_at = Some(Timestamp(START_MS - 9_000));
    assert!(restore(&mut rig, Some(Lease { disconnected_at: lost_at, ..lease() })));
    rig.opens = false;
    rig.take();
    rig.advance(999);
    assert_eq!(rig.core.state(), State::Reconnecting);
    rig.advance(1);
    assert_eq!(rig.core.state(), State::Closed);
}

#[test]
fn a_lease_whose_grace_is_over_is_cleared() {
    let mut rig = Rig::new();
    let lost_at = Some(Timestamp(START_MS - 10_000));
    assert!(!restore(&mut rig, Some(Lease { disconnected_at: lost_at, ..lease() })));
    assert_eq!(rig.take(), ["no lease"]);
    assert_eq!(rig.core.state(), State::Idle);
    assert_eq!(rig.until, None);
}

#[test]
fn a_loss_in_the_future_counts_as_now() {
    let mut rig = Rig::new();
    let lost_at = Some(Timestamp(START_MS + 1_000_000));
    assert!(restore(&mut rig, Some(Lease { disconnected_at: lost_at, ..lease() })));
    rig.opens = false;
    rig.advance(10_000);
    assert_eq!(rig.core.state(), State::Closed);
}

#[test]
fn a_lease_out_of_bounds_is_cleared() {
    for wrong in [
        Lease { session_id: String::new(), ..lease() },
        Lease { resume_token: "x".repeat(129), ..lease() },
        Lease { alias: String::new(), ..lease() },
        Lease { port: 0, ..lease() },
        Lease { grace_s: f64::NAN, ..lease() },
        Lease { grace_s: -1.0, ..lease() },
        Lease { keepalive_interval_s: f64::INFINITY, ..lease() },
        Lease { keepalive_interval_s: 0.0, ..lease() },
        Lease { link_pin: None, ..lease() },
        Lease { address: "8.8.8.8".parse().unwrap(), ..lease() },
    ] {
        let mut rig = Rig::new();
        assert!(!restore(&mut rig, Some(wrong.clone())), "{wrong:?}");
        assert_eq!(rig.take(), ["no lease"]);
        assert_eq!(rig.core.state(), State::Idle);
    }
}

#[test]
fn no_lease_is_no_resume_and_clears_nothing() {
    let mut rig = Rig::new();
    assert!(!restore(&mut rig, None));
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_busy_client_keeps_its_session_and_the_lease() {
    let mut rig = Rig::active();
    assert!(!restore(&mut rig, Some(lease())));
    rig.drop_socket();
    assert!(!restore(&mut rig, Some(lease())));
    assert_eq!(rig.core.state(), State::Reconnecting);
    assert_eq!(rig.take_without_errors(), ["lease resume-1 lost at 0", "state reconnecting"]);
    let mut rig = Rig::new();
    rig.connect(input()).unwrap();
    rig.take();
    assert!(!restore(&mut rig, Some(lease())));
    assert_eq!(rig.take(), [""; 0]);
}

#[test]
fn a_closed_client_can_restore() {
    let mut rig = Rig::active();
    rig.drive(Core::disconnect);
    assert!(restore(&mut rig, Some(lease())));
}

#[test]
fn embedded_pins_count_for_a_lease_too() {
    let embedded = super::rig::pin("embedded");
    let trust = Trust { embedded_pins: vec![embedded], ..options().trust };
    let mut rig = Rig::with(Options { trust, ..options() });
    assert!(restore(&mut rig, Some(lease())));
    assert_eq!(rig.pins(), [vec![embedded]]);
}

#[test]
fn a_lease_as_text_comes_back_the_same() {
    for lease in [
        lease(),
        Lease {
            address: "fd00::1".parse().unwrap(),
            keepalive_interval_s: 0.5,
            disconnected_at: Some(Timestamp(START_MS)),
            link_pin: None,
            alias: "a \"quoted\" 😀".into(),
            ..lease()
        },
    ] {
        let text = lease.encode();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        assert!(Lease::decode(&text) == Some(lease), "{text}");
    }
}

#[test]
fn a_text_that_is_no_lease_is_none() {
    let good = lease().encode();
    for (from, to) in [
        (r#""schemaVersion":1"#, r#""schemaVersion":2"#),
        (r#""schemaVersion":1,"#, ""),
        ("resume-0", ""),
        ("192.168.1.2", "example.com"),
        (":8443", ":0"),
        (":8443", ":65536"),
        (r#""graceS":10"#, r#""graceS":0"#),
        (r#""graceS":10"#, r#""graceS":true"#),
        (r#""disconnectedAtMs":null"#, r#""disconnectedAtMs":"now""#),
        ("sha256/", "sha1/"),
    ] {
        let wrong = good.replace(from, to);
        assert_ne!(wrong, good);
        assert!(Lease::decode(&wrong).is_none(), "{wrong}");
    }
    for wrong in ["", "[]", "null", "{}"] {
        assert!(Lease::decode(wrong).is_none());
    }
}

#[test]
fn debug_of_a_lease_hides_the_token() {
    assert!(!format!("{:?}", lease()).contains("resume-0"));
}
