//! JSON that belongs to the app, kept as the text that came in.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// One JSON value as text, byte for byte as its author wrote it.
///
/// Clones share the text. A value cut out of a frame shares the frame's buffer; [`RawJson::detached`] gives one that does
/// not keep the frame alive.
///
/// The text is valid JSON and valid UTF-8. Two values are equal when their texts are.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

/// The text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotJson;

/// What a JSON value is, read off its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// Any number.
    Number,
    /// Any string.
    String,
    /// Any array.
    Array,
    /// Any object.
    Object,
}

impl RawJson {
    /// Takes a text that must be one JSON value; surrounding white space is dropped.
    pub fn parse(text: &str) -> Result<Self, NotJson> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| NotJson)?;
        Ok(Self::copied(raw))
    }

    /// Writes any serialisable value as compact JSON.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Self(Bytes::from(text)))
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// The value `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("every constructor takes valid UTF-8")
    }

    /// The length of the text in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.0.len()
    }

    /// What the value is.
    #[must_use]
    pub fn kind(&self) -> JsonKind {
        kind_of(self.as_str())
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind() == JsonKind::Object
    }

    /// The same value in a buffer of its own.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    /// The buffer, shared.
    pub(super) fn bytes(&self) -> Bytes {
        self.0.clone()
    }

    /// A text that is known to be JSON.
    pub(super) fn composed(text: String) -> Self {
        Self(Bytes::from(text))
    }

    pub(super) fn copied(raw: &RawValue) -> Self {
        Self(Bytes::copy_from_slice(raw.get().as_bytes()))
    }

    /// The part `raw` of `frame`, sharing its buffer. `raw` must have been parsed from `frame`.
    pub(super) fn sliced(frame: &Bytes, raw: &RawValue) -> Self {
        Self(frame.slice_ref(raw.get().as_bytes()))
    }
}

/// What the JSON value `text` is. `text` must be valid JSON without leading white space.
pub(crate) fn kind_of(text: &str) -> JsonKind {
    match text.as_bytes().first() {
        Some(b'{') => JsonKind::Object,
        Some(b'[') => JsonKind::Array,
        Some(b'"') => JsonKind::String,
        Some(b't' | b'f') => JsonKind::Boolean,
        Some(b'n') => JsonKind::Null,
        _ => JsonKind::Number,
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.as_str()).map_err(ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<RawValue> = Deserialize::deserialize(deserializer)?;
        Ok(Self(Bytes::from(Box::<str>::from(raw).into_boxed_bytes())))
    }
}

impl From<NotJson> for serde_json::Error {
    fn from(_: NotJson) -> Self {
        de::Error::custom("not a JSON value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_comes_back_byte_for_byte() {
        for text in [r#"{"a" : 1.0,"b":"\ud800"}"#, "[1,2 , 3]", "-0", "1e400", r#""\/""#] {
            let raw = RawJson::parse(text).unwrap();
            assert_eq!(raw.as_str(), text);
            assert_eq!(serde_json::to_string(&raw).unwrap(), text);
            assert_eq!(serde_json::from_str::<RawJson>(text).unwrap(), raw);
        }
    }

    #[test]
    fn what_is_not_one_json_value_is_refused() {
        for text in ["", " ", "{", "1 2", "{'a':1}", "NaN", "\"\n\""] {
            assert_eq!(RawJson::parse(text), Err(NotJson), "{text:?}");
        }
    }

    #[test]
    fn depth_has_no_limit_of_its_own() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(RawJson::parse(&deep).unwrap().as_str(), deep);
    }
}
