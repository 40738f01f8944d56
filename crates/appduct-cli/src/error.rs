//! What a command fails with: one closed list of types, each with an exit status, and what to do next.

use std::path::Path;

use appduct_proto::wire::RawJson;
use appduct_rpc::spawn::SpawnError;
use appduct_rpc::stop::StopError;
use appduct_rpc::version_guard::{Drift, GuardError};
use appduct_rpc::{ClientError, ErrorName, ErrorType, RpcError, StateDirError};

use crate::suggest;

/// The type of a failure. The daemon's and the app's own types keep their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing that the list has a name for.
    Internal,
    /// The command line is wrong.
    Usage,
    /// The input of a call is wrong.
    Validation,
    /// The daemon cannot be reached, or is not the right one.
    Connection,
    /// No session became what was waited for.
    Session,
    /// A claim about an artifact does not hold.
    Assertion,
    /// An artifact cannot be inspected.
    Inspection,
    /// The daemon or the app said no.
    Remote(ErrorName),
}

impl Kind {
    /// The name that people and programs see.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Internal => "internal_error",
            Self::Usage => "usage_error",
            Self::Validation => "validation_error",
            Self::Connection => "connection_error",
            Self::Session => "session_error",
            Self::Assertion => "assertion_error",
            Self::Inspection => "inspection_error",
            Self::Remote(name) => name.as_str(),
        }
    }

    /// The exit status.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Internal | Self::Remote(ErrorName::Other(_)) => 1,
            Self::Usage => 64,
            Self::Validation => 65,
            Self::Connection => 70,
            Self::Session => 71,
            Self::Assertion => 3,
            Self::Inspection => 66,
            Self::Remote(ErrorName::Known(kind)) => kind.exit_code(),
        }
    }

    /// What to do next, where that does not depend on the case.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Remote(ErrorName::Known(kind)) => kind.hint(),
            Self::Connection => Some("Run `appduct daemon status` to see whether a daemon answers."),
            Self::Internal
            | Self::Usage
            | Self::Validation
            | Self::Session
            | Self::Assertion
            | Self::Inspection
            | Self::Remote(ErrorName::Other(_)) => None,
        }
    }
}

/// A failed command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// What kind.
    pub(crate) kind: Kind,
    /// What went wrong.
    pub(crate) message: String,
    /// Data for programs.
    pub(crate) details: Option<RawJson>,
    /// What to do next.
    pub(crate) hint: Option<Box<str>>,
    /// The signature of the tool whose input was wrong.
    pub(crate) signature: Option<Box<str>>,
}

impl Failure {
    /// A failure of this kind, with the kind's hint.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        let hint = kind.hint().map(|hint| sentence(hint).into());
        Self { kind, message: message.into(), details: None, hint, signature: None }
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// The input of a call is wrong.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(Kind::Validation, message)
    }

    /// The daemon cannot be reached, or is not the right one.
    pub(crate) fn connection(message: impl Into<String>) -> Self {
        Self::new(Kind::Connection, message)
    }

    /// Nothing that the list has a name for.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// The same failure with details.
    pub(crate) fn with_details(self, details: RawJson) -> Self {
        Self { details: Some(details), ..self }
    }

    /// The same failure with another hint.
    pub(crate) fn with_hint(self, hint: impl Into<Box<str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same failure; where `word` is close to something known, the hint asks whether that was meant.
    pub(crate) fn or_did_you_mean<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match suggest::did_you_mean(word, known) {
            Some(question) => self.with_hint(question),
            None => self,
        }
    }

    /// Whether the daemon or the app failed with this type.
    pub(crate) fn is(&self, kind: ErrorType) -> bool {
        self.kind == Kind::Remote(ErrorName::Known(kind))
    }

    /// Whether line breaks in the message are ours. What a daemon or an app says is one line to us.
    pub(crate) fn has_own_lines(&self) -> bool {
        matches!(self.kind, Kind::Usage | Kind::Validation)
    }
}

/// A daemon that was started from here and failed. It prints its failure as every command does.
fn did_not_start(output: &[String], log: &Path) -> Failure {
    let message = output.iter().find_map(|line| line.trim_start().strip_prefix("Message  "));
    let reason = message.or(output.last().map(String::as_str)).unwrap_or("it printed nothing.");
    Failure::connection(format!("The daemon did not start: {reason}"))
        .with_hint(format!("Its log is {}.", log.display()))
}

