//! Descriptors of tools and events.

use appduct_proto::wire::{EventDescriptor, MAX_TOOL_TIMEOUT_MS, MIN_TOOL_TIMEOUT_MS, RawJson, ToolDescriptor};
use serde_json::Value;

use crate::json::{assert_part, is_event, is_tool, plain};

/// Reads the bytes as a descriptor of a tool and as one of an event.
pub fn target(data: &[u8]) {
    let Some(raw) = std::str::from_utf8(data).ok().and_then(|text| RawJson::parse(text).ok()) else {
        assert!(plain(data).is_none());
        return;
    };
    let value = plain(data);
    let tool = ToolDescriptor::parse(&raw);
    if let Some(value) = &value {
        assert_eq!(tool.is_ok(), is_tool(value), "{tool:?}");
    }
    let registered = ToolDescriptor::for_app(&raw);
    match (tool, registered) {
        (Ok(tool), Ok(registered)) => check_tool(data, &raw, &tool, &registered),
        (tool, registered) => assert_eq!(tool.err(), registered.err()),
    }
    let event = EventDescriptor::parse(&raw);
    if let Some(value) = &value {
        assert_eq!(event.is_ok(), is_event(value), "{event:?}");
    }
    let declared = EventDescriptor::for_app(&raw);
    match (event, declared) {
        (Ok(event), Ok(declared)) => {
            assert_eq!(event.raw(), &raw);
            event.payload_schema.iter().for_each(|schema| assert_part(data, schema));
            let sent = plain(declared.raw().as_str().as_bytes());
            let known = ["name", "description", "payload_schema"];
            let is_known =
                |sent: &Value| sent.as_object().is_some_and(|sent| sent.keys().all(|key| known.contains(&&**key)));
            assert!(sent.is_none_or(|sent| is_known(&sent)));
            assert_eq!(EventDescriptor::for_app(declared.raw()).as_ref(), Ok(&declared));
            assert_eq!((event.name, event.payload_schema), (declared.name, declared.payload_schema));
        }
        (event, declared) => assert_eq!(event.err(), declared.err()),
    }
}

fn check_tool(data: &[u8], raw: &RawJson, tool: &ToolDescriptor, registered: &ToolDescriptor) {
    assert_eq!(tool.raw(), raw, "a descriptor is kept as it came");
    [&tool.input_schema, &tool.output_schema].into_iter().flatten().for_each(|schema| assert_part(data, schema));
    let range = MIN_TOOL_TIMEOUT_MS..=MAX_TOOL_TIMEOUT_MS;
    assert!(registered.timeout_ms.is_none_or(|ms| range.contains(&ms)));
    assert_eq!(tool.timeout_ms.is_some(), registered.timeout_ms.is_some());
    assert_eq!(
        (&tool.name, &tool.group, &tool.annotations),
        (&registered.name, &registered.group, &registered.annotations)
    );
    assert_eq!(tool.input_schema, registered.input_schema);
    assert_eq!(ToolDescriptor::for_app(registered.raw()).as_ref(), Ok(registered), "what is stored is what is sent");
    let group = tool.group.as_ref().map(|group| group.as_str().parse());
    assert_eq!(group, tool.group.clone().map(Ok));
}
