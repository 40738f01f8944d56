//! Writes one JSON object without taking raw JSON apart.

use std::fmt::Write;

use super::RawJson;
use super::text::write_json_str;

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
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.quote(value);
        self
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

    /// Adds an object.
    #[must_use]
    pub fn object(self, key: &str, value: Self) -> Self {
        self.json(key, &value.finish())
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

    /// Adds a number or boolean where there is one.
    #[must_use]
    pub fn optional_display(self, key: &str, value: Option<impl std::fmt::Display>) -> Self {
        match value {
            Some(value) => self.display(key, value),
            None => self,
        }
    }

    /// Adds an array of raw values.
    #[must_use]
    pub fn raws<'a>(mut self, key: &str, values: impl IntoIterator<Item = &'a RawJson>) -> Self {
        self.key(key);
        self.0.push('[');
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                self.0.push(',');
            }
            self.0.push_str(value.as_str());
        }
        self.0.push(']');
        self
    }

    /// Adds a value that is JSON text already.
    fn json(mut self, key: &str, value: &str) -> Self {
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
        self.quote(key);
        self.0.push(':');
    }

    fn quote(&mut self, text: &str) {
        write_json_str(&mut self.0, text).expect("a string takes everything");
    }
}
