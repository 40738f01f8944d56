//! How an app says that a call failed.

use serde::{Serialize, Serializer};

use crate::wire::RawJson;

macro_rules! tool_error_types {
    ($($(#[$doc:meta])* $variant:ident = $text:literal;)*) => {
        /// The error types that an app may send.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ToolErrorType {
            $($(#[$doc])* $variant,)*
        }

        impl ToolErrorType {
            /// Every type.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

tool_error_types! {
    /// The app has no tool of that name.
    ToolNotFound = "tool_not_found";
    /// The arguments do not fit the tool's input schema.
    ToolInputValidationError = "tool_input_validation_error";
    /// The result does not fit the tool's output schema.
    ToolOutputValidationError = "tool_output_validation_error";
    /// The handler failed.
    ToolExecutionError = "tool_execution_error";
    /// The result, or the call, cannot go into a frame.
    ToolSerializationError = "tool_serialization_error";
    /// The app did not answer in time.
    ToolTimeout = "tool_timeout";
    /// Somebody cancelled the call.
    ToolCancelled = "tool_cancelled";
}

impl ToolErrorType {
    /// The type of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

impl Serialize for ToolErrorType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A failed call as the app tells it; passed on to the caller word for word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolFault {
    /// What kind of failure.
    #[serde(rename = "type")]
    pub kind: ToolErrorType,
    /// 1 to 4096 UTF-16 units.
    pub message: String,
    /// Anything the app adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<RawJson>,
}
