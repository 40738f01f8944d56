//! What an app says of an event that it may post.

use std::fmt;

use appduct_proto::wire::RawJson;
use serde::Serialize;

use crate::RegisterError;
use crate::schema::{Schema, composed};

/// An event that the app may post, for callers to know of. Declaring is advice: undeclared events are sent as well, and
/// payloads are not checked.
#[derive(Clone)]
#[must_use = "a declaration does nothing until it is registered"]
pub struct EventDeclaration {
    name: String,
    description: String,
    payload: Option<Schema>,
}

impl EventDeclaration {
    /// An event. `name` is any text and `description` too, each of 1 to 4096 UTF-16 units.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), payload: None }
    }

    /// Tells callers the schema of the payload's type.
    #[cfg(feature = "schemars")]
    pub fn payload<T: schemars::JsonSchema>(self) -> Self {
        Self { payload: Some(Schema::of_output::<T>()), ..self }
    }

    /// Tells callers a JSON Schema of your own.
    pub fn payload_schema(self, schema: impl Serialize) -> Self {
        Self { payload: Some(Schema::given(&schema)), ..self }
    }

    pub(crate) fn descriptor(&self) -> Result<RawJson, RegisterError> {
        #[derive(Serialize)]
        struct Descriptor<'a> {
            name: &'a str,
            description: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            payload_schema: Option<RawJson>,
        }

        let descriptor = Descriptor {
            name: &self.name,
            description: &self.description,
            payload_schema: self.payload.as_ref().map(|schema| schema.text("payload_schema")).transpose()?,
        };
        Ok(composed(&descriptor))
    }
}

impl fmt::Debug for EventDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventDeclaration").field("name", &self.name).finish_non_exhaustive()
    }
}
