//! Requests that a client takes back, and clients that go away.

use serde_json::{Value, json};

use super::agent::{Agent, Era};
use super::app::App;

pub(super) fn cancel(agent: &mut Agent, id: u64) {
    let params = json!({"requestId": id, "reason": "no longer needed"});
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
}

/// The app is told, and no reply comes after the request was taken back.
fn check(era: Era, meta: Value) {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], era);
    let params = json!({"name": "appduct_call_tool", "arguments": {"name": "slow_task"}, "_meta": meta});
    let id = agent.ask("tools/call", params);
    app.playground.says("slow_task started");
    cancel(&mut agent, id);
    let line = app.playground.says("slow_task failed: tool_cancelled");
    assert!(line.contains("mcp_client_cancelled"), "{line}");
    assert_eq!(agent.call("sum", json!({"a": 1, "b": 1})), json!({"total": 2}));
    assert!(agent.aside.iter().all(|message| message["id"] != id), "{:?}", agent.aside);
    assert_eq!(agent.finish(), Some(0));
}

#[test]
fn a_call_that_is_taken_back_is_cancelled_in_the_app() {
    for era in Era::BOTH {
        check(era, json!({}));
    }
}

#[test]
fn so_is_one_whose_progress_is_followed() {
    for era in Era::BOTH {
        check(era, json!({"progressToken": 7}));
    }
}

#[test]
fn of_two_calls_of_one_tool_the_right_one_is_cancelled() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let first = agent.ask_tool("appduct_call_tool", json!({"name": "slow_task"}));
    app.playground.says("slow_task started");
    let second = agent.ask_tool("appduct_call_tool", json!({"name": "slow_task"}));
    app.playground.says("slow_task started");
    cancel(&mut agent, second);
    assert_eq!(agent.result(first)["structuredContent"], json!({"done": true}));
}

#[test]
fn a_wait_that_is_taken_back_gets_no_reply() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Inline);
    let id = agent.ask_tool("appduct_wait_for_event", json!({"name": "*", "timeoutMs": 1_500_000}));
    cancel(&mut agent, id);
    assert_eq!(agent.call("sum", json!({"a": 1, "b": 1})), json!({"total": 2}));
    assert!(agent.aside.is_empty(), "{:?}", agent.aside);
}

#[test]
fn the_end_of_the_input_ends_waits_and_calls_at_once() {
    let app = App::start();
    for era in Era::BOTH {
        let mut agent = Agent::start(&app.place, &[], era);
        agent.ask_tool("appduct_wait_for_event", json!({"name": "*", "timeoutMs": 1_500_000}));
        agent.ask_tool("appduct_call_tool", json!({"name": "slow_task"}));
        app.playground.says("slow_task started");
        assert_eq!(agent.finish(), Some(0));
        app.playground.says("slow_task failed: tool_cancelled");
    }
    let agent = Agent::bare(&app.place, &[], Era::Handshake, json!({}));
    assert_eq!(agent.finish(), Some(0));
}

#[test]
fn a_signal_is_a_good_end() {
    let app = App::start();
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let mut agent = Agent::start(&app.place, &[], Era::Handshake);
        agent.ask_tool("appduct_call_tool", json!({"name": "slow_task"}));
        app.playground.says("slow_task started");
        assert_eq!(agent.end_with(signal), Some(0));
        app.playground.says("slow_task failed: tool_cancelled");
    }
}

#[test]
fn what_was_asked_right_before_the_end_of_the_input_is_answered() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Inline);
    let id = agent.ask("tools/list", json!({}));
    agent.close();
    assert!(agent.reply(id)["result"]["tools"].is_array());
    assert_eq!(agent.finish(), Some(0));
}
