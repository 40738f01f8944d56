//! Deep links: followed once, refused without harm.

use super::rig::{ADDRESS, EXPIRES_AT, PORT, Rig, pin};
use crate::app::{ConnectFault, Core, Phase, State};
use crate::wire::{Bootstrap, DeepLink};

fn bootstrap() -> Bootstrap {
    Bootstrap {
        address: ADDRESS,
        port: PORT,
        session_id: "session-1".into(),
        token: std::array::from_fn(|at| at as u8),
        expires_at: EXPIRES_AT,
    }
}

fn link(bootstrap: &Bootstrap) -> String {
    DeepLink { payload: bootstrap.encode().unwrap(), pin: Some(pin("daemon")) }.compose("app").unwrap()
}

fn handle(rig: &mut Rig, url: &str) -> bool {
    rig.drive(|core, now| core.handle_url(now, url))
}

#[test]
fn a_link_is_claimed_with_its_token_and_pin() {
    let mut rig = Rig::new();
    assert!(handle(&mut rig, &link(&bootstrap())));
    assert_eq!(rig.pins(), [vec![pin("daemon")]]);
    let sent = rig.take_sent();
    assert!(sent[0].contains(&format!(r#""token":"{}""#, bootstrap().token_text())));
    rig.ack("resume-1");
    assert_eq!(rig.core.state(), State::Active);
}

#[test]
fn a_url_that_is_no_appduct_link_is_left_to_the_app() {
    let mut rig = Rig::active();
    assert!(!handle(&mut rig, "app:///status?x=1#appduct=y"));
    assert_eq!(rig.take(), [""; 0]);
    let fault = rig.drive(|core, now| core.connect_link(now, "app:///status"));
    assert_eq!(fault, Err(ConnectFault::NotALink));
}

#[test]
fn a_broken_link_is_ours_all_the_same_and_harms_nothing() {
    let expired = Bootstrap { expires_at: 1, ..bootstrap() };
    let public = Bootstrap { address: "8.8.8.8".parse().unwrap(), session_id: "other".into(), ..bootstrap() };
    let too_long = Bootstrap { session_id: "x".repeat(129), ..bootstrap() };
    let other = Bootstrap { session_id: "other".into(), ..expired };
    for (url, code) in [
        ("app:///?appduct=".to_owned(), "invalid_payload"),
        ("app:///?appduct=nonsense".to_owned(), "invalid_payload"),
        (link(&other), "expired_payload"),
        (link(&public), "public_address"),
        (link(&too_long), "invalid_input"),
    ] {
        let mut rig = Rig::active();
        assert!(handle(&mut rig, &url), "{url}");
        assert_eq!(rig.core.state(), State::Active);
        let errors = rig.take_errors();
        assert_eq!(errors.len(), 1, "{url}");
        assert_eq!((errors[0].phase, errors[0].code.as_deref()), (Phase::Bootstrap, Some(code)));
    }
}

#[test]
fn a_link_without_a_pin_is_both_a_connect_and_a_bootstrap_error() {
    let mut rig = Rig::new();
    assert!(handle(&mut rig, &format!("app:///?appduct={}", bootstrap().encode().unwrap())));
    let phases: Vec<_> = rig.take_errors().iter().map(|error| error.phase).collect();
    assert_eq!(phases, [Phase::Connect, Phase::Bootstrap]);
}

#[test]
fn a_link_whose_claim_fails_is_both_a_connect_and_a_bootstrap_error() {
    let mut rig = Rig::new();
    handle(&mut rig, &link(&bootstrap()));
    rig.take();
    rig.close(1008, "invalid_token");
    assert_eq!(
        rig.take(),
        [
            "state closed connect_error",
            "error connect: the daemon refused the connection: invalid_token",
            "error bootstrap: the daemon refused the connection: invalid_token"
        ],
        "and nobody waits for it to settle"
    );
}

#[test]
fn a_link_that_the_system_delivers_again_is_ignored_while_its_session_lives() {
    let mut rig = Rig::new();
    let url = link(&bootstrap());
    handle(&mut rig, &url);
    rig.take();
    assert!(handle(&mut rig, &url));
    rig.ack("resume-1");
    rig.take();
    assert!(handle(&mut rig, &url));
    assert_eq!(rig.drive(|core, now| core.connect_link(now, &url)), Ok(None));
    assert_eq!(rig.take(), [""; 0]);
    rig.drop_socket();
    rig.take();
    assert!(handle(&mut rig, &url));
    assert_eq!(rig.take(), [""; 0], "a session that reconnects is not thrown away for a token that is spent");
    rig.drive(Core::disconnect);
    assert!(handle(&mut rig, &url));
    assert_eq!(rig.core.state(), State::Connecting);
}

#[test]
fn a_link_for_another_session_supersedes_the_one_that_is_there() {
    let mut rig = Rig::active();
    let other = Bootstrap { session_id: "session-2".into(), ..bootstrap() };
    let attempt = rig.drive(|core, now| core.connect_link(now, &link(&other))).unwrap();
    assert!(attempt.is_some());
    assert_eq!(rig.core.session_id(), Some("session-2"));
    assert_eq!(rig.take()[..3], ["no lease", "close 1 1000 client_close", "state connecting"]);
}

#[test]
fn a_caller_of_connect_link_gets_the_fault_and_listeners_do_not_hear_it_twice() {
    let mut rig = Rig::new();
    let fault = rig.drive(|core, now| core.connect_link(now, "app:///?appduct=x"));
    assert_eq!(fault, Err(ConnectFault::InvalidPayload));
    assert_eq!(rig.take(), [""; 0]);
    assert_eq!(rig.core.state(), State::Idle);
}
