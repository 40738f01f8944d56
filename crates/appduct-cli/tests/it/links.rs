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

#[test]
fn a_web_page_is_paired_through_its_address_or_through_its_browser() {
    let daemon = FakeDaemon::new(|method, _| {
        match method {
        "daemon.status" => plain_status(),
        "web.attach" => result(
            json!({ "sessionId": "s2", "url": "http://localhost:3000/shop", "targetId": "T1", "expiresAt": 1_773_741_600 })
                .to_string(),
        ),
        _ => result(
            json!({
                "sessionId": "s1",
                "deepLinkPayload": "AQQ",
                "endpoint": { "family": 4, "address": "127.0.0.1", "port": 50_000 },
                "expiresAt": 1_773_741_600,
                "pin": PIN,
            })
            .to_string(),
        ),
    }
    });
    let page = ["link", "--open", "web", "http://localhost:3000"];
    insta::assert_snapshot!("link_web", daemon.place.run(&page));
    assert_eq!(
        daemon.place.run(&[&page[..], &["--json", "--ttl", "60"]].concat()).ok(),
        "{\"ok\":true,\"data\":{\"sessionId\":\"s1\",\"url\":\"http://localhost:3000#appduct=AQQ\",\
         \"script\":\"window.__APPDUCT__.connect(\\\"AQQ\\\")\",\"expiresAt\":1773741600}}\n"
    );
    let browser = ["--browser-url", "http://127.0.0.1:9222", "--target-id", "T1"];
    insta::assert_snapshot!("link_attached", daemon.place.run(&[&page[..], &browser].concat()));
    assert_eq!(
        daemon.place.run(&[&page[..], &browser, &["--json"]].concat()).ok(),
        "{\"ok\":true,\"data\":{\"sessionId\":\"s2\",\"url\":\"http://localhost:3000/shop\",\"targetId\":\"T1\",\
         \"expiresAt\":1773741600}}\n"
    );
    let attach = json!({ "url": "http://localhost:3000", "browserUrl": "http://127.0.0.1:9222", "targetId": "T1" });
    assert_eq!(
        daemon.seen(),
        [
            ("link.create".to_owned(), json!({ "transport": "web" })),
            ("link.create".to_owned(), json!({ "ttlSeconds": 60, "transport": "web" })),
            ("web.attach".to_owned(), attach.clone()),
            ("web.attach".to_owned(), attach),
        ]
    );
}

#[test]
fn what_does_not_belong_to_a_web_page_is_refused() {
    let place = Place::new();
    for (args, message) in [
        (&["http://localhost"][..], "\"<url>\" only applies to \"--open web\"."),
        (&["--browser-url", "http://localhost:9222"], "\"--browser-url\" only applies to \"--open web\"."),
        (&["--open", "android", "--target-id", "x"], "\"--target-id\" only applies to \"--open web\"."),
        (&["--open", "web"], "\"--open web\" requires the page's address, such as http://localhost:3000."),
        (&["--open", "web", "file:///x"], "\"--open web\" takes an http or https address; got \"file:///x\"."),
        (&["--open", "web", "http://"], "\"--open web\" takes an http or https address; got \"http://\"."),
        (
            &["--open", "web", "http://a", "--target-id", "x"],
            "\"--target-id\" only applies together with \"--browser-url\".",
        ),
        (&["--open", "web", "http://a", "--device", "x"], "\"--device\" does not apply to \"--open web\"."),
        (&["--open", "web", "http://a", "--qr"], "\"--qr\" does not apply to \"--open web\"."),
        (&["--open", "web", "http://a", "--browser-url"], "\"--browser-url\" requires a value."),
    ] {
        let refused = place.run(&[&["--json", "link"], args].concat()).failure();
        assert_eq!(refused, (64, "usage_error".to_owned(), message.to_owned()), "{args:?}");
    }
    assert!(!place.state_dir().exists());
}
