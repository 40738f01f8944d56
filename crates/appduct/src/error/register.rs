//! Why a registration was refused.

use appduct_proto::wire::{FieldFault, Rule};

use super::Stopped;

/// Why a tool or an event was not registered. An earlier registration of the same name stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// A field breaks its rule.
    #[error("\"{field}\" {rule}")]
    Field {
        /// The field as it is called on the wire: `name`, `description`, `group`, `timeout_ms`, `input_schema`.
        field: String,
        /// What it must be.
        rule: Rule,
    },
    /// A schema cannot be written as JSON.
    #[error("\"{field}\" is not JSON: {message}")]
    Schema {
        /// `input_schema`, `output_schema` or `payload_schema`.
        field: &'static str,
        /// What the serialiser said.
        message: String,
    },
    /// The input type is not an object in JSON, and a tool's arguments always are.
    #[error("\"input_schema\" must take an object: use a struct with named fields")]
    InputNotObject,
    /// A tool that goes into a [`ToolGroup`](crate::ToolGroup) has a group of its own.
    #[error("\"group\" is set by the tool group \"{bound}\": drop `.group(..)` from the tool")]
    GroupBound {
        /// The group of the [`ToolGroup`](crate::ToolGroup).
        bound: String,
    },
    /// The client is not running.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl RegisterError {
    /// The field to mend, as it is called on the wire; `None` if no field is at fault.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Field { field, .. } => Some(field),
            Self::Schema { field, .. } => Some(field),
            Self::InputNotObject => Some("input_schema"),
            Self::GroupBound { .. } => Some("group"),
            Self::Stopped(_) => None,
        }
    }
}

impl From<FieldFault> for RegisterError {
    fn from(FieldFault { field, rule }: FieldFault) -> Self {
        Self::Field { field, rule }
    }
}
