//! Tool descriptors: what an app says of a tool when it registers it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::value::RawValue;

use super::fields::{FieldFault, Fields, IntegerFrom, Length, Rule};
use super::{Group, Object, RawJson, clamp_timeout_ms};

/// The longest tool name or group segment, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Whether `text` is wholly `^[a-zA-Z0-9_-]{1,64}$`.
pub(super) fn is_tool_name(text: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The name of a tool: 1 to 64 letters, digits, `_` or `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ToolName(Box<str>);

/// The text is not a tool name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolNameFault;

impl ToolName {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolName {
    type Err = ToolNameFault;

    fn from_str(text: &str) -> Result<Self, ToolNameFault> {
        if is_tool_name(text) { Ok(Self(text.into())) } else { Err(ToolNameFault) }
    }
}

impl std::borrow::Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hints about what a tool does; absent means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// The tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling the tool twice is the same as calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
}

impl Annotations {
    fn to_raw(self) -> RawJson {
        Object::new()
            .optional_display("readOnlyHint", self.read_only_hint)
            .optional_display("destructiveHint", self.destructive_hint)
            .optional_display("idempotentHint", self.idempotent_hint)
            .into_raw()
    }
}

/// A valid tool descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDescriptor {
    /// Unique in a registry.
    pub name: ToolName,
    /// 1 to 4096 UTF-16 units.
    pub description: String,
    /// A JSON object whose content nobody checks here.
    pub input_schema: Option<RawJson>,
    /// A JSON object whose content nobody checks here.
    pub output_schema: Option<RawJson>,
    /// `None` where the app sent none.
    pub annotations: Option<Annotations>,
    /// The deadline that the app declares for a call, in milliseconds, greater than zero.
    pub timeout_ms: Option<u64>,
    /// `None` for a tool of no group.
    pub group: Option<Group>,
    raw: RawJson,
}

impl ToolDescriptor {
    /// Whether the app says that the tool may destroy something.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        self.annotations.and_then(|hints| hints.destructive_hint) == Some(true)
    }

    /// Checks a descriptor and keeps its text, unknown keys included, in a buffer of its own.
    pub fn parse(text: &RawJson) -> Result<Self, FieldFault> {
        Self::read(text.detached())
    }

    /// Checks a descriptor that has a buffer of its own.
    pub(super) fn read(raw: RawJson) -> Result<Self, FieldFault> {
        let buffer = raw.bytes();
        let fields = Fields::parse(raw.as_str()).ok_or_else(|| FieldFault::new("tool", Rule::Object))?;
        let name = fields.text("name", Length::ANY)?;
        let schema = |key| Ok(fields.optional_object(key)?.map(|schema| RawJson::sliced(&buffer, schema)));
        Ok(Self {
            name: name.parse().map_err(|ToolNameFault| FieldFault::new("name", Rule::ToolName))?,
            description: fields.text("description", Length::TEXT)?.into_owned(),
            input_schema: schema("input_schema")?,
            output_schema: schema("output_schema")?,
            annotations: fields.optional_object("annotations")?.map(annotations).transpose()?,
            timeout_ms: fields.optional_integer("timeout_ms", IntegerFrom::One)?,
            group: group(&fields)?,
            raw: raw.clone(),
        })
    }

    /// Checks a descriptor as an app registers it: unknown keys are dropped and the deadline is clamped, so that what is
    /// stored is what is sent.
    pub fn for_app(text: &RawJson) -> Result<Self, FieldFault> {
        let given = Self::parse(text)?;
        let timeout_ms = given.timeout_ms.map(|ms| clamp_timeout_ms(ms as f64));
        let annotations = given.annotations.map(Annotations::to_raw);
        let raw = Object::new()
            .text("name", given.name.as_str())
            .text("description", &given.description)
            .optional_raw("input_schema", given.input_schema.as_ref())
            .optional_raw("output_schema", given.output_schema.as_ref())
            .optional_raw("annotations", annotations.as_ref())
            .optional_display("timeout_ms", timeout_ms)
            .optional_text("group", given.group.as_ref().map(Group::as_str))
            .into_raw();
        Ok(Self { timeout_ms, raw, ..given })
    }

    /// The descriptor's own text: as received, or as [`ToolDescriptor::for_app`] composed it.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }
}

fn group(fields: &Fields<'_>) -> Result<Option<Group>, FieldFault> {
    let fault = || FieldFault::new("group", Rule::Group);
    let text = fields.optional_text("group", Length::ANY).map_err(|_| fault())?;
    text.map(|text| text.parse().map_err(|_| fault())).transpose()
}

fn annotations(raw: &RawValue) -> Result<Annotations, FieldFault> {
    let outer = "annotations";
    let fields = Fields::parse(raw.get()).ok_or_else(|| FieldFault::new(outer, Rule::Object))?;
    let known = ["readOnlyHint", "destructiveHint", "idempotentHint"];
    if let Some((key, _)) = fields.iter().find(|(key, _)| !known.contains(key)) {
        return Err(FieldFault::new(key, Rule::Unknown).inside(outer));
    }
    let [read_only_hint, destructive_hint, idempotent_hint] =
        known.map(|key| fields.optional_boolean(key).map_err(|fault| fault.inside(outer)));
    Ok(Annotations {
        read_only_hint: read_only_hint?,
        destructive_hint: destructive_hint?,
        idempotent_hint: idempotent_hint?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_app_registers_is_what_it_sends() {
        for (given, sent) in [
            (
                r#"{"x":1,"timeout_ms":500.0,"group":"a/b","description":"d","name":"n","timeoutMs":7}"#,
                r#"{"name":"n","description":"d","timeout_ms":1000,"group":"a/b"}"#,
            ),
            (
                r#"{"name":"n","description":"d","timeout_ms":1e300,"annotations":{"idempotentHint":false,"readOnlyHint":true}}"#,
                r#"{"name":"n","description":"d","annotations":{"readOnlyHint":true,"idempotentHint":false},"timeout_ms":600000}"#,
            ),
            (
                r#"{"name":"n","description":"\ud800","input_schema": {"a" : 1.0} ,"output_schema":{"b":"\ud800"}}"#,
                "{\"name\":\"n\",\"description\":\"\u{FFFD}\",\"input_schema\":{\"a\" : 1.0},\"output_schema\":{\"b\":\"\\ud800\"}}",
            ),
        ] {
            let tool = ToolDescriptor::for_app(&RawJson::parse(given).unwrap()).unwrap();
            assert_eq!(tool.raw().as_str(), sent);
            assert_eq!(ToolDescriptor::parse(tool.raw()), Ok(tool));
        }
    }
}
