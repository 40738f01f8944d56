//! Calls whose policy wants a person to agree.

use serde_json::{Value, json};

use super::agent::{Agent, Era, refusal};
use super::app::App;

fn asking() -> App {
    App::with_policy(json!({"tools": {"playground/sum": "prompt"}}))
}

fn sum() -> Value {
    json!({"name": "sum", "args": {"a": 2, "b": 3}})
}

/// How many calls of `sum` the app has had.
#[track_caller]
fn count(agent: &mut Agent) -> Value {
    agent.call("call_count", json!({}))["count"].clone()
}

/// The server's question.
#[track_caller]
fn question(agent: &mut Agent) -> Value {
    let question = agent.next();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("\"sum\"") && message.contains("\"playground\"") && message.contains(r#"{"a":2,"b":3}"#));
    assert_eq!(question["params"]["requestedSchema"]["properties"], json!({}));
    question["id"].clone()
}

#[test]
fn a_client_with_a_handshake_is_asked_while_the_call_waits() {
    let app = asking();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    for (action, expected) in [("decline", 0), ("cancel", 0), ("accept", 1)] {
        let id = agent.ask_tool("appduct_call_tool", sum());
        let asked = question(&mut agent);
        agent.send(&json!({"jsonrpc": "2.0", "id": asked, "result": {"action": action, "content": {}}}));
        let result = agent.result(id);
        if action == "accept" {
            assert_eq!(result["structuredContent"], json!({"total": 5}));
        } else {
            let said = refusal(&result);
            assert!(said.starts_with("consent_declined: ") && said.contains("not shown to anybody"), "{said}");
            assert_eq!(result["_meta"]["appduct/session"]["alias"], "playground");
        }
        assert_eq!(count(&mut agent), expected);
    }
}

#[test]
fn a_question_that_cannot_be_asked_is_no_consent() {
    let app = asking();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    for answer in [
        json!({"error": {"code": -32603, "message": "no window"}}),
        json!({"error": 5}),
        json!({"error": {}, "result": {"action": "accept"}}),
        json!({"result": {}}),
        json!({"result": {"action": "maybe"}}),
        json!({"result": "accept"}),
    ] {
        let id = agent.ask_tool("appduct_call_tool", sum());
        let mut message = json!({"jsonrpc": "2.0", "id": question(&mut agent)});
        message.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        agent.send(&message);
        let said = refusal(&agent.result(id));
        assert!(said.starts_with("policy_denied: ") && said.contains("no_consent_channel"), "{answer}: {said}");
        assert_eq!(count(&mut agent), 0);
    }
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        for era in Era::BOTH {
            let mut agent = Agent::start_with(&app.place, &[], era, capabilities.clone());
            let said = agent.refusal("appduct_call_tool", sum());
            assert!(said.starts_with("policy_denied: ") && said.contains("no_consent_channel"), "{said}");
            assert_eq!(count(&mut agent), 0);
        }
    }
}

#[test]
fn an_answer_that_comes_after_the_call_was_taken_back_runs_nothing() {
    let app = asking();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let id = agent.ask_tool("appduct_call_tool", sum());
    let asked = question(&mut agent);
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    agent.send(&json!({"jsonrpc": "2.0", "id": asked, "result": {"action": "accept", "content": {}}}));
    assert_eq!(count(&mut agent), 0);
    assert!(agent.aside.iter().all(|message| message["id"] != id), "{:?}", agent.aside);
}

#[test]
fn wrong_arguments_cost_no_question() {
    let app = asking();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let said = agent.refusal("appduct_call_tool", json!({"name": "sum", "timeoutMs": 600_000}));
    assert!(said.starts_with("invalid_request: "), "{said}");
    assert!(agent.aside.is_empty());
}

/// Calls `sum` as a client does that was asked before.
fn retry(agent: &mut Agent, arguments: Value, state: Option<&Value>, action: &str) -> Value {
    let mut params = json!({
        "name": "appduct_call_tool",
        "arguments": arguments,
        "inputResponses": {"consent": {"action": action, "content": {}}},
    });
    if let Some(state) = state {
        params["requestState"] = state.clone();
    }
    let id = agent.ask("tools/call", params);
    agent.result(id)
}

#[track_caller]
fn state(result: &Value) -> Value {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let question = &result["inputRequests"]["consent"];
    assert_eq!(question["method"], "elicitation/create", "{result}");
    assert!(question["params"]["message"].as_str().unwrap().contains("\"sum\""), "{result}");
    result["requestState"].clone()
}

#[test]
fn a_client_without_a_handshake_gets_the_question_and_calls_again() {
    let app = asking();
    let mut agent = Agent::start(&app.place, &[], Era::Inline);
    let first = state(&agent.tool("appduct_call_tool", sum()));
    let result = retry(&mut agent, sum(), Some(&first), "accept");
    assert_eq!(result["structuredContent"], json!({"total": 5}));
    assert_eq!(count(&mut agent), 1);

    for action in ["decline", "cancel", "maybe"] {
        let asked = state(&agent.tool("appduct_call_tool", sum()));
        let said = refusal(&retry(&mut agent, sum(), Some(&asked), action));
        assert!(said.starts_with("consent_declined: "), "{said}");
    }
    assert_eq!(count(&mut agent), 1);
}

#[test]
fn what_a_client_makes_up_is_no_consent() {
    let app = asking();
    let mut agent = Agent::start(&app.place, &[], Era::Inline);
    let used = state(&agent.tool("appduct_call_tool", sum()));
    retry(&mut agent, sum(), Some(&used), "accept");
    let other = json!({"name": "sum", "args": {"a": 2, "b": 4}});
    let fresh = state(&agent.tool("appduct_call_tool", sum()));
    for (arguments, shown) in [
        (sum(), Some(&used)),
        (sum(), None),
        (sum(), Some(&json!("made up"))),
        (other, Some(&fresh)),
        (sum(), Some(&fresh)),
    ] {
        state(&retry(&mut agent, arguments, shown, "accept"));
    }
    assert_eq!(count(&mut agent), 1);
    // A state is of one process.
    let foreign = state(&agent.tool("appduct_call_tool", sum()));
    let mut stranger = Agent::start(&app.place, &[], Era::Inline);
    state(&retry(&mut stranger, sum(), Some(&foreign), "accept"));
    assert_eq!(count(&mut agent), 1);
}
