//! What a schema says about a value, in a few words.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::json::{compact, elements, entries};
use crate::wire::{Fields, MAX_FRAME_BYTES, Text};

/// What stands for everything that has no short form.
const UNKNOWN: &str = "...";
const MORE: &str = "…";
const COMBINATORS: [&str; 5] = ["anyOf", "oneOf", "allOf", "not", "$ref"];
const MAX_ENUM_MEMBERS: usize = 5;
const MAX_LITERAL_CHARS: usize = 40;
const MAX_DEFAULT_UNITS: usize = 20;
const MAX_ARRAY_DEPTH: u8 = 4;

/// A part is longer than the longest frame. A list of types multiplies what it holds, so a small schema can ask for more.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooLong;

/// How a group of properties looks.
pub(super) struct Group {
    /// It has none.
    pub(super) empty: &'static str,
    /// The schema does not say which.
    pub(super) unresolved: &'static str,
    open: &'static str,
    close: &'static str,
}

impl Group {
    /// The parameters of a tool.
    pub(super) const PARAMS: Self = Self { empty: "()", unresolved: "(...)", open: "(", close: ")" };
    const OBJECT: Self = Self { empty: "{}", unresolved: "{...}", open: "{ ", close: " }" };
}

/// The properties of an object schema. `expand` says whether objects among them open.
pub(super) fn group(schema: &Fields<'_>, look: &Group, expand: bool) -> Result<String, TooLong> {
    let Some(properties) = schema.get("properties").and_then(entries) else {
        let closed = schema.get("additionalProperties").is_some_and(|more| more.get() == "false");
        return Ok(if closed { look.empty } else { look.unresolved }.to_owned());
    };
    if properties.is_empty() {
        return Ok(look.empty.to_owned());
    }
    let required = schema.get("required").and_then(elements).unwrap_or_default();
    let required: BTreeSet<_> = required.into_iter().filter_map(Text::of).collect();
    let mut line = Line::new(look.open, ", ");
    for (key, value) in properties {
        let mark = if required.contains(&key) { "" } else { "?" };
        let (kind, default) = (shape(value, expand, 0)?, default_of(value));
        line.push(&format!("{}{mark}: {kind}{default}", key_text(&key)))?;
    }
    Ok(line.finish(look.close))
}

/// The type that `schema` describes. `expand` says whether an object opens; `array_depth` counts the arrays around it.
pub(super) fn shape(schema: &RawValue, expand: bool, array_depth: u8) -> Result<String, TooLong> {
    let Some(schema) = Fields::parse(schema.get()) else { return Ok(UNKNOWN.to_owned()) };
    if COMBINATORS.iter().any(|key| schema.get(key).is_some()) {
        return Ok(UNKNOWN.to_owned());
    }
    if let Some(value) = schema.get("const") {
        return Ok(literal(value));
    }
    if let Some(values) = schema.get("enum").and_then(elements) {
        let shown = values.iter().take(MAX_ENUM_MEMBERS).map(|value| literal(value));
        let more = (values.len() > MAX_ENUM_MEMBERS).then(|| MORE.to_owned());
        return Ok(shown.chain(more).collect::<Vec<_>>().join(" | "));
    }
    let Some(kind) = schema.get("type") else { return Ok(UNKNOWN.to_owned()) };
    let Some(kinds) = elements(kind) else { return named(Kind::of(kind), &schema, expand, array_depth) };
    // However often a list names a type, its shape is worked out once.
    let mut shapes = BTreeMap::new();
    let mut line = Line::new("", " | ");
    for kind in kinds.into_iter().map(Kind::of) {
        let shape: &String = match shapes.entry(kind) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(named(kind, &schema, expand, array_depth)?),
        };
        line.push(shape)?;
    }
    Ok(line.finish(""))
}

/// A value of `type`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    String,
    Number,
    Boolean,
    Integer,
    Null,
    Array,
    Object,
    Unknown,
}

impl Kind {
    fn of(name: &RawValue) -> Self {
        match Text::of(name).as_ref().map(Text::as_bytes) {
            Some(b"string") => Self::String,
            Some(b"number") => Self::Number,
            Some(b"boolean") => Self::Boolean,
            Some(b"integer") => Self::Integer,
            Some(b"null") => Self::Null,
            Some(b"array") => Self::Array,
            Some(b"object") => Self::Object,
            _ => Self::Unknown,
        }
    }
}

fn named(kind: Kind, schema: &Fields<'_>, expand: bool, array_depth: u8) -> Result<String, TooLong> {
    let word = match kind {
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Boolean => "bool",
        Kind::Integer => "int",
        Kind::Null => "null",
        Kind::Unknown => UNKNOWN,
        Kind::Object if expand => return group(schema, &Group::OBJECT, false),
        Kind::Object => Group::OBJECT.unresolved,
        Kind::Array => match schema.get("items").filter(|items| items.get().starts_with('{')) {
            None => "unknown[]",
            Some(_) if array_depth >= MAX_ARRAY_DEPTH => "...[]",
            Some(items) => return Ok(shape(items, expand, array_depth + 1)? + "[]"),
        },
    };
    Ok(word.to_owned())
}

/// A value as compact JSON, cut where it is long.
fn literal(value: &RawValue) -> String {
    match compact(value, MAX_LITERAL_CHARS) {
        Ok(text) => text,
        Err(start) => start + MORE,
    }
}

/// ` = <default>` where the property has a short one.
fn default_of(schema: &RawValue) -> String {
    Fields::parse(schema.get())
        .and_then(|schema| compact(schema.get("default")?, MAX_DEFAULT_UNITS).ok())
        .filter(|default| crate::wire::utf16_len(default) <= MAX_DEFAULT_UNITS)
        .map(|default| format!(" = {default}"))
        .unwrap_or_default()
}

/// A property's name: as it is where it reads as one word, else as a JSON string.
fn key_text(key: &Text<'_>) -> String {
    let bare = std::str::from_utf8(key.as_bytes()).ok().filter(|key| !key.is_empty() && key.chars().all(is_word));
    bare.map_or_else(
        || {
            let mut quoted = String::new();
            key.write_json(&mut quoted).expect("a string takes everything");
            quoted
        },
        str::to_owned,
    )
}

fn is_word(c: char) -> bool {
    matches!(c, '_' | '$' | '-')
        || matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// Parts with a separator between them, up to the length of the longest frame.
struct Line {
    text: String,
    start: usize,
    separator: &'static str,
}

impl Line {
    fn new(open: &str, separator: &'static str) -> Self {
        Self { text: open.to_owned(), start: open.len(), separator }
    }

    fn push(&mut self, part: &str) -> Result<(), TooLong> {
        if self.text.len() + part.len() > MAX_FRAME_BYTES {
            return Err(TooLong);
        }
        if self.text.len() > self.start {
            self.text.push_str(self.separator);
        }
        self.text.push_str(part);
        Ok(())
    }

    fn finish(self, close: &str) -> String {
        self.text + close
    }
}
