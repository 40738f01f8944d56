//! Pairing an app, and its events.

use serde_json::json;

use super::agent::{Agent, Era};
use super::app::{App, Playground, place_with};
use crate::transcripts::start_daemon;

#[test]
fn an_agent_pairs_an_app_with_a_link() {
    let place = place_with(json!({}));
    let _daemon = start_daemon(&place);
    for era in Era::BOTH {
        let mut agent = Agent::start(&place, &["--scheme", "playground"], era);
        let none = agent.refusal("appduct_list_tools", json!({}));
        assert!(none.starts_with("no_session: ") && none.contains("appduct_connect"), "{none}");
        let link = agent.answer("appduct_connect", json!({"target": "none", "ttlSeconds": 600}));
        let deep_link = link["deepLink"].as_str().unwrap();
        assert!(deep_link.starts_with("playground:///?appduct=") && deep_link.contains("&pin="), "{link}");
        assert!(link["qr"].as_str().unwrap().lines().count() > 20 && link["instructions"].is_string(), "{link}");
        let id = agent.ask_tool("appduct_wait_for_session", json!({"sessionId": link["sessionId"]}));
        let playground = Playground::start(&place, &["--link", deep_link]);
        let waited = agent.result(id)["structuredContent"].clone();
        assert_eq!(waited, json!({"sessionId": link["sessionId"], "claimed": true, "alias": "playground"}));
        drop(playground);
        assert!(place.run(&["revoke", "playground"]).code == Some(0));
    }
}

#[test]
fn without_devices_a_code_is_drawn_and_a_page_gets_a_script() {
    let place = place_with(json!({}));
    let _daemon = start_daemon(&place);
    let mut agent = Agent::start(&place, &[], Era::Handshake);
    let link = agent.answer("appduct_connect", json!({}));
    assert!(link["note"].as_str().unwrap().contains("no booted iOS simulator") && link["qr"].is_string(), "{link}");
    let page = agent.answer("appduct_connect", json!({"target": "web", "url": "http://localhost:3000/"}));
    assert!(page["url"].as_str().unwrap().starts_with("http://localhost:3000/#appduct="), "{page}");
    assert!(page["script"].as_str().unwrap().starts_with("window.__APPDUCT__.connect(\""), "{page}");
    let missing = agent.refusal("appduct_connect", json!({"target": "android"}));
    assert!(missing.starts_with("invalid_request: No app id found."), "{missing}");
}

#[test]
fn a_wait_that_runs_out_says_that_it_may_be_repeated() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Inline);
    let said = agent.refusal("appduct_wait_for_session", json!({"sessionId": "nobody", "timeoutMs": 50}));
    assert!(said.starts_with("tool_timeout: ") && said.contains("may be repeated"), "{said}");
    let said = agent.refusal("appduct_wait_for_event", json!({"name": "order*", "timeoutMs": 50}));
    assert!(said.starts_with("tool_timeout: no event \"order*\""), "{said}");
}

#[test]
fn declared_events_are_listed_with_a_schema_for_one() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let all = agent.answer("appduct_list_events", json!({}));
    assert_eq!(all["events"][0]["signature"], "playground_ping(at: int)");
    assert!(all["events"][0].get("payload_schema").is_none());
    let one = agent.answer("appduct_list_events", json!({"name": "playground_ping"}));
    assert_eq!(one["events"][0]["payload_schema"]["required"], json!(["at"]));
    assert_eq!(agent.answer("appduct_events", json!({}))["events"], json!([]));
}
