//! One file per tool: its arguments into requests, the replies into its answer.

mod call_tool;
mod connect;
mod describe_tool;
mod entry;
mod events;
mod list_events;
mod list_tools;
mod registry;
mod sessions;
mod wait;
mod wait_for_event;
mod wait_for_session;

use rmcp::model::{CallToolRequestParams, InputRequiredResult};
use rmcp::service::{RequestContext, RoleServer};

use super::answer::Answer;
use super::arguments::Arguments;
use super::consent::Response;
use super::progress::Progress;
use super::refusal::Refusal;
use super::server::Server;

macro_rules! names {
    ($($variant:ident = $text:literal, $known:expr;)*) => {
        /// The tools of this server.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Name {
            $($variant,)*
        }

        impl Name {
            /// In the order of the list.
            pub(super) const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name that clients use.
            pub(super) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The names of its arguments.
            pub(super) fn arguments(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $known,)* }
            }
        }
    };
}

names! {
    Sessions = "appduct_sessions", &[];
    ListTools = "appduct_list_tools", &["selector", "group", "filter", "limit", "offset"];
    DescribeTool = "appduct_describe_tool", &["selector", "name"];
    CallTool = "appduct_call_tool", &["selector", "name", "args", "timeoutMs"];
    Connect = "appduct_connect",
        &["target", "url", "browserUrl", "targetId", "device", "appId", "relaunch", "ttlSeconds"];
    WaitForSession = "appduct_wait_for_session", &["sessionId", "timeoutMs"];
    ListEvents = "appduct_list_events", &["selector", "name", "limit", "offset"];
    Events = "appduct_events", &["selector", "since", "limit", "name", "payloadMaxBytes"];
    WaitForEvent = "appduct_wait_for_event", &["name", "selector", "since", "timeoutMs", "payloadMaxBytes"];
}

impl Name {
    /// The tool of that name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.as_str() == text)
    }
}

/// What a tool replies.
#[derive(Debug)]
pub(super) enum Reply {
    /// Its answer.
    Answer(Answer),
    /// The client has to ask a person, and to call again.
    Question(Box<InputRequiredResult>),
}

/// How many entries a listing has where the agent does not say.
const DEFAULT_LIMIT: u64 = 50;

/// Runs a tool.
pub(super) async fn run(
    server: &Server,
    name: Name,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Refusal> {
    let arguments = Arguments::new(request.arguments, name.arguments())?;
    let answer = match name {
        Name::Sessions => server.on_daemon(sessions::run).await,
        Name::ListTools => {
            let query = list_tools::Query::read(arguments)?;
            server.on_daemon(move |shared, daemon| list_tools::run(shared, daemon, query)).await
        }
        Name::DescribeTool => {
            let query = describe_tool::Query::read(arguments)?;
            server.on_daemon(move |shared, daemon| describe_tool::run(shared, daemon, &query)).await
        }
        Name::CallTool => {
            let response = Response { answers: request.input_responses, state: request.request_state };
            return call_tool::run(server, call_tool::Call::read(arguments)?, response, context).await;
        }
        Name::Connect => {
            let query = connect::Query::read(arguments)?;
            let work = server.on_daemon(move |shared, daemon| connect::run(shared, daemon, query));
            Progress::of(context).during("opening the link", work).await
        }
        Name::WaitForSession => wait_for_session::run(server, wait_for_session::Query::read(arguments)?, context).await,
        Name::ListEvents => {
            let query = list_events::Query::read(arguments)?;
            server.on_daemon(move |shared, daemon| list_events::run(shared, daemon, query)).await
        }
        Name::Events => {
            let query = events::Query::read(arguments)?;
            server.on_daemon(move |shared, daemon| events::run(shared, daemon, query)).await
        }
        Name::WaitForEvent => wait_for_event::run(server, wait_for_event::Query::read(arguments)?, context).await,
    };
    answer.map(Reply::Answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::catalog;

    #[test]
    fn the_arguments_are_those_that_clients_are_told() {
        for (name, tool) in Name::ALL.iter().zip(catalog::tools()) {
            let told = tool.input_schema["properties"].as_object().unwrap().keys();
            assert_eq!(told.collect::<Vec<_>>(), name.arguments(), "{}", tool.name);
            assert_eq!(Name::parse(&tool.name), Some(*name));
        }
    }
}
