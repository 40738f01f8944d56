//! `web.attach`: a page that is reached through its browser.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{Browser, Daemon, Heard, PATIENCE, Sdk, Tab, eventually};

const SHOP: &str = "http://localhost:3000/shop";

fn shop(sdk: Sdk) -> Browser {
    Browser::start(vec![Tab { id: "SHOP", url: SHOP, sdk }, Tab { id: "BLANK", url: "about:blank", sdk }])
}

fn attach(daemon: &Daemon, browser: &Browser, params: Value) -> Result<Value, Value> {
    let mut all = json!({"url": SHOP, "browserUrl": browser.url()});
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    daemon.call("web.attach", all)
}

/// The page has its socket and its ack.
fn expect_ack(browser: &Browser, socket: u64) -> Value {
    let open = browser.received();
    assert_eq!(open, json!({"kind": "open", "socket": socket}));
    let ack = browser.frame();
    assert_eq!(ack["type"], "session_ack", "{ack}");
    ack
}

/// The message of a refusal.
fn refused(result: Result<Value, Value>) -> String {
    let error = result.unwrap_err();
    assert_eq!((&error["code"], &error["data"]["type"]), (&json!(-32000), &json!("invalid_request")), "{error}");
    error["message"].as_str().unwrap().to_owned()
}

fn pending_links(daemon: &Daemon) -> Value {
    daemon.call("daemon.status", json!({})).unwrap()["pendingLinks"].clone()
}

#[test]
fn a_page_is_paired_through_its_browser_and_answers_calls() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    let attached = attach(&daemon, &browser, json!({"ttlSeconds": 60})).unwrap();
    let ack = expect_ack(&browser, 1);
    assert_eq!((&attached["url"], &attached["targetId"]), (&json!(SHOP), &json!("SHOP")));
    assert_eq!(attached["sessionId"], ack["session_id"]);
    assert!(attached["expiresAt"].as_u64().is_some());

    let session = &ack["session_id"];
    let tools = json!([{"name": "title", "description": "The page's title."}]);
    browser.sends(&json!({"type": "tool_registry_snapshot", "session_id": session, "tools": tools}));
    eventually("the tool is registered", || daemon.sessions()[0]["toolCount"] == 1);
    let mut caller = daemon.control();
    caller.request("tools.call", json!({"name": "title", "args": {"q": "\"\\\n\u{2028}<😀>"}}));
    let call = browser.frame();
    assert_eq!(call["args"]["q"], "\"\\\n\u{2028}<😀>");
    let text = format!(
        r#"{{"type":"tool_result","session_id":{session},"id":{},"result":{{"n" : 1.0,"s":"\ud800"}}}}"#,
        call["id"]
    );
    browser.says(json!({"kind": "send", "text": text}));
    let reply = caller.line().unwrap();
    assert!(reply.contains(r#"{"n" : 1.0,"s":"\ud800"}"#), "byte for byte: {reply}");
}

#[test]
fn a_tab_that_is_named_is_led_to_the_page() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    let attached = attach(&daemon, &browser, json!({"targetId": "BLANK"})).unwrap();
    assert_eq!((&attached["url"], &attached["targetId"]), (&json!(SHOP), &json!("BLANK")));
    assert_eq!(browser.heard(), Heard::Navigated(SHOP.to_owned()));
    expect_ack(&browser, 1);
    let message = refused(attach(&daemon, &browser, json!({"targetId": "BLANK", "url": "http://unreachable"})));
    assert!(message.contains("ERR_CONNECTION_REFUSED"), "{message}");
}

#[test]
fn a_browser_that_is_elsewhere_or_no_browser_is_refused() {
    let daemon = Daemon::start();
    for url in ["http://192.0.2.7:9222", "ws://127.0.0.1:9222", "http://localhost.evil.example:1", "nonsense"] {
        let message = refused(daemon.call("web.attach", json!({"url": SHOP, "browserUrl": url})));
        assert!(message.contains("browserUrl") && message.contains("127.0.0.1"), "{message}");
    }
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let nobody = format!("http://127.0.0.1:{free}");
    let message = refused(daemon.call("web.attach", json!({"url": SHOP, "browserUrl": nobody})));
    assert!(message.contains("--remote-debugging-port"), "{message}");
    let web_port = format!("http://127.0.0.1:{}", daemon.web_port);
    let message = refused(daemon.call("web.attach", json!({"url": SHOP, "browserUrl": web_port})));
    assert!(message.contains("no list of tabs"), "{message}");
    for params in [json!({}), json!({"url": "", "browserUrl": "x"}), json!({"url": "x", "browserUrl": 7}), json!([])] {
        refused(daemon.call("web.attach", params));
    }
    assert_eq!(pending_links(&daemon), 0);
}

#[test]
fn a_browser_that_says_nothing_is_not_waited_for_for_ever() {
    let daemon = Daemon::start();
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let started = Instant::now();
    let message = refused(daemon.call("web.attach", json!({"url": SHOP, "browserUrl": url})));
    assert!(message.contains("within 5 seconds") && started.elapsed() < PATIENCE, "{message}");
}

