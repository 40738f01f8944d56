//! A schema, from the app's text to a validator.
//!
//! Apps are not trusted: a schema may be huge, refer to itself in every direction, or ask for a regular expression that
//! takes forever. What a validator costs is metered (see [`meter`](super::meter)); this module refuses the schemas whose
//! cost could escape the meter, and changes the others so that none does.

use std::fmt;

use appduct_proto::wire::RawJson;
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};

use super::issues::shortened;
use super::lossy;
use super::metered::Metered;

/// The longest schema.
const MAX_BYTES: usize = 64 * 1024;

/// The most regular expressions in one schema.
const MAX_PATTERNS: usize = 64;

/// The largest compiled regular expression. The engine is linear: a match costs at most this times the length of the text.
const MAX_PATTERN_BYTES: usize = 64 * 1024;

/// The longest schema that may be checked on the thread that asks.
const MAX_PLAIN_BYTES: usize = 8 * 1024;

/// Keywords whose value is data, whatever it looks like.
const DATA: &[&str] = &["const", "default", "enum", "examples"];

/// Keywords whose value holds schemas under names of the author's choice.
const MAPS: &[&str] = &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Keywords that refer to a schema elsewhere.
const REFERENCES: &[&str] = &["$dynamicRef", "$recursiveRef", "$ref"];

/// A schema, ready to be checked against.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) validator: Validator<Metered>,
    /// It is short and has neither references nor regular expressions: the cost of a look at the value is bounded.
    pub(super) is_plain: bool,
}

/// Why a schema is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    TooLong,
    TooManyPatterns,
    /// Nested too deeply, or with a number that nothing can hold.
    Unreadable,
    /// A part of it is in another dialect than the whole.
    MixedDialects,
    /// A reference leads into an example or a constant.
    RefersToData,
    /// The library says so: it is no schema, or it needs something from elsewhere.
    Refused(String),
}

impl Schema {
    pub(super) fn compile(json: &RawJson) -> Result<Self, Unusable> {
        if json.len_bytes() > MAX_BYTES {
            return Err(Unusable::TooLong);
        }
        let mut value = lossy::value(json).ok_or(Unusable::Unreadable)?;
        let mut walk = Walk { siblings_count: siblings_count(&value), references: 0, patterns: 0 };
        walk.schema(&mut value, true)?;
        if walk.patterns > MAX_PATTERNS {
            return Err(Unusable::TooManyPatterns);
        }
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
        let validator = jsonschema::options_for::<Metered>()
            .offline()
            .with_pattern_options(patterns)
            // An annotation, as it is by default in the newest dialect.
            .should_validate_formats(false)
            .build(&value)
            .map_err(|error| Unusable::Refused(shortened(&error.masked().to_string())))?;
        let is_plain = walk.references == 0 && walk.patterns == 0 && json.len_bytes() <= MAX_PLAIN_BYTES;
        Ok(Self { validator, is_plain })
    }

    /// About how much memory a compiled schema takes at most.
    pub(super) fn weight_bytes(json: &RawJson) -> usize {
        let patterns = json.as_str().matches("\"pattern").count().min(MAX_PATTERNS);
        8 * 1024 + json.len_bytes().min(MAX_BYTES) * 32 + patterns * MAX_PATTERN_BYTES
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {MAX_BYTES} bytes"),
            Self::TooManyPatterns => write!(f, "it has more than {MAX_PATTERNS} patterns"),
            Self::Unreadable => f.write_str("it is nested too deeply, or has a number that is too large"),
            Self::MixedDialects => f.write_str("a part of it has a \"$schema\" of its own"),
            Self::RefersToData => f.write_str("a reference leads into a constant or an example"),
            // The text may be the app's.
            Self::Refused(why) => write!(f, "{why:?}"),
        }
    }
}

