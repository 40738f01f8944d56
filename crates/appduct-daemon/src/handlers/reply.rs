//! Replies: from the host's data to what goes over the control socket.

use appduct_proto::host::{DeclaredEventPage, EventsSince, ListedTool, SessionSummary, SuspendReason, ToolPage};
use appduct_proto::wire::{Device, Fields, Object, RawJson};
use appduct_rpc::RpcError;
use appduct_rpc::methods::{
    Attached, CallResult, Cancelled, DeclaredEvents, Done, EventPage, Link, PolicyExplained, Session, SessionDevice,
    Status, ToolGroup, Tools,
};
use serde::Serialize;

use super::notification::Notification;
use crate::clock::iso;
use crate::config::decision_name;

/// What a request is answered with.
#[derive(Debug)]
pub(crate) enum Reply {
    Done(Done),
    Status(Box<Status>),
    Link(Link),
    Attached(Attached),
    Sessions(Vec<SessionSummary>),
    Session(Box<SessionSummary>),
    Tools(ToolPage),
    CallResult(CallResult),
    Cancelled(Cancelled),
    EventPage(EventsSince),
    DeclaredEvents(DeclaredEventPage),
    PolicyExplained(Box<PolicyExplained>),
}

impl Reply {
    /// The reply as JSON.
    pub(crate) fn encode(self) -> Result<RawJson, RpcError> {
        match self {
            Self::Done(done) => json(&done),
            Self::Status(status) => json(&status),
            Self::Link(link) => json(&link),
            Self::Attached(attached) => json(&attached),
            Self::Sessions(sessions) => json(&sessions.into_iter().map(session).collect::<Vec<_>>()),
            Self::Session(summary) => json(&session(*summary)),
            Self::Tools(page) => json(&tools(page)),
            // Composed by hand, so that the app's result is copied once and read by nobody.
            Self::CallResult(CallResult { result, call_id }) => {
                Ok(Object::new().raw("result", &result).text("callId", &call_id).into_raw())
            }
            Self::Cancelled(cancelled) => json(&cancelled),
            Self::PolicyExplained(explained) => json(&explained),
            Self::EventPage(page) => json(&event_page(page)),
            Self::DeclaredEvents(DeclaredEventPage { events, total }) => {
                let events = events.iter().map(|event| event.raw().clone()).collect();
                json(&DeclaredEvents { events, total: total as u64 })
            }
        }
    }
}

fn json<T: Serialize>(value: &T) -> Result<RawJson, RpcError> {
    RawJson::of(value).map_err(|error| RpcError::internal(format!("cannot write the reply: {error}")))
}

/// A session as listings show it.
pub(super) fn session(summary: SessionSummary) -> Session {
    let Device { manufacturer, model, os } = summary.device;
    Session {
        session_id: summary.session_id,
        alias: summary.alias,
        state: if summary.suspended.is_some() { "suspended" } else { "active" }.to_owned(),
        device: SessionDevice { manufacturer, model, os },
        created_at: iso(summary.created_at),
        claimed_at: Some(iso(summary.claimed_at)),
        suspended_at: summary.suspended.map(|(at, _)| iso(at)),
        suspend_reason: summary.suspended.map(|(_, reason)| suspend_reason(reason).to_owned()),
        tool_count: summary.tool_count as u64,
        tools_pending: summary.tools_pending,
    }
}

pub(super) fn suspend_reason(reason: SuspendReason) -> &'static str {
    match reason {
        SuspendReason::AppBackgrounded => "app_backgrounded",
        SuspendReason::ConnectionLost => "connection_lost",
    }
}

fn tools(page: ToolPage) -> Tools {
    Tools {
        tools: page.tools.iter().map(listed_tool).collect(),
        total: page.total as u64,
        groups: Some(
            page.groups
                .into_iter()
                .map(|row| ToolGroup { group: row.group.map(|group| group.to_string()), total: row.total as u64 })
                .collect(),
        ),
    }
}

/// The descriptor as the app sent it, with `group` and `policy` as the daemon sees them.
fn listed_tool(tool: &ListedTool) -> RawJson {
    let raw = tool.descriptor.raw();
    let mut entry = Object::new();
    if let Some(fields) = Fields::parse(raw.as_str()) {
        for (key, value) in fields.iter().filter(|(key, _)| !matches!(*key, "group" | "policy")) {
            entry = entry.display(key, value.get());
        }
    }
    let entry = match &tool.descriptor.group {
        Some(group) => entry.text("group", group.as_str()),
        None => entry.raw("group", &RawJson::null()),
    };
    entry.text("policy", decision_name(tool.policy)).into_raw()
}

fn event_page(page: EventsSince) -> EventPage {
    EventPage {
        events: page.events.iter().map(|event| Notification::of(event).into_rpc()).collect(),
        cursor: page.cursor,
        dropped: Some(page.dropped),
        remaining: Some(page.remaining as u64),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use appduct_proto::host::Decision;
    use appduct_proto::wire::ToolDescriptor;

    use super::*;

    fn listed(text: &str) -> String {
        let descriptor = ToolDescriptor::parse(&RawJson::parse(text).unwrap()).unwrap();
        listed_tool(&ListedTool { descriptor: Arc::new(descriptor), policy: Decision::Prompt }).as_str().to_owned()
    }

    #[test]
    fn a_listed_tool_is_the_descriptor_with_group_and_policy_on_top() {
        let text = r#"{"name":"pay","policy":"mine","timeoutMs":{"x" : 1.0},"group":"checkout","description":"d"}"#;
        let expected =
            r#"{"name":"pay","timeoutMs":{"x" : 1.0},"description":"d","group":"checkout","policy":"prompt"}"#;
        assert_eq!(listed(text), expected);
        assert_eq!(
            listed(r#"{"name":"a","description":"d"}"#),
            r#"{"name":"a","description":"d","group":null,"policy":"prompt"}"#
        );
    }

    #[test]
    fn an_app_result_keeps_every_byte() {
        let result = RawJson::parse(r#"{"n" : 1.0,"s":"\ud800"}"#).unwrap();
        let reply = Reply::CallResult(CallResult { result, call_id: "call_x".to_owned() }).encode().unwrap();
        assert_eq!(reply.as_str(), r#"{"result":{"n" : 1.0,"s":"\ud800"},"callId":"call_x"}"#);
    }
}
