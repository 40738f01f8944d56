//! `key=value` words into a call's input, each read by the type that the tool's schema gives it.

use appduct_proto::wire::{Fields, JsonKind, Object, RawJson};
use serde_json::Value;

use crate::error::Failure;
use crate::settings::{AssignedValue, Assignment};

/// How deep references and unions of a schema are followed.
const MAX_DEPTH: usize = 8;

/// What a value may be. In the order in which a word is tried; text comes last, because every word is one.
const ORDER: [Kind; 7] =
    [Kind::Null, Kind::Boolean, Kind::Integer, Kind::Number, Kind::Array, Kind::Object, Kind::String];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    Array,
    Object,
    String,
}

impl Kind {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "array" => Self::Array,
            "object" => Self::Object,
            "string" => Self::String,
            _ => return None,
        })
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "true or false",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Array => "a JSON array",
            Self::Object => "a JSON object",
            Self::String => "text",
        }
    }

    /// The word as JSON of this kind, as it was typed.
    fn read(self, text: &str) -> Option<RawJson> {
        if self == Self::String {
            return RawJson::of(text).ok();
        }
        let value = RawJson::parse(text).ok()?;
        let fits = match value.kind() {
            JsonKind::Null => self == Self::Null,
            JsonKind::Boolean => self == Self::Boolean,
            JsonKind::Number => self == Self::Number || (self == Self::Integer && is_whole(text)),
            JsonKind::String => false,
            JsonKind::Array => self == Self::Array,
            JsonKind::Object => self == Self::Object,
        };
        fits.then_some(value)
    }
}

fn is_whole(number: &str) -> bool {
    number.trim().parse::<f64>().is_ok_and(|number| number.fract() == 0.0)
}

/// Whether a word must be read by the tool's schema.
pub(super) fn need_schema(words: &[Assignment]) -> bool {
    words.iter().any(|word| matches!(word.value, AssignedValue::Text(_)))
}

/// The object that `words` describe, for the tool of this entry.
pub(super) fn object(words: &[Assignment], entry: Option<&RawJson>) -> Result<RawJson, Failure> {
    let schema = entry.and_then(input_schema);
    let mut object = Object::new();
    for Assignment { key, value } in words {
        object = match value {
            AssignedValue::Json(value) => object.raw(key, value),
            AssignedValue::Text(text) => object.raw(key, &typed(key, text, schema.as_ref())?),
        };
    }
    Ok(object.into_raw())
}

fn input_schema(entry: &RawJson) -> Option<Value> {
    let fields = Fields::parse(entry.as_str())?;
    serde_json::from_str(fields.get("input_schema")?.get()).ok()
}

/// A word as the first kind that the schema allows and that it can be read as; text where the schema says nothing.
fn typed(key: &str, text: &str, schema: Option<&Value>) -> Result<RawJson, Failure> {
    let mut allowed = Vec::new();
    if let Some(root) = schema
        && let Some(property) = property(root, root, key, 0)
    {
        collect(root, property, &mut allowed, 0);
    }
    if allowed.is_empty() {
        allowed.push(Kind::String);
    }
    let kinds: Vec<_> = ORDER.into_iter().filter(|kind| allowed.contains(kind)).collect();
    kinds.iter().find_map(|kind| kind.read(text)).ok_or_else(|| {
        let wanted = kinds.iter().map(|kind| kind.describe()).collect::<Vec<_>>().join(" or ");
        Failure::validation(format!("\"{key}\" must be {wanted}; got \"{text}\"."))
            .with_hint(format!("`{key}:=<json>` takes any JSON."))
    })
}

/// The schema of a property.
fn property<'a>(root: &'a Value, schema: &'a Value, key: &str, depth: usize) -> Option<&'a Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let direct = schema.get("properties").and_then(|properties| properties.get(key));
    direct
        .or_else(|| property(root, referenced(root, schema)?, key, depth + 1))
        .or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_object()))
}