/// Whether keywords beside a `$ref` count: up to draft 7 they do not.
fn siblings_count(schema: &Value) -> bool {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    !["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|old| dialect.contains(old))
}

/// Finds the references of a schema and puts a look at the value before each. Without references a schema is a tree, and
/// its cost is bounded by its length for each part of the value; with them its expansion may be endless, and no part of it
/// need look at the value.
struct Walk {
    siblings_count: bool,
    references: usize,
    patterns: usize,
}

impl Walk {
    /// The depth is that of the text, which the reader has bounded.
    fn schema(&mut self, value: &mut Value, is_root: bool) -> Result<(), Unusable> {
        let object = match value {
            Value::Array(elements) => return elements.iter_mut().try_for_each(|element| self.schema(element, false)),
            Value::Object(object) => object,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(()),
        };
        if !is_root && object.get("$schema").is_some_and(Value::is_string) {
            return Err(Unusable::MixedDialects);
        }
        self.patterns += usize::from(object.get("pattern").is_some_and(Value::is_string));
        self.patterns += object.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        for (key, child) in object.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())) {
            match child {
                Value::Object(named) if MAPS.contains(&key.as_str()) => {
                    named.values_mut().try_for_each(|child| self.schema(child, false))?;
                }
                Value::Object(_) | Value::Array(_) => self.schema(child, false)?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        self.references(object)
    }

    fn references(&mut self, object: &mut Map<String, Value>) -> Result<(), Unusable> {
        let targets: Vec<&str> =
            REFERENCES.iter().filter_map(|key| object.get(*key)).filter_map(Value::as_str).collect();
        if targets.is_empty() {
            return Ok(());
        }
        if targets.iter().any(|target| leads_into_data(target)) {
            return Err(Unusable::RefersToData);
        }
        self.references += targets.len();
        // The type is the first thing that the validator looks at.
        let any = json!(["array", "boolean", "integer", "null", "number", "object", "string"]);
        if self.siblings_count {
            object.entry("type").or_insert(any);
        } else if let Some(target) = object.remove("$ref") {
            // Only these are of use to others.
            object.retain(|key, _| matches!(key.as_str(), "$schema" | "$defs" | "definitions"));
            object.insert("type".to_owned(), any);
            object.insert("allOf".to_owned(), json!([{ "$ref": target }]));
        }
        Ok(())
    }
}

/// Whether a step of the pointer in `reference` is one of the keywords that hold data, and not a name in a map.
fn leads_into_data(reference: &str) -> bool {
    let Some((_, pointer)) = reference.split_once("#/") else { return false };
    let mut is_name = false;
    for step in pointer.split('/') {
        // Nobody has to spell a keyword with escapes.
        if !is_name && (DATA.contains(&step) || step.contains('%')) {
            return true;
        }
        is_name = !is_name && MAPS.contains(&step);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(schema: &Value) -> RawJson {
        RawJson::of(schema).unwrap()
    }

    fn compiled(schema: &Value) -> Schema {
        Schema::compile(&raw(schema)).unwrap()
    }

    fn why(schema: &Value) -> Unusable {
        Schema::compile(&raw(schema)).unwrap_err()
    }

    #[test]
    fn a_schema_that_needs_something_from_elsewhere_is_refused() {
        for reference in ["https://example.com/a.json", "file:///etc/passwd", "other.json", "http://127.0.0.1:1/a#/b"] {
            assert!(matches!(why(&json!({"$ref": reference})), Unusable::Refused(_)), "{reference}");
        }
        assert!(matches!(why(&json!({"$schema": "https://example.com/mine"})), Unusable::Refused(_)));
        compiled(&json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}));
    }

    #[test]
    fn what_is_no_schema_or_too_much_of_one_is_refused() {
        assert!(matches!(why(&json!({"type": "text"})), Unusable::Refused(_)));
        assert!(matches!(why(&json!({"pattern": "("})), Unusable::Refused(_)));
        assert!(matches!(why(&json!({"pattern": r"^(?!a)b\1"})), Unusable::Refused(_)), "not linear");
        assert!(matches!(why(&json!({"pattern": "(.{1,1000}){1,1000}"})), Unusable::Refused(_)), "too large");
        assert_eq!(why(&json!({"description": "x".repeat(MAX_BYTES)})), Unusable::TooLong);
        let patterns: Vec<_> = (0..=MAX_PATTERNS).map(|n| json!({"pattern": n.to_string()})).collect();
        assert_eq!(why(&json!({"anyOf": patterns})), Unusable::TooManyPatterns);
        assert_eq!(why(&json!({"properties": {"a": {"$schema": "x"}}})), Unusable::MixedDialects);
        let deep = format!("{}{}", r#"{"not":"#.repeat(1000), "{}".to_owned() + &"}".repeat(1000));
        assert_eq!(Schema::compile(&RawJson::parse(&deep).unwrap()).unwrap_err(), Unusable::Unreadable);
    }

    #[test]
    fn a_reference_into_data_is_refused() {
        for (reference, refused) in [
            ("#/const", true),
            ("#/properties/a/enum/0", true),
            ("x#/examples/0", true),
            ("#/%63onst", true),
            ("#/properties/properties/const", true),
            ("#/properties/const/properties/const", false),
            ("#/$defs/default", false),
            ("#/definitions/enum/items", false),
            ("#/$defs/a%20b", false),
            ("#", false),
            ("#const", false),
        ] {
            assert_eq!(leads_into_data(reference), refused, "{reference}");
        }
    }

    #[test]
    fn references_mean_the_same_with_a_look_before_them() {
        let person = json!({"type": "object", "required": ["name"]});
        for schema in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/P", "type": "string",
                   "definitions": {"P": person}}),
            json!({"$ref": "#/$defs/P", "$defs": {"P": person}}),
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "allOf": [{"$ref": "#/$defs/P"}],
                   "$defs": {"P": person}}),
        ] {
            let validator = compiled(&schema).validator;
            for (value, fits) in [(json!({"name": 1}), true), (json!({}), false), (json!("name"), false)] {
                assert_eq!(validator.is_valid(&value), fits, "{schema} {value}");
            }
        }
        let named = compiled(&json!({"properties": {"const": {"$ref": "#/$defs/n"}, "$ref": {"type": "null"}},
                                    "$defs": {"n": {"type": "number"}}}));
        assert!(named.validator.is_valid(&json!({"const": 1, "$ref": null})));
        assert!(!named.validator.is_valid(&json!({"const": "1"})));
        assert!(!named.validator.is_valid(&json!({"$ref": 1})));
    }

    #[test]
    fn only_short_schemas_without_references_and_patterns_are_plain() {
        let is_plain = |schema: &Value| compiled(schema).is_plain;
        assert!(is_plain(&json!({"type": "object", "properties": {"a": {"enum": ["$ref", "pattern"]}}})));
        assert!(!is_plain(&json!({"properties": {"a": {"$ref": "#"}}})));
        assert!(!is_plain(&json!({"properties": {"a": {"pattern": "^a"}}})));
        assert!(!is_plain(&json!({"patternProperties": {"^a": true}})));
        assert!(!is_plain(&json!({"description": "x".repeat(MAX_PLAIN_BYTES)})));
    }
}
