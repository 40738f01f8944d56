//! Tool descriptors: what an app says of a tool when it registers it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::value::RawValue;

use super::fields::{FieldFault, Fields, IntegerFrom, Length, Rule};
use super::{Group, RawJson, clamp_timeout_ms};

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
    /// Checks a descriptor and keeps its text, unknown keys included, in a buffer of its own.
    pub fn parse(text: &RawJson) -> Result<Self, FieldFault> {
        let raw = text.detached();
        let buffer = raw.bytes();
        let fields = Fields::parse(raw.as_str()).ok_or_else(|| FieldFault::new("tool", Rule::Object))?;
        let name = fields.text("name", Length::ANY)?;
        let schema = |key| Ok(fields.optional_object(key)?.map(|schema| RawJson::sliced(&buffer, schema)));
        let descriptor = Self {
            name: name.parse().map_err(|ToolNameFault| FieldFault::new("name", Rule::ToolName))?,
            description: fields.text("description", Length::TEXT)?.into_owned(),
            input_schema: schema("input_schema")?,
            output_schema: schema("output_schema")?,
            annotations: fields.optional_object("annotations")?.map(annotations).transpose()?,
            timeout_ms: fields.optional_integer("timeout_ms", IntegerFrom::One)?,
            group: group(&fields)?,
            raw: raw.clone(),
        };
        Ok(descriptor)
    }

    /// Checks a descriptor as an app registers it: unknown keys are dropped and the deadline is clamped, so that what is
    /// stored is what is sent.
    pub fn for_app(text: &RawJson) -> Result<Self, FieldFault> {
        #[derive(Serialize)]
        struct Sent<'a> {
            name: &'a ToolName,
            description: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            input_schema: Option<&'a RawJson>,
            #[serde(skip_serializing_if = "Option::is_none")]
            output_schema: Option<&'a RawJson>,
            #[serde(skip_serializing_if = "Option::is_none")]
            annotations: Option<Annotations>,
            #[serde(skip_serializing_if = "Option::is_none")]
            timeout_ms: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            group: Option<&'a Group>,
        }

        let given = Self::parse(text)?;
        let timeout_ms = given.timeout_ms.map(|ms| clamp_timeout_ms(ms as f64));
        let sent = Sent {
            name: &given.name,
            description: &given.description,
            input_schema: given.input_schema.as_ref(),
            output_schema: given.output_schema.as_ref(),
            annotations: given.annotations,
            timeout_ms,
            group: given.group.as_ref(),
        };
        let raw = RawJson::of(&sent).expect("a descriptor made of checked parts is JSON");
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
