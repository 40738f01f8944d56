//! Calls of an app's tools: arguments, failures, progress, deadlines.

use serde_json::json;

use super::agent::{Agent, Era, refusal};
use super::app::App;

#[test]
fn arguments_may_come_as_text_and_unknown_ones_are_refused() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let text =
        agent.answer("appduct_call_tool", json!({"name": "sum", "args": "{\"a\": 2, \"b\": 3}", "selector": null}));
    assert_eq!(text, json!({"total": 5}));
    for (tool, arguments, expected) in [
        (
            "appduct_call_tool",
            json!({"name": "sum", "a": 1}),
            "invalid_request: unknown argument \"a\"; allowed: selector, name, args, timeoutMs; what the app's tool takes goes \
             into \"args\"",
        ),
        ("appduct_sessions", json!({"x": 1}), "invalid_request: unknown argument \"x\"; allowed: none"),
        ("appduct_events", json!({"kinds": []}), "invalid_request: unknown argument \"kinds\""),
        ("appduct_call_tool", json!({"name": "sum", "args": "[1]"}), "invalid_request: \"args\" must be an object"),
        ("appduct_call_tool", json!({"args": {}}), "invalid_request: \"name\" must be a non-empty string"),
        ("appduct_call_tool", json!({"name": "sum", "timeoutMs": 999}), "invalid_request: \"timeoutMs\" must be"),
        (
            "appduct_call_tool",
            json!({"name": "sum", "timeoutMs": 10_001}),
            "invalid_request: \"timeoutMs\" only shortens",
        ),
        ("appduct_call_tool", json!({"name": "nope"}), "tool_not_found: session \"playground\" has no tool \"nope\""),
        (
            "appduct_describe_tool",
            json!({"name": "Sum"}),
            "tool_not_found: session \"playground\" has no tool \"Sum\"; appduct_list_tools lists what it has. Did you mean `sum`?",
        ),
        ("appduct_call_tool", json!({"name": "sum", "selector": "nobody"}), "unknown_session: "),
        ("sum", json!({}), "tool_not_found: this server has no tool \"sum\""),
        ("appduct_wait_for_event", json!({}), "invalid_request: \"name\" must be a non-empty string"),
        ("appduct_connect", json!({"device": "x"}), "invalid_request: \"device\" needs the target"),
        ("appduct_connect", json!({"target": "web"}), "invalid_request: the target web needs \"url\""),
        ("appduct_connect", json!({"target": "tv"}), "invalid_request: \"target\" must be one of android"),
    ] {
        let said = agent.refusal(tool, arguments.clone());
        assert!(said.starts_with(expected), "{tool} {arguments}: {said}");
    }
}

#[test]
fn what_the_app_says_of_a_failure_passes_and_the_session_is_named() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Inline);
    let result = agent.tool("appduct_call_tool", json!({"name": "throwing_tool"}));
    assert_eq!(refusal(&result), "tool_execution_error: throwing_tool always fails on purpose.");
    assert_eq!(result["_meta"]["appduct/session"]["alias"], "playground");
    let misfit = agent.refusal("appduct_call_tool", json!({"name": "sum", "args": {"a": "x"}}));
    assert!(misfit.starts_with("tool_input_validation_error: ") && misfit.contains("\"issues\":["), "{misfit}");
}

#[test]
fn progress_of_the_call_comes_before_its_result() {
    let app = App::start();
    for era in Era::BOTH {
        let mut agent = Agent::start(&app.place, &[], era);
        let params =
            json!({"name": "appduct_call_tool", "arguments": {"name": "slow_task"}, "_meta": {"progressToken": "t"}});
        let id = agent.ask("tools/call", params);
        assert_eq!(agent.result(id)["structuredContent"], json!({"done": true}));
        let told: Vec<_> = agent.aside.iter().map(|message| message["params"].clone()).collect();
        let step =
            |progress: f64, message: &str| json!({"progressToken": "t", "progress": progress, "message": message});
        assert_eq!(told, [step(0.33, "warming up"), step(0.66, "almost there"), step(1.0, "done")]);
    }
}

#[test]
fn a_deadline_of_the_caller_ends_the_call() {
    let app = App::start();
    let mut agent = Agent::start(&app.place, &[], Era::Handshake);
    let said = agent.refusal("appduct_call_tool", json!({"name": "slow_task", "timeoutMs": 1000}));
    assert!(said.starts_with("tool_timeout: "), "{said}");
    app.playground.says("slow_task failed: tool_cancelled");
}
