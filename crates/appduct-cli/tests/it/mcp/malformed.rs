//! Lines that no client should send. Each is answered, and the server goes on.

use serde_json::{Value, json};

use super::agent::{Agent, Era};
use super::app::App;
use super::cancel::cancel;
use crate::run::Place;

#[test]
fn every_line_that_asks_something_is_answered() {
    let place = Place::new();
    for era in Era::BOTH {
        let mut agent = Agent::start(&place, &[], era);
        for (line, id, code) in [
            (
                r#"{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"appduct_sessions","arguments":{"x":1e400}}}"#,
                json!(71),
                -32700,
            ),
            (r#"{"jsonrpc":"2.0","id":"me","method":"tools/call","params":{"name":"#, json!("me"), -32700),
            ("nonsense", Value::Null, -32700),
            ("[]", Value::Null, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, Value::Null, -32600),
            (r#"{"jsonrpc":"2.0","id":72}"#, json!(72), -32600),
        ] {
            agent.send_text(&format!("{line}\n"));
            let reply = agent.next();
            assert_eq!((&reply["id"], &reply["error"]["code"]), (&id, &json!(code)), "{line}: {reply}");
        }
        for (method, params, code) in [
            ("tools/call", json!({"nam": "appduct_sessions"}), -32602),
            ("tools/call", json!({"name": "appduct_sessions", "arguments": [1]}), -32602),
            ("tools/call", json!({"name": "appduct_sessions", "arguments": "x"}), -32602),
            ("resources/read", json!({}), -32602),
            ("no/such", json!({}), -32601),
        ] {
            let reply = agent.request(method, params.clone());
            assert_eq!(reply["error"]["code"], code, "{era:?} {method} {params}: {reply}");
        }
        assert!(agent.request("tools/list", json!({}))["result"].is_object());
        assert_eq!(agent.finish(), Some(0));
    }
}

#[test]
fn half_a_surrogate_pair_reaches_the_app_as_a_replacement_character() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    agent.send_text(
        "{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"tools/call\",\"params\":{\"name\":\"appduct_call_tool\",\"arguments\":\
         {\"name\":\"sum\",\"args\":{\"a\":1,\"b\":2,\"note\":\"\\ud83d\"}}}}\n",
    );
    assert_eq!(agent.result(71)["structuredContent"], json!({"total": 3}));
}

#[test]
fn a_line_over_the_limit_is_answered() {
    let place = Place::new();
    let mut agent = Agent::start(&place, &[], Era::Handshake);
    let filler = "x".repeat(16 * 1024 * 1024);
    agent.send_text(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"tools/call\",\"params\":{{\"x\":\"{filler}\"}}}}\n"
    ));
    let reply = agent.next();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(71), &json!(-32600)), "{reply}");
    assert!(agent.request("tools/list", json!({}))["result"].is_object());
}

#[test]
fn an_id_that_may_still_run_cannot_be_taken_again() {
    let app = App::start();
    for era in Era::BOTH {
        let mut agent = Agent::start(&app.place, &[], era);
        let id = agent.ask_tool("appduct_wait_for_event", json!({"name": "*", "timeoutMs": 1_500_000}));
        let mut again = |id: u64, is_taken_back: bool| {
            if is_taken_back {
                cancel(&mut agent, id);
            }
            agent.reuse(id);
            agent.request("tools/list", json!({}))
        };
        assert_eq!(again(id, false)["error"]["code"], -32600, "{era:?}");
        assert_eq!(again(id, true)["error"]["code"], -32600, "{era:?}");
        for _ in 0..3 {
            assert!(again(id + 1, false)["result"]["tools"].is_array(), "{era:?}");
        }
        assert_eq!(agent.finish(), Some(0));
    }
}
