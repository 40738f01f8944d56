//! Writes one JSON object without taking raw JSON apart.

use std::fmt::Write;

use super::RawJson;

/// A JSON object under construction. Raw values go in as they are, at the cost of a copy.
#[derive(Debug)]
pub struct Object(String);

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// An object with no fields.
    #[must_use]
    pub fn new() -> Self {
        Self("{".to_owned())
    }

    /// The start of a frame.
    pub(super) fn frame(kind: &str, session_id: &str) -> Self {
        Self::new().text("type", kind).text("session_id", session_id)
    }

    /// Adds a string.
    #[must_use]
    pub fn text(self, key: &str, value: &str) -> Self {
        self.json(key, &quoted(value))
    }

    /// Adds a string where there is one.
    #[must_use]
    pub fn optional_text(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// Adds a raw value.
    #[must_use]
    pub fn raw(self, key: &str, value: &RawJson) -> Self {
        self.json(key, value.as_str())
    }

    /// Adds a raw value where there is one.
    #[must_use]
    pub fn optional_raw(self, key: &str, value: Option<&RawJson>) -> Self {
        match value {
            Some(value) => self.raw(key, value),
            None => self,
        }
    }

    /// Adds a number, boolean or anything else whose display is JSON.
    #[must_use]
    pub fn display(mut self, key: &str, value: impl std::fmt::Display) -> Self {
        self.key(key);
        write!(self.0, "{value}").expect("a string takes everything");
        self
    }

    /// Adds a value that is JSON text already.
    pub(super) fn json(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.0.push_str(value);
        self
    }

    /// The object's text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }

    /// The object.
    #[must_use]
    pub fn into_raw(self) -> RawJson {
        RawJson::composed(self.finish())
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(key));
        self.0.push(':');
    }
}

/// `text` as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every string has a JSON form")
}
