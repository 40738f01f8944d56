//! What apps say, and what it comes to.

use appduct_proto::testing::Choices;
use serde_json::{Value, json};

use super::model::Said;

/// Names of tools and events; the second half of them is grouped.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const GROUPS: [Option<&str>; 4] = [None, Some("g"), Some("g/h"), Some("g-h")];

pub(super) fn name(choices: &mut Choices<'_>) -> &'static str {
    NAMES[choices.place(NAMES.len())]
}

fn tool(choices: &mut Choices<'_>) -> (String, Option<String>) {
    (name(choices).to_owned(), GROUPS[choices.place(GROUPS.len())].map(str::to_owned))
}

/// How long a tool's descriptor is.
pub(super) fn tool_bytes(name: &str, group: Option<&str>) -> usize {
    tool_json(&(name.to_owned(), group.map(str::to_owned))).to_string().len()
}

/// How long an event's is.
pub(super) fn event_bytes(name: &str) -> usize {
    event_json(name).to_string().len()
}

fn tool_json((name, group): &(String, Option<String>)) -> Value {
    let mut tool = json!({ "name": name, "description": "d" });
    if let Some(group) = group {
        tool["group"] = group.as_str().into();
    }
    tool
}

fn event_json(name: &str) -> Value {
    json!({ "name": name, "description": "d" })
}

/// A frame without its session, and what it says. `call` is a call that it may be about.
pub(super) fn choose(choices: &mut Choices<'_>, call: &str) -> (Value, Said) {
    let frame = |kind: &str, mut fields: Value| {
        fields["type"] = kind.into();
        fields
    };
    match choices.below(16) {
        0..3 => {
            let tools: Vec<_> = (0..choices.below(6)).map(|_| tool(choices)).collect();
            let all: Vec<_> = tools.iter().map(tool_json).collect();
            (frame("tool_registry_snapshot", json!({ "tools": all })), Said::Tools(tools))
        }
        3 | 4 => {
            let tool = tool(choices);
            let fields = json!({ "operation": "upsert", "tool": tool_json(&tool) });
            (frame("tool_registry_delta", fields), Said::AddTool(tool.0, tool.1))
        }
        5 => {
            let name = name(choices);
            let fields = json!({ "operation": "remove", "name": name });
            (frame("tool_registry_delta", fields), Said::RemoveTool(name.to_owned()))
        }
        6 => {
            let events: Vec<_> = (0..choices.below(5)).map(|_| name(choices).to_owned()).collect();
            let all: Vec<_> = events.iter().map(|name| event_json(name)).collect();
            (frame("event_registry_snapshot", json!({ "events": all })), Said::Events(events))
        }
        7 => {
            let name = name(choices);
            let fields = json!({ "operation": "upsert", "event": event_json(name) });
            (frame("event_registry_delta", fields), Said::AddEvent(name.to_owned()))
        }
        8 => {
            let name = name(choices);
            let fields = json!({ "operation": "remove", "name": name });
            (frame("event_registry_delta", fields), Said::RemoveEvent(name.to_owned()))
        }
        9 => {
            let payload = if choices.flag() { json!([1, 2]) } else { json!("longer than that") };
            (frame("event", json!({ "name": name(choices), "ts": 1, "payload": payload })), Said::Posted)
        }
        10 | 11 => {
            let answer = Said::Answer { call: call.to_owned(), kind: "result" };
            (frame("tool_result", json!({ "id": call, "result": null })), answer)
        }
        12 => {
            let error = json!({ "type": "tool_execution_error", "message": "m" });
            let answer = Said::Answer { call: call.to_owned(), kind: "error" };
            (frame("tool_error", json!({ "id": call, "error": error })), answer)
        }
        13 => (frame("tool_call_progress", json!({ "id": call, "progress": 0.5 })), Said::Nothing),
        14 => (frame("event", json!({ "name": "" })), Said::Broken { is_registry: false }),
        _ => (frame("tool_registry_snapshot", json!({ "tools": [1] })), Said::Broken { is_registry: true }),
    }
}
