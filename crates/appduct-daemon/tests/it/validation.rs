//! Arguments and results against the schemas of tools.

use serde_json::{Map, Value, json};

use crate::harness::{App, Control, Daemon};

fn tools() -> Value {
    let amount = json!({"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]});
    let mut doubling = Map::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/$defs/a{}", level + 1)});
        doubling.insert(format!("a{level}"), json!({"anyOf": [next, next]}));
    }
    doubling.insert("a60".to_owned(), json!(false));
    json!([
        {"name": "pay", "description": "d", "input_schema": amount, "output_schema": {"type": "string"}},
        {"name": "remote", "description": "d", "input_schema": {"$ref": "https://example.com/x"}},
        {"name": "hostile", "description": "d", "input_schema": {"$ref": "#/$defs/a0", "$defs": doubling}},
    ])
}

fn rig(config: &str) -> (Daemon, App, Control) {
    let daemon = Daemon::with_config(&format!(r#"{{"wssPort":0,"advertisedIp":"127.0.0.1"{config}}}"#));
    let app = daemon.app_with_tools("x", tools());
    let control = daemon.control();
    (daemon, app, control)
}

/// What the daemon has written down once it is gone.
fn audit(daemon: Daemon) -> String {
    let directory = daemon.stop();
    let days = std::fs::read_dir(directory.path().join("audit")).unwrap();
    days.map(|day| std::fs::read_to_string(day.unwrap().path()).unwrap()).collect()
}

/// The reply to a call that reaches its app, which answers with `result`.
fn through(app: &mut App, control: &mut Control, params: Value, result: Value) -> Value {
    control.request("tools.call", params.clone());
    let call = app.frame();
    assert_eq!((&call["type"], &call["args"]), (&json!("tool_call"), &params["args"]));
    app.send(json!({"type": "tool_result", "session_id": app.session_id, "id": call["id"], "result": result}));
    control.value()
}

#[test]
fn arguments_that_do_not_fit_never_reach_the_app() {
    let (daemon, mut app, mut control) = rig("");
    // The first call compiles the schema, the second finds it.
    for _ in 0..2 {
        let error = control.call("tools.call", json!({"name": "pay", "args": {"amount": "5"}})).unwrap_err();
        assert_eq!(error["code"], -32000);
        assert_eq!(error["data"]["type"], "tool_input_validation_error");
        let issue = json!({"path": "/amount", "message": "value is not of type \"integer\"", "keyword": "type"});
        assert_eq!(error["data"]["details"], json!({"issues": [issue]}));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("\"pay\"") && message.contains("/amount"), "{message}");
    }
    // The first frame that the app sees is that of the call that fits.
    let reply = through(&mut app, &mut control, json!({"name": "pay", "args": {"amount": 5}}), json!(7));
    assert_eq!(reply["result"]["result"], 7, "results are not checked unless asked for");
    let text = audit(daemon);
    assert_eq!(text.lines().filter(|line| line.contains("tool_input_validation_error")).count(), 2, "{text}");
}

#[test]
fn a_check_can_be_turned_off_for_one_call_or_for_all() {
    let (_daemon, mut app, mut control) = rig("");
    let unchecked = json!({"name": "pay", "args": {"amount": "5"}, "validate": false});
    through(&mut app, &mut control, unchecked, json!(1));
    let (_daemon, mut app, mut control) = rig(r#","validateArgs":false"#);
    through(&mut app, &mut control, json!({"name": "pay", "args": {"amount": "5"}}), json!(1));
}

#[test]
fn a_schema_that_cannot_be_used_lets_every_call_through() {
    let (_daemon, mut app, mut control) = rig("");
    for _ in 0..2 {
        for tool in ["remote", "hostile"] {
            through(&mut app, &mut control, json!({"name": tool, "args": {"any": [1]}}), json!(1));
        }
    }
}

#[test]
fn a_hostile_schema_delays_no_other_session() {
    let (daemon, mut hostile_app, mut hostile) = rig("");
    let mut app = daemon.app_with_tools("y", tools());
    let mut control = daemon.control();
    hostile.request("tools.call", json!({"selector": "x", "name": "hostile", "args": {}}));
    let reply =
        through(&mut app, &mut control, json!({"selector": "y", "name": "pay", "args": {"amount": 1}}), json!(2));
    assert_eq!(reply["result"]["result"], 2);
    let call = hostile_app.frame();
    assert_eq!(call["name"], "hostile");
}

#[test]
fn results_are_checked_where_the_configuration_asks_for_it() {
    let (daemon, mut app, mut control) = rig(r#","validateResults":true"#);
    let call = json!({"name": "pay", "args": {"amount": 5}});
    for _ in 0..2 {
        let error = through(&mut app, &mut control, call.clone(), json!(7))["error"].clone();
        assert_eq!(error["data"]["type"], "tool_output_validation_error");
        assert_eq!(error["data"]["details"]["issues"][0]["keyword"], "type");
    }
    let reply = through(&mut app, &mut control, call, json!("paid"));
    assert_eq!(reply["result"]["result"], "paid");
    let text = audit(daemon);
    let outcomes: Vec<_> = text.lines().map(|line| line.contains("tool_output_validation_error")).collect();
    assert_eq!(outcomes, [true, true, false]);
}

#[test]
fn a_client_that_hangs_up_while_its_arguments_are_checked_calls_nothing() {
    let (daemon, mut app, mut hung_up) = rig("");
    hung_up.request("tools.call", json!({"name": "hostile", "args": {}}));
    drop(hung_up);
    let mut control = daemon.control();
    // Their checks end after the other's; a call of the other would be the first that the app sees.
    for (name, args) in [("pay", json!({"amount": 5})), ("hostile", json!({"second": true}))] {
        let reply = through(&mut app, &mut control, json!({"name": name, "args": args}), json!(1));
        assert_eq!(reply["result"]["result"], 1);
    }
}
