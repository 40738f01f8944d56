//! The fields of one JSON object, and the guards that every frame, descriptor and request shares.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::entries::Entries;
use super::raw::{JsonKind, kind_of};
use super::text::Text;

/// A JSON object taken apart one level deep; values stay text until asked for.
#[derive(Debug)]
pub struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// The length that a string must have, in UTF-16 units, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The shortest.
    pub min: usize,
    /// The longest.
    pub max: usize,
}

impl Length {
    /// Ids and tokens: 1 to 128.
    pub const ID: Self = Self { min: 1, max: super::MAX_ID_UNITS };
    /// Descriptions, messages, event names, reasons: 1 to 4096.
    pub const TEXT: Self = Self { min: 1, max: super::MAX_TEXT_UNITS };
    /// Device fields: 0 to 256.
    pub const DEVICE: Self = Self { min: 0, max: super::MAX_DEVICE_UNITS };
    /// Any string but the empty one.
    pub const NON_EMPTY: Self = Self { min: 1, max: usize::MAX };
    /// Any string.
    pub const ANY: Self = Self { min: 0, max: usize::MAX };

    /// Whether `text` has this length.
    #[must_use]
    pub fn holds(self, text: &str) -> bool {
        // No string has more units than bytes, so most need no count.
        let at_most = text.len() <= self.max || utf16_len(text) <= self.max;
        let at_least = self.min <= usize::from(!text.is_empty()) || utf16_len(text) >= self.min;
        at_most && at_least
    }
}

/// A field that breaks its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// The field, as a path from the object that was checked: `group`, `annotations.readOnlyHint`.
    pub field: String,
    /// The rule that it breaks.
    pub rule: Rule,
}

/// What a field must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// It must be there.
    Required,
    /// It must be a string of this length in UTF-16 units.
    Text(Length),
    /// It must be exactly this string.
    Exactly(&'static str),
    /// It must be one of these strings.
    OneOf(&'static [&'static str]),
    /// It must be a finite number.
    FiniteNumber,
    /// It must be a whole number greater than zero.
    PositiveInteger,
    /// It must be a whole number, zero or greater.
    NonNegativeInteger,
    /// It must be `true` or `false`.
    Boolean,
    /// It must be a JSON object.
    Object,
    /// It must be a JSON array.
    Array,
    /// It must be a tool name.
    ToolName,
    /// It must be a group.
    Group,
    /// Its name is not one that this object takes.
    Unknown,
}

impl FieldFault {
    /// A fault of `field`.
    #[must_use]
    pub fn new(field: impl Into<String>, rule: Rule) -> Self {
        Self { field: field.into(), rule }
    }

    /// The same fault seen from the object that holds this one under `outer`.
    #[must_use]
    pub fn inside(mut self, outer: &str) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An unknown key is the peer's text.
        write!(f, "\"{}\" {}", self.field.escape_debug(), self.rule)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("is required"),
            Self::Text(Length { min: 0, max: usize::MAX }) => f.write_str("must be a string"),
            Self::Text(Length { min: 1, max: usize::MAX }) => f.write_str("must be a non-empty string"),
            Self::Text(Length { min, max }) => write!(f, "must be a string of {min} to {max} characters"),
            Self::Exactly(value) => write!(f, "must be \"{value}\""),
            Self::OneOf(values) => write!(f, "must be one of \"{}\"", values.join("\", \"")),
            Self::FiniteNumber => f.write_str("must be a finite number"),
            Self::PositiveInteger => f.write_str("must be a positive integer"),
            Self::NonNegativeInteger => f.write_str("must be a non-negative integer"),
            Self::Boolean => f.write_str("must be true or false"),
            Self::Object => f.write_str("must be a JSON object"),
            Self::Array => f.write_str("must be an array"),
            Self::ToolName => f.write_str("must be 1 to 64 letters, digits, \"_\" or \"-\""),
            Self::Group => f.write_str(
                "must be a group name like \"checkout\" or \"checkout/payment\" \
                 (one or two segments of 1 to 64 letters, digits, \"_\" or \"-\")",
            ),
            Self::Unknown => f.write_str("is not a known field"),
        }
    }
}

