//! What goes wrong on the control socket.

use appduct_proto::wire::{RawJson, ToolErrorType};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! error_types {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, exit $exit:literal $(, hint $hint:literal)?;)*) => {
        /// The error types of the control socket.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorType {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorType {
            /// Every type.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The exit status of a command that fails with it.
            #[must_use]
            pub fn exit_code(self) -> u8 {
                match self { $(Self::$variant => $exit,)* }
            }

            /// What a person may do next, where that does not depend on the case.
            #[must_use]
            pub fn hint(self) -> Option<&'static str> {
                match self { $(Self::$variant => [$($hint)?].first().copied(),)* }
            }
        }
    };
}

error_types! {
    /// No session is live.
    NoSession = "no_session", exit 71, hint "pair an app: `appduct link --scheme <scheme>` prints a link to open in it, `appduct playground` runs a demo app";
    /// Several sessions are live and none was selected.
    AmbiguousSession = "ambiguous_session", exit 71, hint "name one of the sessions; `appduct ls` lists them";
    /// No live session has this id or alias.
    UnknownSession = "unknown_session", exit 71, hint "`appduct ls` lists the live sessions";
    /// The session has no socket to send on.
    SessionNotActive = "session_not_active", exit 71, hint "open the app if it is in the background; `appduct wait` tells when it is connected again";
    /// The session's app is not connected.
    SessionSuspended = "session_suspended", exit 71, hint "open the app if it is in the background; `appduct wait` tells when it is connected again";
    /// The session has no such tool.
    ToolNotFound = "tool_not_found", exit 72, hint "`appduct tools` lists what the app offers";
    /// The arguments do not fit the tool's input schema.
    ToolInputValidationError = "tool_input_validation_error", exit 72, hint "`appduct tools <name>` shows the input schema";
    /// The result does not fit the tool's output schema.
    ToolOutputValidationError = "tool_output_validation_error", exit 72;
    /// The tool's handler failed.
    ToolExecutionError = "tool_execution_error", exit 72;
    /// The call or its result does not fit into a frame.
    ToolSerializationError = "tool_serialization_error", exit 72;
    /// The app did not answer in time.
    ToolTimeout = "tool_timeout", exit 72, hint "`--timeout <ms>` only shortens a call; the app sets a longer one where it registers the tool";
    /// Somebody cancelled the call.
    ToolCancelled = "tool_cancelled", exit 72;
    /// The policy does not allow the call.
    PolicyDenied = "policy_denied", exit 77;
    /// A parameter breaks its rule.
    InvalidRequest = "invalid_request", exit 65;
}

impl From<ToolErrorType> for ErrorType {
    fn from(kind: ToolErrorType) -> Self {
        match kind {
            ToolErrorType::ToolNotFound => Self::ToolNotFound,
            ToolErrorType::ToolInputValidationError => Self::ToolInputValidationError,
            ToolErrorType::ToolOutputValidationError => Self::ToolOutputValidationError,
            ToolErrorType::ToolExecutionError => Self::ToolExecutionError,
            ToolErrorType::ToolSerializationError => Self::ToolSerializationError,
            ToolErrorType::ToolTimeout => Self::ToolTimeout,
            ToolErrorType::ToolCancelled => Self::ToolCancelled,
        }
    }
}

impl ErrorType {
    /// The type of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

/// The type of an error as the wire has it: one of ours, or a name that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorName {
    /// One of ours.
    Known(ErrorType),
    /// Another.
    Other(String),
}

impl ErrorName {
    /// The type of that name.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        ErrorType::parse(name).map_or_else(|| Self::Other(name.to_owned()), Self::Known)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.as_str(),
            Self::Other(name) => name,
        }
    }
}

impl Serialize for ErrorName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::parse(&name))
    }
}

/// An error reply.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// The JSON-RPC code: -32000 for ours, or one of the protocol's own (-32700, -32600, -32601, -32603).
    pub code: i64,
    /// `data.type`; the protocol's own errors have none.
    pub kind: Option<ErrorName>,
    /// For people.
    pub message: String,
    /// `data.details`.
    pub details: Option<RawJson>,
}

impl RpcError {
    /// The code of every error of ours.
    pub const APPLICATION: i64 = -32_000;

    /// An error of ours.
    #[must_use]
    pub fn new(kind: ErrorType, message: impl Into<String>) -> Self {
        Self { code: Self::APPLICATION, kind: Some(ErrorName::Known(kind)), message: message.into(), details: None }
    }

    /// The line is not JSON.
    #[must_use]
    pub fn parse_error() -> Self {
        Self::of_the_protocol(-32_700, "the line is not valid JSON")
    }

    /// The line is JSON and not a request; `why` says what is missing.
    #[must_use]
    pub fn not_a_request(why: impl Into<String>) -> Self {
        Self::of_the_protocol(-32_600, why)
    }

    /// The line is over [`MAX_LINE_BYTES`](crate::line::MAX_LINE_BYTES). The connection ends after it.
    #[must_use]
    pub fn line_too_long() -> Self {
        let limit = crate::line::MAX_LINE_BYTES;
        Self::of_the_protocol(-32_600, format!("the request line is over the limit of {limit} bytes"))
    }

    /// There is no such method.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        Self::of_the_protocol(-32_601, format!("unknown method {method:?}"))
    }

    /// Something else went wrong in the daemon.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        let kind = Some(ErrorName::Known(ErrorType::InvalidRequest));
        Self { kind, ..Self::of_the_protocol(-32_603, message) }
    }

    fn of_the_protocol(code: i64, message: impl Into<String>) -> Self {
        Self { code, kind: None, message: message.into(), details: None }
    }

    /// The exit status of a command that fails with it; 1 for what this version does not know.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match &self.kind {
            Some(ErrorName::Known(kind)) => kind.exit_code(),
            Some(ErrorName::Other(_)) | None => 1,
        }
    }

    /// What a person may do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match &self.kind {
            Some(ErrorName::Known(kind)) => kind.hint(),
            Some(ErrorName::Other(_)) | None => None,
        }
    }

    /// The same error with details.
    #[must_use]
    pub fn with_details(self, details: RawJson) -> Self {
        Self { details: Some(details), ..self }
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_name_and_its_exit_status() {
        for kind in ErrorType::ALL {
            assert_eq!(ErrorType::parse(kind.as_str()), Some(*kind));
            assert_eq!(RpcError::new(*kind, "m").exit_code(), kind.exit_code());
        }
        for (name, code) in [
            ("no_session", 71),
            ("session_suspended", 71),
            ("tool_execution_error", 72),
            ("policy_denied", 77),
            ("invalid_request", 65),
        ] {
            assert_eq!(ErrorType::parse(name).unwrap().exit_code(), code);
        }
        assert_eq!(ErrorType::parse("No_session"), None);
    }

    #[test]
    fn what_an_app_may_send_has_the_same_name_here() {
        for kind in ToolErrorType::ALL {
            assert_eq!(ErrorType::from(*kind).as_str(), kind.as_str());
        }
    }

    #[test]
    fn errors_that_this_version_does_not_know_exit_with_one() {
        let error = RpcError { kind: Some(ErrorName::parse("brand_new")), ..RpcError::internal("m") };
        assert_eq!((error.exit_code(), error.hint()), (1, None));
        assert_eq!(RpcError::method_not_found("m").exit_code(), 1);
    }
}
