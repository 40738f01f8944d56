//! Event descriptors: what an app says of the events that it may post.

use super::fields::{FieldFault, Fields, Length, Rule};
use super::{Object, RawJson};

/// A valid event descriptor. Posted events are never checked against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDescriptor {
    /// Unique in a registry; any string of 1 to 4096 UTF-16 units.
    pub name: String,
    /// 1 to 4096 UTF-16 units.
    pub description: String,
    /// A JSON object whose content nobody checks here.
    pub payload_schema: Option<RawJson>,
    raw: RawJson,
}

impl EventDescriptor {
    /// Checks a descriptor and keeps its text, unknown keys included, in a buffer of its own.
    pub fn parse(text: &RawJson) -> Result<Self, FieldFault> {
        Self::read(text.detached())
    }

    /// Checks a descriptor as an app declares it: unknown keys are dropped.
    pub fn for_app(text: &RawJson) -> Result<Self, FieldFault> {
        let given = Self::parse(text)?;
        let raw = Object::new()
            .text("name", &given.name)
            .text("description", &given.description)
            .optional_raw("payload_schema", given.payload_schema.as_ref())
            .into_raw();
        Ok(Self { raw, ..given })
    }

    /// Checks a descriptor that has a buffer of its own.
    pub(super) fn read(raw: RawJson) -> Result<Self, FieldFault> {
        let buffer = raw.bytes();
        let fields = Fields::parse(raw.as_str()).ok_or_else(|| FieldFault::new("event", Rule::Object))?;
        Ok(Self {
            name: fields.text("name", Length::TEXT)?.into_owned(),
            description: fields.text("description", Length::TEXT)?.into_owned(),
            payload_schema: fields.optional_object("payload_schema")?.map(|schema| RawJson::sliced(&buffer, schema)),
            raw: raw.clone(),
        })
    }

    /// The descriptor's own text: as received, or as [`EventDescriptor::for_app`] composed it.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }
}