impl std::error::Error for FieldFault {}

/// The length of `text` as every peer counts it: in UTF-16 code units.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The order of two texts as every peer sorts them: by UTF-16 code units. It differs from the order of `str` where one
/// has a character beyond U+FFFF and the other one of U+E000 to U+FFFF.
#[must_use]
pub fn utf16_cmp(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

impl<'a> Fields<'a> {
    /// Takes `text` apart; `None` unless it is one JSON object.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of `key`; the last one where it is there more than once.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The value of `key`, which must be there.
    pub fn required(&self, key: &str) -> Result<&'a RawValue, FieldFault> {
        self.get(key).ok_or_else(|| FieldFault::new(key, Rule::Required))
    }

    /// Every key with its value, in the order of the text, duplicates included.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// A string that must be there.
    pub fn text(&self, key: &str, length: Length) -> Result<Cow<'a, str>, FieldFault> {
        decode_text(self.required(key)?, length).ok_or_else(|| FieldFault::new(key, Rule::Text(length)))
    }

    /// A string that may be absent; `null` is not absent.
    pub fn optional_text(&self, key: &str, length: Length) -> Result<Option<Cow<'a, str>>, FieldFault> {
        self.get(key).map(|_| self.text(key, length)).transpose()
    }

    /// Whether `key` is exactly the string `value`.
    #[must_use]
    pub fn is_text(&self, key: &str, value: &str) -> bool {
        self.text(key, Length::ANY).is_ok_and(|text| text == value)
    }

    /// A finite number that may be absent.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>, FieldFault> {
        self.get(key).map(|raw| decode_number(raw).ok_or_else(|| FieldFault::new(key, Rule::FiniteNumber))).transpose()
    }

    /// A whole number that may be absent, `min` or greater; `2.0` and `6e4` are whole numbers.
    pub fn optional_integer(&self, key: &str, min: IntegerFrom) -> Result<Option<u64>, FieldFault> {
        self.get(key).map(|raw| decode_integer(raw, min).ok_or_else(|| FieldFault::new(key, min.rule()))).transpose()
    }

    /// A boolean that may be absent.
    pub fn optional_boolean(&self, key: &str) -> Result<Option<bool>, FieldFault> {
        self.get(key)
            .map(|raw| match raw.get() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(FieldFault::new(key, Rule::Boolean)),
            })
            .transpose()
    }

    /// A JSON object that may be absent.
    pub fn optional_object(&self, key: &str) -> Result<Option<&'a RawValue>, FieldFault> {
        self.get(key)
            .map(|raw| match kind_of(raw.get()) {
                JsonKind::Object => Ok(raw),
                JsonKind::Null | JsonKind::Boolean | JsonKind::Number | JsonKind::String | JsonKind::Array => {
                    Err(FieldFault::new(key, Rule::Object))
                }
            })
            .transpose()
    }

    /// A JSON array that must be there, as its elements.
    pub fn array(&self, key: &str) -> Result<Vec<&'a RawValue>, FieldFault> {
        let raw = self.required(key)?;
        serde_json::from_str(raw.get()).map_err(|_| FieldFault::new(key, Rule::Array))
    }
}

/// Where a whole number starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerFrom {
    /// 0 and greater.
    Zero,
    /// 1 and greater.
    One,
}

impl IntegerFrom {
    fn rule(self) -> Rule {
        match self {
            Self::Zero => Rule::NonNegativeInteger,
            Self::One => Rule::PositiveInteger,
        }
    }
}

fn decode_text(raw: &RawValue, length: Length) -> Option<Cow<'_, str>> {
    let text = Text::of(raw)?.into_lossy();
    length.holds(&text).then_some(text)
}

