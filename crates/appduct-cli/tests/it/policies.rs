//! `policy explain` against a scripted daemon.

use serde_json::json;

use crate::fake_daemon::{FakeDaemon, error, plain_status, result};

fn denying() -> FakeDaemon {
    FakeDaemon::new(|method, params| match method {
        "daemon.status" => plain_status(),
        "policy.explain" if params["name"] == "pay" => result(
            json!({
                "sessionId": "s1",
                "alias": "pixel-8",
                "tool": "pay",
                "group": "checkout",
                "destructive": true,
                "decision": "deny",
                "rule": "policy.groups[\"checkout\"]",
                "why": "this is the longest group of the policy that the tool is in",
                "config": "/state/config.json",
                "configFault": "\"policy\" must be an object",
            })
            .to_string(),
        ),
        "policy.explain" => error("tool_not_found", "no such tool"),
        "tools.list" => result("{\"tools\":[{\"name\":\"pay\"}],\"total\":1,\"groups\":[]}"),
        _ => error("invalid_request", "not in the script"),
    })
}

#[test]
fn a_tool_is_explained_in_both_forms() {
    let daemon = denying();
    insta::assert_snapshot!("policy_explain", daemon.place.run(&["policy", "explain", "pixel-8", "pay"]));
    assert_eq!(daemon.seen(), [("policy.explain".to_owned(), json!({ "selector": "pixel-8", "name": "pay" }))]);
    let document = daemon.place.run(&["policy", "explain", "pay", "--json"]).json();
    assert_eq!(document["data"]["decision"], "deny");
    assert_eq!(document["data"]["rule"], "policy.groups[\"checkout\"]");
}

#[test]
fn a_tool_that_is_not_there_is_looked_for() {
    let daemon = denying();
    let ran = daemon.place.run(&["policy", "explain", "pya", "--json"]);
    assert_eq!(ran.code, Some(72));
    assert_eq!(ran.json()["error"]["hint"], "Did you mean `pay`?");
}

#[test]
fn a_policy_without_a_verb_is_refused() {
    let ran = denying().place.run(&["policy", "--json"]);
    let message = "The policy command requires a verb: explain (got none).";
    assert_eq!(ran.failure(), (64, "usage_error".to_owned(), message.to_owned()));
}
