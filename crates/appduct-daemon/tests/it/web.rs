//! The listener for web pages.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use appduct_proto::wire::Bootstrap;
use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::harness::{App, Daemon, PATIENCE, WebApp, eventually, web_upgrade};

/// A page that has claimed a fresh link.
fn page(daemon: &Daemon, model: &str) -> WebApp {
    let mut page = web_upgrade(daemon.web_port, Some("http://localhost:5173")).unwrap();
    page.claim(&daemon.web_link(), model);
    page.expect_ack();
    page
}

#[test]
fn a_web_link_leads_to_the_web_port_on_loopback_whatever_is_advertised() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"192.0.2.7"}"#);
    let endpoint = json!({"family": 4, "address": "127.0.0.1", "port": daemon.web_port});
    assert_eq!(daemon.call("daemon.status", json!({})).unwrap()["webPort"], daemon.web_port);
    for params in [json!({"transport": "web"}), json!({"transport": "web", "addressOverride": "fd00::5"})] {
        let link = daemon.call("link.create", params).unwrap();
        assert_eq!(link["endpoint"], endpoint);
        let bootstrap = Bootstrap::decode(link["deepLinkPayload"].as_str().unwrap()).unwrap();
        assert_eq!((bootstrap.address.to_string(), bootstrap.port), ("127.0.0.1".to_owned(), daemon.web_port));
    }
}

#[test]
fn an_advertised_address_that_is_none_does_not_concern_web_links() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"my-mac.local"}"#);
    page(&daemon, "x");
}

#[test]
fn a_page_claims_answers_calls_and_resumes() {
    let daemon = Daemon::start();
    let mut page = page(&daemon, "Chrome");
    assert_eq!(page.alias, "chrome");
    page.send_snapshot(json!([{"name": "title", "description": "The page's title."}]));
    eventually("the tool is registered", || daemon.sessions()[0]["toolCount"] == 1);
    let mut caller = daemon.control();
    let id = caller.request("tools.call", json!({"name": "title", "args": {}}));
    let call = page.frame();
    page.send(json!({"type": "tool_result", "session_id": page.session_id, "id": call["id"], "result": "Shop"}));
    let reply = caller.value();
    assert_eq!((&reply["id"], &reply["result"]["result"]), (&json!(id), &json!("Shop")));

    let (session, token) = (page.session_id.clone(), page.resume_token.clone());
    page.ws.close(Some(CloseFrame { code: 1001.into(), reason: "app_backgrounded".into() })).unwrap();
    eventually("the session is suspended", || daemon.sessions()[0]["suspendReason"] == "app_backgrounded");
    let mut again = WebApp::connect_to_web(daemon.web_port);
    again.resume(&session, &token);
    again.expect_ack();
    assert_eq!((&*again.alias, &daemon.sessions()[0]["state"]), ("chrome", &json!("active")));
}

#[test]
fn shutdown_tells_pages_too() {
    let daemon = Daemon::start();
    let page = page(&daemon, "x");
    let silent = WebApp::connect_to_web(daemon.web_port);
    eventually("both sockets are seen", || daemon.call("daemon.status", json!({})).unwrap()["openSockets"] == 2);
    let port = daemon.web_port;
    daemon.stop();
    page.expect_close(1001, "daemon_shutdown");
    silent.expect_close(1001, "daemon_shutdown");
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}

#[test]
fn a_link_for_the_other_listener_is_refused_and_stays_good() {
    let daemon = Daemon::start();
    let (web, native) = (daemon.web_link(), daemon.link());
    // As often as wrong tokens would burn a link.
    for _ in 0..5 {
        let mut app = daemon.socket();
        app.claim(&web, "x");
        app.expect_close(1008, "wrong_transport");
        let mut page = WebApp::connect_to_web(daemon.web_port);
        page.claim(&native, "x");
        page.expect_close(1008, "wrong_transport");
    }
    let mut page = WebApp::connect_to_web(daemon.web_port);
    page.claim(&web, "x");
    page.expect_ack();
    let mut app = daemon.socket();
    app.claim(&native, "y");
    app.expect_ack();
}

#[test]
fn a_session_resumes_on_its_own_listener_only() {
    let daemon = Daemon::start();
    let (page, app) = (page(&daemon, "x"), daemon.app("y"));
    let mut wrong = daemon.socket();
    wrong.resume(&page.session_id, &page.resume_token);
    wrong.expect_close(1008, "wrong_transport");
    let mut wrong = WebApp::connect_to_web(daemon.web_port);
    wrong.resume(&app.session_id, &app.resume_token);
    wrong.expect_close(1008, "wrong_transport");
    assert!(daemon.sessions().iter().all(|session| session["state"] == "active"), "nobody was disturbed");

    let mut right = WebApp::connect_to_web(daemon.web_port);
    right.resume(&page.session_id, &page.resume_token);
    right.expect_ack();
    let mut right = App::connect(daemon.port);
    right.resume(&app.session_id, &app.resume_token);
    right.expect_ack();
}

#[test]
fn a_strangers_page_is_refused_before_it_can_touch_a_link() {
    let daemon = Daemon::with_config(r#"{"wssPort":0,"webOrigins":["https://app.example"]}"#);
    let link = daemon.web_link();
    for origin in [
        "null",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.2",
        "http://localhost.",
        "https://app.example.evil.example",
        "https://app.example:8443",
        "http://app.example",
    ] {
        assert_eq!(web_upgrade(daemon.web_port, Some(origin)).err(), Some(403), "{origin}");
    }
    let status = daemon.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["pendingLinks"], &status["openSockets"]), (&json!(1), &json!(0)));
    for origin in [
        None,
        Some("http://localhost:3000"),
        Some("https://127.0.0.1:1"),
        Some("http://[::1]:8080"),
        Some("http://LOCALHOST:1"),
        Some("http://127.1"),
        Some("https://app.example"),
    ] {
        assert!(web_upgrade(daemon.web_port, origin).is_ok(), "{origin:?}");
    }
    let mut page = web_upgrade(daemon.web_port, Some("https://app.example")).unwrap();
    page.claim(&link, "x");
    page.expect_ack();
}

#[test]
fn plain_http_gets_426_and_one_line() {
    let daemon = Daemon::start();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, daemon.web_port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    let (head, body) = heard.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 426 ") && head.contains("text/plain"), "{heard}");
    assert_eq!(body.lines().count(), 1, "{heard}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_web_port_is_on_one_address_only() {
    let daemon = Daemon::start();
    let elsewhere = Ipv4Addr::new(127, 0, 0, 2);
    assert!(TcpStream::connect((elsewhere, daemon.port)).is_ok());
    assert!(TcpStream::connect((elsewhere, daemon.web_port)).is_err());
}

#[test]
fn a_page_that_breaks_a_rule_hears_the_same_codes_as_an_app() {
    let daemon = Daemon::start();
    let mut garbage = WebApp::connect_to_web(daemon.web_port);
    garbage.send_text("nonsense");
    garbage.expect_close(1008, "invalid_json");
    let mut oversize = page(&daemon, "x");
    oversize.send_text(&"a".repeat(300_000));
    oversize.expect_close(1009, "");
    let error = daemon.call("tools.call", json!({"name": "a", "args": {}})).unwrap_err();
    assert_eq!(error["data"]["type"], "session_suspended");
}