fn decode_number(raw: &RawValue) -> Option<f64> {
    if kind_of(raw.get()) != JsonKind::Number {
        return None;
    }
    // Rust reads every JSON number and rounds as JavaScript does; beyond the range it gives infinity.
    raw.get().parse().ok().filter(|number: &f64| number.is_finite())
}

fn decode_integer(raw: &RawValue, min: IntegerFrom) -> Option<u64> {
    let number = decode_number(raw)?;
    let least = match min {
        IntegerFrom::Zero => 0.0,
        IntegerFrom::One => 1.0,
    };
    // The cast saturates: beyond 2^64 a count is as good as endless.
    (number.fract() == 0.0 && number >= least).then_some(number as u64)
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Entries(entries) = Entries::deserialize(deserializer)?;
        Ok(Self(entries.into_iter().map(|(key, value)| (key.into_lossy(), value)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields<'_> {
        Fields::parse(text).unwrap()
    }

    #[test]
    fn only_an_object_has_fields() {
        for text in ["[]", "null", "\"a\"", "1", "{", "{}x", ""] {
            assert!(Fields::parse(text).is_none(), "{text}");
        }
        assert!(Fields::parse(" { } ").is_some());
    }

    #[test]
    fn the_last_duplicate_wins() {
        assert_eq!(fields(r#"{"a":1,"a":"x"}"#).text("a", Length::ANY).unwrap(), "x");
    }

    #[test]
    fn null_is_not_absent() {
        let null = fields(r#"{"a":null}"#);
        assert!(null.optional_text("a", Length::ANY).is_err());
        assert!(null.optional_number("a").is_err());
        assert!(null.optional_object("a").is_err());
        assert!(null.optional_boolean("a").is_err());
        assert_eq!(null.optional_text("b", Length::ANY), Ok(None));
    }

    #[test]
    fn lengths_count_utf16_units() {
        let emoji = format!(r#"{{"a":"{}"}}"#, "😀".repeat(2048));
        assert!(fields(&emoji).text("a", Length::TEXT).is_ok());
        let more = format!(r#"{{"a":"{}"}}"#, "😀".repeat(2049));
        assert!(fields(&more).text("a", Length::TEXT).is_err());
    }

    #[test]
    fn texts_sort_by_utf16_units() {
        assert_eq!(utf16_cmp("a", "b"), Ordering::Less);
        assert_eq!(utf16_cmp("a", "ab"), Ordering::Less);
        assert_eq!(utf16_cmp("\u{10000}", "\u{FFFF}"), Ordering::Less);
        assert_eq!("\u{10000}".cmp("\u{FFFF}"), Ordering::Greater);
    }

    #[test]
    fn a_lone_surrogate_in_a_key_or_value_fails_nothing() {
        let fields = fields(r#"{"\ud800":1,"a":"\ud800"}"#);
        assert_eq!(fields.text("a", Length::ID).unwrap(), "\u{FFFD}");
        assert!(fields.get("\u{FFFD}").is_some());
    }

    #[test]
    fn bare_control_characters_are_not_json() {
        for text in ["{\"a\n\":1}", "{\"a\":\"\u{1f}\"}", "{\"a\":[\"\n\"]}"] {
            assert!(Fields::parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn numbers_are_whole_as_in_javascript() {
        for (text, expected) in [
            (r#"{"a":2.0}"#, Some(2)),
            (r#"{"a":6e4}"#, Some(60_000)),
            (r#"{"a":1.5}"#, None),
            (r#"{"a":0}"#, None),
            (r#"{"a":-1}"#, None),
            (r#"{"a":"5"}"#, None),
            (r#"{"a":true}"#, None),
            (r#"{"a":1e400}"#, None),
        ] {
            assert_eq!(fields(text).optional_integer("a", IntegerFrom::One).ok().flatten(), expected, "{text}");
        }
    }
}