/// A lowercase fragment as a sentence.
pub(crate) fn sentence(fragment: &str) -> String {
    let mut characters = fragment.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    let stop = if fragment.ends_with(['.', '!', '?']) { "" } else { "." };
    first.chain(characters).collect::<String>() + stop
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Rpc(error) => error.into(),
            ClientError::Spawn(SpawnError::Exited { output, log, .. }) => did_not_start(&output, &log),
            ClientError::TooBig { .. } => Self::validation(sentence(&error.to_string())),
            ClientError::Io(_) => Self::connection(sentence(&error.to_string())).with_hint(
                "Run `appduct daemon status`; where that fails too, `appduct daemon stop` ends the daemon and the next command \
                 starts another.",
            ),
            // These say what to do themselves.
            ClientError::Unreachable { .. }
            | ClientError::StateDir(_)
            | ClientError::Spawn(_)
            | ClientError::PathTooLong { .. }
            | ClientError::Timeout { .. }
            | ClientError::Closed
            | ClientError::Malformed(_) => Self { hint: None, ..Self::connection(sentence(&error.to_string())) },
        }
    }
}

impl From<GuardError> for Failure {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Older(drift) => drifted(sentence(&drift.to_string()), &drift),
            GuardError::StillOlder(ref drift) => drifted(sentence(&error.to_string()), drift),
            GuardError::NotGone(error) => error.into(),
            GuardError::Client(error) => error.into(),
        }
    }
}

/// A daemon of another version; both versions and what is at stake are in the details.
fn drifted(message: String, drift: &Drift) -> Failure {
    let failure = Failure { hint: None, ..Failure::connection(message) };
    match RawJson::of(drift) {
        Ok(details) => failure.with_details(details),
        Err(_) => failure,
    }
}

impl From<StopError> for Failure {
    fn from(error: StopError) -> Self {
        match error {
            StopError::Client(error) => error.into(),
            StopError::NotRunning => {
                Self::connection(error.to_string()).with_hint("The next command that needs a daemon starts one.")
            }
            StopError::NotADaemon { .. } | StopError::StillThere { .. } | StopError::Signal { .. } => {
                Self { hint: None, ..Self::connection(sentence(&error.to_string())) }
            }
        }
    }
}

impl From<StateDirError> for Failure {
    fn from(error: StateDirError) -> Self {
        Self::usage(sentence(&error.to_string()))
    }
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        let kind = error.kind.map_or(Kind::Internal, Kind::Remote);
        Self { details: error.details, ..Self::new(kind, error.message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_exit_status() {
        let ours = [
            (Kind::Internal, 1),
            (Kind::Assertion, 3),
            (Kind::Usage, 64),
            (Kind::Validation, 65),
            (Kind::Inspection, 66),
            (Kind::Connection, 70),
            (Kind::Session, 71),
        ];
        for (kind, code) in ours {
            assert_eq!(kind.exit_code(), code, "{}", kind.as_str());
        }
        for (name, code) in [
            ("no_session", 71),
            ("ambiguous_session", 71),
            ("unknown_session", 71),
            ("session_not_active", 71),
            ("session_suspended", 71),
            ("tool_not_found", 72),
            ("tool_input_validation_error", 72),
            ("tool_output_validation_error", 72),
            ("tool_execution_error", 72),
            ("tool_serialization_error", 72),
            ("tool_timeout", 72),
            ("tool_cancelled", 72),
            ("policy_denied", 77),
            ("invalid_request", 65),
        ] {
            let known = ErrorType::parse(name).unwrap();
            assert_eq!(Kind::Remote(ErrorName::Known(known)).exit_code(), code, "{name}");
        }
        assert_eq!(ErrorType::ALL.len(), 14);
        let other = Kind::Remote(ErrorName::Other("from_the_future".to_owned()));
        assert_eq!((other.as_str(), other.exit_code()), ("from_the_future", 1));
    }

    #[test]
    fn a_daemon_that_does_not_start_says_why_in_its_own_words() {
        let check = |output: &[&str], message: &str| {
            let output: Vec<_> = output.iter().map(|&line| line.to_owned()).collect();
            let failure = did_not_start(&output, Path::new("/s/daemon.log"));
            assert_eq!((failure.message.as_str(), failure.kind.exit_code()), (message, 70));
            assert_eq!(failure.hint.as_deref(), Some("Its log is /s/daemon.log."));
        };
        check(
            &[
                "Command Failed",
                "Error",
                "  Type     internal_error",
                "  Message  config.json is wrong.",
                "  Hint     x",
            ],
            "The daemon did not start: config.json is wrong.",
        );
        check(&["killed"], "The daemon did not start: killed");
        check(&[], "The daemon did not start: it printed nothing.");
    }

    #[test]
    fn an_error_without_a_type_is_internal() {
        let error = RpcError { code: -32_601, kind: None, message: "no such method".to_owned(), details: None };
        assert_eq!(Failure::from(error).kind, Kind::Internal);
    }
}
