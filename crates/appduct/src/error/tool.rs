//! How a handler says that it failed.

use std::error::Error;
use std::fmt;

use appduct_proto::app::Answer;
use appduct_proto::wire::{RawJson, ToolErrorType};
use serde::Serialize;

/// A failed call, passed to the caller word for word.
///
/// `?` turns every standard error into one of kind `tool_execution_error`, with the messages of its sources joined by
/// `: `. That conversion is why `ToolError` is not itself a [`std::error::Error`].
///
/// ```
/// use appduct::{ToolError, ToolErrorType};
///
/// fn port(text: &str) -> Result<u16, ToolError> {
///     Ok(text.parse()?)
/// }
///
/// let error = port("http").unwrap_err();
/// assert_eq!(error.kind(), ToolErrorType::ToolExecutionError);
/// assert_eq!(error.to_string(), "invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    kind: ToolErrorType,
    message: String,
    details: Option<RawJson>,
}

impl ToolError {
    /// A failure of kind `tool_execution_error`. Over 4096 UTF-16 units of `message` are cut.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of_kind(ToolErrorType::ToolExecutionError, message)
    }

    /// Arguments that fit the schema and still make no sense: `tool_input_validation_error`.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::of_kind(ToolErrorType::ToolInputValidationError, message)
    }

    /// A failure of any kind.
    pub fn of_kind(kind: ToolErrorType, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: None }
    }

    /// Adds JSON for the caller. What cannot be written as JSON is left out; the failure itself still goes through.
    #[must_use]
    pub fn with_details(mut self, details: &(impl Serialize + ?Sized)) -> Self {
        self.details = RawJson::of(details).ok();
        self
    }

    /// What kind of failure.
    #[must_use]
    pub fn kind(&self) -> ToolErrorType {
        self.kind
    }

    /// For the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was added for the caller.
    #[must_use]
    pub fn details(&self) -> Option<&RawJson> {
        self.details.as_ref()
    }
}

impl<E: Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::new(message)
    }
}

impl From<ToolError> for Answer {
    fn from(ToolError { kind, message, details }: ToolError) -> Self {
        Self::Error { kind, message, details }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
