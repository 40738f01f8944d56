//! One tool.

use appduct_proto::signature::{signature, summary};
use appduct_proto::wire::{Fields, Length, RawJson};

use super::{Style, Value, escape, fitted_block};

/// What a listing shows of a tool.
pub(super) struct Entry {
    /// One line, safe to print.
    pub(super) signature: String,
    /// One line, safe to print; empty without a description.
    pub(super) summary: String,
    /// Safe to print.
    pub(super) group: Option<String>,
    /// `  [prompt]` or `  [deny]`, or nothing.
    pub(super) tag: &'static str,
}

impl Entry {
    /// Reads a daemon's entry. What is missing stays empty: a listing never fails.
    pub(super) fn read(raw: &RawJson) -> Self {
        let fields = Fields::parse(raw.as_str());
        let text = |key: &str| text(fields.as_ref(), key);
        Self {
            signature: signature_of(fields.as_ref()),
            summary: escape::line(&summary(&text("description").unwrap_or_default())).into_owned(),
            group: text("group").map(|group| escape::line(&group).into_owned()),
            tag: match text("policy").as_deref() {
                Some("prompt") => "  [prompt]",
                Some("deny") => "  [deny]",
                Some(_) | None => "",
            },
        }
    }
}

/// Everything of one tool.
pub(super) fn lines(raw: &RawJson, style: Style) -> Vec<String> {
    let fields = Fields::parse(raw.as_str());
    let text = |key: &str| text(fields.as_ref(), key).map(|text| escape::line(&text).into_owned());
    let json = |key: &str| self::raw(fields.as_ref(), key).map(|value| Value::AsIs(style.value(&value)));
    let title = format!("Tool: {}", text("name").unwrap_or_default());
    fitted_block(
        &style.paint.green(&title),
        [
            ("Signature", Some(Value::Prose(signature_of(fields.as_ref())))),
            ("Description", text("description").map(Value::Prose)),
            ("Input schema", json("input_schema")),
            ("Output schema", json("output_schema")),
            ("Group", text("group").map(Value::AsIs)),
            ("Annotations", json("annotations")),
            ("Timeout (ms)", json("timeout_ms")),
        ],
        style,
    )
}

fn signature_of(fields: Option<&Fields<'_>>) -> String {
    let name = text(fields, "name").unwrap_or_default();
    let line = signature(&name, raw(fields, "input_schema").as_ref(), raw(fields, "output_schema").as_ref());
    escape::line(&line).into_owned()
}

fn text(fields: Option<&Fields<'_>>, key: &str) -> Option<String> {
    fields?.text(key, Length::ANY).ok().map(std::borrow::Cow::into_owned)
}

fn raw(fields: Option<&Fields<'_>>, key: &str) -> Option<RawJson> {
    RawJson::parse(fields?.get(key)?.get()).ok()
}
