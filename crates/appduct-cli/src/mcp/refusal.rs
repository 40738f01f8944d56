//! What a tool of this server fails with: a type, a sentence, and data where there is some.

use std::borrow::Cow;

use appduct_proto::wire::RawJson;
use appduct_rpc::methods::Session;
use appduct_rpc::version_guard::GuardError;
use appduct_rpc::{ClientError, ErrorType, RpcError};
use rmcp::model::{CallToolResult, ContentBlock};

use super::answer::session_meta;
use crate::error::{Failure, Kind};

/// A refused or failed tool call. The agent reads `<type>: <message> <details>`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    kind: Cow<'static, str>,
    message: String,
    details: Option<RawJson>,
    session: Option<Box<Session>>,
}

impl Refusal {
    fn new(kind: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), details: None, session: None }
    }

    /// The arguments are wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new("invalid_request", message)
    }

    /// There is no such tool.
    pub(super) fn tool_not_found(message: impl Into<String>) -> Self {
        Self::new("tool_not_found", message)
    }

    /// What was waited for did not come.
    pub(super) fn timeout(message: impl Into<String>) -> Self {
        Self::new("tool_timeout", message)
    }

    /// The client took the request back.
    pub(super) fn cancelled() -> Self {
        Self::new("tool_cancelled", "the client cancelled the request")
    }

    /// The daemon cannot be reached, or is not the right one.
    pub(super) fn connection(message: impl Into<String>) -> Self {
        Self::new("connection_error", message)
    }

    /// The app is not connected at the moment.
    pub(super) fn suspended(message: impl Into<String>) -> Self {
        Self::new("session_suspended", message)
    }

    /// A person did not agree to the call.
    pub(super) fn declined(message: impl Into<String>) -> Self {
        Self::new("consent_declined", message)
    }

    /// Something else went wrong.
    pub(super) fn execution(message: impl Into<String>) -> Self {
        Self::new("tool_execution_error", message)
    }

    /// The same refusal with the session that it is about.
    pub(super) fn of(self, session: &Session) -> Self {
        Self { session: Some(Box::new(session.clone())), ..self }
    }

    /// What the agent reads.
    pub(super) fn text(&self) -> String {
        let details = self.details.as_ref().map_or_else(String::new, |details| format!(" {}", details.as_str()));
        format!("{}: {}{details}", self.kind, self.message)
    }

    /// The result of the tool.
    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.text())]);
        result.meta = self.session.as_deref().map(session_meta);
        result
    }
}

impl From<RpcError> for Refusal {
    fn from(error: RpcError) -> Self {
        if error.kind.as_ref().is_some_and(|kind| kind.as_str() == ErrorType::NoSession.as_str()) {
            let message = "no app is connected: appduct_connect makes a link, and appduct_wait_for_session waits until an app \
                           has opened it";
            return Self::new("no_session", message);
        }
        let kind = error.kind.map_or(Cow::Borrowed("tool_execution_error"), |kind| kind.as_str().to_owned().into());
        Self { details: error.details, ..Self::new(kind, error.message) }
    }
}

impl From<ClientError> for Refusal {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Rpc(error) => error.into(),
            ClientError::TooBig { .. } => Self::invalid(error.to_string()),
            ClientError::Closed => Self::execution("the daemon went away before it answered"),
            ClientError::Unreachable { .. }
            | ClientError::StateDir(_)
            | ClientError::Spawn(_)
            | ClientError::PathTooLong { .. }
            | ClientError::Timeout { .. }
            | ClientError::Malformed(_)
            | ClientError::Io(_) => Self::connection(error.to_string()),
        }
    }
}

impl From<GuardError> for Refusal {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Client(error) => error.into(),
            GuardError::Older(ref drift) | GuardError::StillOlder(ref drift) => {
                let details = RawJson::of(drift).ok();
                Self { details, ..Self::connection(error.to_string()) }
            }
            GuardError::NotGone(_) => Self::connection(error.to_string()),
        }
    }
}

/// What the command line shares with this server, such as the scheme of links and the devices that they are opened on.
impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let kind: Cow<'static, str> = match &failure.kind {
            Kind::Usage | Kind::Validation => "invalid_request".into(),
            Kind::Internal | Kind::Assertion | Kind::Inspection | Kind::Session => "tool_execution_error".into(),
            Kind::Connection => "connection_error".into(),
            Kind::Remote(name) => name.as_str().to_owned().into(),
        };
        let hint = failure.hint.map_or_else(String::new, |hint| format!(" {hint}"));
        Self { details: failure.details, ..Self::new(kind, failure.message + &hint) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_reads_the_type_the_message_and_the_details() {
        let error = RpcError::new(ErrorType::PolicyDenied, "no").with_details(RawJson::parse("{\"a\":1}").unwrap());
        let refusal = Refusal::from(error);
        assert_eq!(refusal.text(), "policy_denied: no {\"a\":1}");
        let result = refusal.into_result();
        assert_eq!((result.is_error, result.structured_content), (Some(true), None));
        assert_eq!(Refusal::from(RpcError::internal("x")).text(), "invalid_request: x");
        assert_eq!(Refusal::from(RpcError::method_not_found("m")).text(), "tool_execution_error: unknown method \"m\"");
    }

    #[test]
    fn a_failure_of_the_command_line_keeps_its_advice() {
        let failure = Failure::usage("There is no scheme.").with_hint("Pass one.");
        assert_eq!(Refusal::from(failure).text(), "invalid_request: There is no scheme. Pass one.");
    }
}