#[test]
fn no_tab_or_several_are_listed() {
    let daemon = Daemon::start();
    let tab = |id, url| Tab { id, url, sdk: Sdk::Claims };
    let browser = Browser::start(vec![tab("A", "http://localhost:3000/a"), tab("B", "http://localhost:3000/b")]);
    let message = refused(attach(&daemon, &browser, json!({})));
    assert!(message.ends_with("\nA http://localhost:3000/a\nB http://localhost:3000/b"), "{message}");
    let message = refused(attach(&daemon, &browser, json!({"url": "http://localhost:3000"})));
    assert!(message.contains("several tabs") && message.lines().count() == 3, "{message}");
    let message = refused(attach(&daemon, &browser, json!({"targetId": "C"})));
    assert!(message.contains("no tab \"C\""), "{message}");
    assert_eq!(pending_links(&daemon), 0);
}

#[test]
fn a_page_without_the_sdk_or_that_does_not_take_the_link_leaves_no_link_behind() {
    let daemon = Daemon::start();
    let message = refused(attach(&daemon, &shop(Sdk::Absent), json!({})));
    assert!(message.contains("@appduct/web"), "{message}");
    let message = refused(attach(&daemon, &shop(Sdk::Throws), json!({})));
    assert!(message.contains("Error: not this link"), "{message}");
    eventually("the link is gone", || pending_links(&daemon) == 0);
    let message = refused(attach(&daemon, &shop(Sdk::Claims), json!({"ttlSeconds": 1_000_000_000})));
    assert!(message.contains("ttlSeconds"), "{message}");
}

#[test]
fn a_page_that_was_told_is_attached_whatever_it_says() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Silent));
    attach(&daemon, &browser, json!({})).unwrap();
    assert_eq!(pending_links(&daemon), 1);
}

#[test]
fn a_page_that_goes_away_suspends_and_its_next_document_resumes() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    attach(&daemon, &browser, json!({})).unwrap();
    let ack = expect_ack(&browser, 1);
    browser.reloads(9);
    eventually("the session is suspended", || daemon.sessions()[0]["suspendReason"] == "connection_lost");
    // What the old document may still say is nobody's.
    browser.says(json!({"kind": "open", "socket": 2}));
    browser.says_in(9, json!({"kind": "open", "socket": 1}));
    assert_eq!(browser.received(), json!({"kind": "open", "socket": 1}));
    let resume = json!({
        "type": "session_resume", "protocol_version": 2,
        "session_id": ack["session_id"], "resume_token": ack["resume_token"],
    });
    browser.says_in(9, json!({"kind": "send", "text": resume.to_string()}));
    assert_eq!(browser.frame()["type"], "session_ack");
    assert_eq!(daemon.sessions()[0]["state"], "active");
    // A page that goes to the background says so itself.
    browser.says_in(9, json!({"kind": "close", "code": 1001, "reason": "app_backgrounded"}));
    eventually("the session is suspended", || daemon.sessions()[0]["suspendReason"] == "app_backgrounded");
}

#[test]
fn a_tab_that_is_closed_suspends_the_session() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    attach(&daemon, &browser, json!({})).unwrap();
    expect_ack(&browser, 1);
    browser.closes_tab();
    eventually("the session is suspended", || daemon.sessions()[0]["state"] == "suspended");
}

#[test]
fn a_frame_that_breaks_a_rule_closes_the_pages_socket_with_the_same_code() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    attach(&daemon, &browser, json!({})).unwrap();
    expect_ack(&browser, 1);
    browser.says(json!({"kind": "send", "text": "nonsense"}));
    assert_eq!(browser.received(), json!({"kind": "close", "socket": 1, "code": 1008, "reason": "invalid_json"}));
    // Nothing is open: this goes nowhere, and the relay goes on.
    browser.says(json!({"kind": "send", "text": "{}"}));
    browser.says(json!({"kind": "close", "code": 1000, "reason": ""}));
    browser.says(json!({"kind": "open", "socket": 2}));
    assert_eq!(browser.received(), json!({"kind": "open", "socket": 2}));
    browser.says(json!({"kind": "send", "text": "a".repeat(300_000)}));
    assert_eq!(browser.received(), json!({"kind": "close", "socket": 2, "code": 1009, "reason": ""}));
}

#[test]
fn a_tab_has_one_relay_and_the_newer_link_counts() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    attach(&daemon, &browser, json!({})).unwrap();
    let first = expect_ack(&browser, 1);
    let attached = attach(&daemon, &browser, json!({})).unwrap();
    browser.detached();
    assert_ne!(attached["sessionId"], first["session_id"]);
    eventually("the second session is the live one", || {
        let state = |id: &Value| daemon.session(id.as_str().unwrap()).map(|session| session["state"].clone());
        state(&first["session_id"]) == Some(json!("suspended"))
            && state(&attached["sessionId"]) == Some(json!("active"))
    });
}

#[test]
fn a_revoked_page_hears_it_and_so_does_one_whose_daemon_goes() {
    let (daemon, browser) = (Daemon::start(), shop(Sdk::Claims));
    attach(&daemon, &browser, json!({})).unwrap();
    expect_ack(&browser, 1);
    daemon.call("sessions.revoke", json!({})).unwrap();
    assert_eq!(browser.received(), json!({"kind": "close", "socket": 1, "code": 1000, "reason": "revoked"}));
    attach(&daemon, &browser, json!({})).unwrap();
    expect_ack(&browser, 1);
    daemon.stop();
    let close = json!({"kind": "close", "socket": 1, "code": 1001, "reason": "daemon_shutdown"});
    assert_eq!(browser.received(), close);
    browser.detached();
}