/// Adds the kinds that `schema` allows.
fn collect(root: &Value, schema: &Value, allowed: &mut Vec<Kind>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let names = match schema.get("type") {
        Some(Value::String(name)) => std::slice::from_ref(name).iter().map(String::as_str).collect(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    allowed.extend(names.into_iter().filter_map(Kind::parse));
    if !allowed.is_empty() {
        return;
    }
    allowed.extend(schema.get("const").map(Kind::of));
    allowed.extend(schema.get("enum").and_then(Value::as_array).into_iter().flatten().map(Kind::of));
    for union in ["anyOf", "oneOf", "allOf"] {
        for branch in schema.get(union).and_then(Value::as_array).into_iter().flatten() {
            let mut kinds = Vec::new();
            collect(root, branch, &mut kinds, depth + 1);
            allowed.append(&mut kinds);
        }
    }
    if let Some(target) = referenced(root, schema) {
        collect(root, target, allowed, depth + 1);
    }
}

/// What a reference inside the same schema points to.
fn referenced<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{
        "type": "object",
        "properties": {
            "n": { "type": "number" },
            "i": { "type": "integer" },
            "s": { "type": "string" },
            "b": { "type": "boolean" },
            "l": { "type": "array" },
            "o": { "type": "object" },
            "maybe": { "type": ["integer", "null"] },
            "either": { "anyOf": [{ "type": "number" }, { "type": "string" }] },
            "color": { "enum": ["red", "green"] },
            "point": { "$ref": "#/$defs/point" },
            "free": {},
            "loop": { "$ref": "#/properties/loop" }
        },
        "$defs": { "point": { "type": "object" } }
    }"##;

    fn check(key: &str, text: &str, expected: Result<&str, &str>) {
        let schema = serde_json::from_str(SCHEMA).unwrap();
        let typed = typed(key, text, Some(&schema)).map_err(|failure| failure.message);
        assert_eq!(typed.as_ref().map(RawJson::as_str).map_err(String::as_str), expected, "{key}={text}");
    }

    #[test]
    fn a_word_is_read_by_the_schema() {
        check("n", "2", Ok("2"));
        check("n", "1.50", Ok("1.50"));
        check("i", "2.0", Ok("2.0"));
        check("s", "007", Ok("\"007\""));
        check("s", "true", Ok("\"true\""));
        check("b", "true", Ok("true"));
        check("l", "[1, 2]", Ok("[1, 2]"));
        check("o", "{\"a\":1}", Ok("{\"a\":1}"));
        check("maybe", "null", Ok("null"));
        check("either", "5", Ok("5"));
        check("either", "five", Ok("\"five\""));
        check("color", "red", Ok("\"red\""));
        check("point", "{}", Ok("{}"));
    }

    #[test]
    fn what_the_schema_does_not_say_is_text() {
        check("free", "5", Ok("\"5\""));
        check("unknown", "5", Ok("\"5\""));
        check("loop", "5", Ok("\"5\""));
        assert_eq!(typed("a", "5", None).unwrap().as_str(), "\"5\"");
    }

    #[test]
    fn a_word_of_another_kind_is_refused() {
        check("n", "x", Err("\"n\" must be a number; got \"x\"."));
        check("n", "\"2\"", Err("\"n\" must be a number; got \"\"2\"\"."));
        check("i", "1.5", Err("\"i\" must be an integer; got \"1.5\"."));
        check("b", "yes", Err("\"b\" must be true or false; got \"yes\"."));
        check("maybe", "", Err("\"maybe\" must be null or an integer; got \"\"."));
    }

    #[test]
    fn words_become_one_object() {
        let json = |key: &str, text: &str| Assignment {
            key: key.to_owned(),
            value: AssignedValue::Json(RawJson::parse(text).unwrap()),
        };
        let raw = [json("a", "[1, 2]"), json("b\"", "1.0")];
        assert!(!need_schema(&raw));
        assert_eq!(object(&raw, None).unwrap().as_str(), "{\"a\":[1, 2],\"b\\\"\":1.0}");
        let text = [Assignment { key: "n".to_owned(), value: AssignedValue::Text("2".to_owned()) }];
        assert!(need_schema(&text));
        let entry = RawJson::parse(&format!("{{\"name\":\"t\",\"input_schema\":{SCHEMA}}}")).unwrap();
        assert_eq!(object(&text, Some(&entry)).unwrap().as_str(), "{\"n\":2}");
    }
}
