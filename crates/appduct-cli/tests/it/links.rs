//! `link`.

use serde_json::json;

use crate::fake_daemon::{FakeDaemon, plain_status, result};
use crate::run::Place;

const PIN: &str = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn daemon() -> FakeDaemon {
    FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        _ => result(
            json!({
                "sessionId": "s1",
                "deepLinkPayload": "AQQ",
                "endpoint": { "family": 4, "address": "192.168.1.5", "port": 8443 },
                "expiresAt": 1_773_741_600,
                "pin": PIN,
            })
            .to_string(),
        ),
    })
}

#[test]
fn a_link_in_both_forms() {
    let daemon = daemon();
    insta::assert_snapshot!("link", daemon.place.run(&["link", "--scheme", "demo", "--ttl", "60"]));
    assert_eq!(daemon.seen(), [("link.create".to_owned(), json!({ "ttlSeconds": 60 }))]);
    assert_eq!(
        daemon.place.run(&["link", "--scheme", "demo", "--json", "--qr"]).ok(),
        "{\"ok\":true,\"data\":{\"sessionId\":\"s1\",\"deepLink\":\"demo:///?appduct=AQQ&pin=sha256%2FAAAAAAAAAAAAAAAAAAAAAAAAAA\
         AAAAAAAAAAAAAAAAA%3D\",\"endpoint\":{\"family\":4,\"address\":\"192.168.1.5\",\"port\":8443},\"expiresAt\":1773741600,\
         \"pin\":\"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"}}\n"
    );
    assert_eq!(
        daemon.place.run(&["sessions", "link", "--scheme", "demo"]).ok(),
        daemon.place.run(&["link", "--scheme", "demo"]).ok()
    );
}

#[test]
fn a_code_is_drawn_after_the_link() {
    insta::assert_snapshot!("link_qr", daemon().place.run(&["link", "--scheme", "demo", "--qr"]));
}

#[test]
fn the_scheme_comes_from_the_first_place_that_names_one() {
    let daemon = daemon();
    let link_of = |args: &[&str], env: &[(&str, &str)]| {
        let document = daemon.place.run_with(&[&["link", "--json"], args].concat(), env).json();
        document["data"]["deepLink"].as_str().unwrap().split(':').next().unwrap().to_owned()
    };
    std::fs::write(daemon.place.work().join("app.json"), r#"{"expo":{"scheme":"expo"}}"#).unwrap();
    assert_eq!(link_of(&[], &[]), "expo");
    std::fs::write(daemon.place.state_dir().join("config.json"), r#"{"scheme":"state"}"#).unwrap();
    assert_eq!(link_of(&[], &[]), "state");
    std::fs::create_dir(daemon.place.root().join(".appduct")).unwrap();
    std::fs::write(daemon.place.root().join(".appduct/config.json"), r#"{"scheme":"project"}"#).unwrap();
    assert_eq!(link_of(&[], &[]), "project");
    assert_eq!(link_of(&[], &[("APPDUCT_SCHEME", "env")]), "env");
    assert_eq!(link_of(&["--scheme", "flag"], &[("APPDUCT_SCHEME", "env")]), "flag");
    assert_eq!(link_of(&["--scheme", ""], &[("APPDUCT_SCHEME", "")]), "project");
}

#[test]
fn without_a_scheme_nothing_is_minted() {
    let place = Place::new();
    insta::assert_snapshot!("link_no_scheme", place.run(&["link"]));
    assert!(!place.state_dir().exists());
    let (code, kind, message) = place.run(&["link", "--scheme", "demo://", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (64, "usage_error"));
    assert!(message.starts_with("Invalid deep-link scheme \"demo://\" (from --scheme)"), "{message}");
    let (code, _, message) = place.run(&["link", "--scheme", "123", "--json"]).failure();
    assert_eq!(code, 64);
    assert!(message.starts_with("Invalid deep-link scheme \"123\""), "{message}");
}
