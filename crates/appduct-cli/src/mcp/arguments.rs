//! The arguments of a tool: unknown ones are refused, `null` is absent, and what is there has its type.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::message::repaired;
use super::refusal::Refusal;

/// Arguments that are taken out one by one.
#[derive(Debug)]
pub(super) struct Arguments(JsonObject);

impl Arguments {
    /// Refuses arguments that the tool does not know.
    pub(super) fn new(arguments: Option<JsonObject>, known: &[&str]) -> Result<Self, Refusal> {
        let mut arguments = arguments.unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        let unknown: Vec<_> = arguments.keys().filter(|key| !known.contains(&key.as_str())).map(quoted).collect();
        if unknown.is_empty() {
            return Ok(Self(arguments));
        }
        let allowed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let s = if unknown.len() == 1 { "" } else { "s" };
        let inner = if known.contains(&"args") { "; what the app's tool takes goes into \"args\"" } else { "" };
        Err(Refusal::invalid(format!("unknown argument{s} {}; allowed: {allowed}{inner}", unknown.join(", "))))
    }

    /// Text that is not empty.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, Refusal> {
        match self.0.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(_) => Err(must_be(key, "a non-empty string")),
        }
    }

    /// Text that must be there.
    pub(super) fn required_text(&mut self, key: &str) -> Result<String, Refusal> {
        self.text(key)?.ok_or_else(|| must_be(key, "a non-empty string"))
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            must_be(key, &format!("one of {}", words.join(", ")))
        })
    }

    /// True or false.
    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, Refusal> {
        match self.0.remove(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(must_be(key, "true or false")),
        }
    }

    /// A whole number, `least` or greater. `5.0` is one too, as some clients write them.
    pub(super) fn whole(&mut self, key: &str, least: u64) -> Result<Option<u64>, Refusal> {
        self.in_range(key, least, u64::MAX)
    }

    /// A whole number within a range.
    pub(super) fn in_range(&mut self, key: &str, least: u64, most: u64) -> Result<Option<u64>, Refusal> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let Some(value) = self.0.remove(key) else { return Ok(None) };
        let float = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=EXACT).contains(number));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range, right above")]
        let number = value.as_u64().or_else(|| float.map(|number| number as u64));
        number.filter(|number| (least..=most).contains(number)).map(Some).ok_or_else(|| {
            let range = match (least, most) {
                (0, u64::MAX) => "a whole number, zero or greater".to_owned(),
                (1, u64::MAX) => "a whole number greater than zero".to_owned(),
                (least, u64::MAX) => format!("a whole number, {least} or greater"),
                (least, most) => format!("a whole number from {least} to {most}"),
            };
            must_be(key, &range)
        })
    }

    /// An object. Some clients write it as the text of its JSON.
    pub(super) fn object(&mut self, key: &str) -> Result<Option<JsonObject>, Refusal> {
        match self.0.remove(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(Value::String(text)) => serde_json::from_str(&repaired(text.as_bytes()))
                .map(Some)
                .map_err(|_| must_be(key, "an object, or the JSON text of one")),
            Some(_) => Err(must_be(key, "an object")),
        }
    }
}

fn quoted(key: &String) -> String {
    serde_json::to_string(key).unwrap_or_default()
}

fn must_be(key: &str, what: &str) -> Refusal {
    Refusal::invalid(format!("\"{key}\" must be {what}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Arguments {
        let Value::Object(object) = value else { panic!("not an object") };
        Arguments::new(Some(object), &["a", "b"]).unwrap()
    }

    #[test]
    fn unknown_arguments_are_named_and_null_is_absent() {
        let Value::Object(object) = json!({"a": null, "x": 1, "y": null}) else { panic!("not an object") };
        let refusal = Arguments::new(Some(object), &["a", "b"]).unwrap_err();
        assert_eq!(refusal, Refusal::invalid("unknown argument \"x\"; allowed: a, b"));
        let mut arguments = arguments(json!({"a": null}));
        assert_eq!(arguments.text("a").unwrap(), None);
        assert!(arguments.required_text("a").is_err());
        assert!(Arguments::new(None, &[]).is_ok());
    }

    #[test]
    fn what_is_there_has_its_type() {
        let mut good = arguments(json!({"a": 5.0, "b": true}));
        assert_eq!(good.whole("a", 1).unwrap(), Some(5));
        assert_eq!(good.flag("b").unwrap(), Some(true));
        for bad in [json!(0), json!(1.5), json!(-1), json!("5"), json!(1e300), json!([])] {
            assert!(arguments(json!({"a": bad.clone()})).whole("a", 1).is_err(), "{bad}");
        }
        assert!(arguments(json!({"a": 999})).in_range("a", 1000, 2000).is_err());
        assert!(arguments(json!({"a": ""})).text("a").is_err());
        assert_eq!(arguments(json!({"a": "x"})).word("a", &[("x", 1), ("y", 2)]).unwrap(), Some(1));
        assert!(arguments(json!({"a": "z"})).word("a", &[("x", 1)]).is_err());
    }

    #[test]
    fn an_object_may_come_as_its_text() {
        let object = json!({"n": 1}).as_object().cloned();
        assert_eq!(arguments(json!({"a": {"n": 1}})).object("a").unwrap(), object);
        assert_eq!(arguments(json!({"a": "{\"n\":1}"})).object("a").unwrap(), object);
        let half = json!({"n": "\u{fffd}"}).as_object().cloned();
        assert_eq!(arguments(json!({"a": r#"{"n":"\ud83d"}"#})).object("a").unwrap(), half);
        for bad in [json!("[1]"), json!("x"), json!([1]), json!(1)] {
            assert!(arguments(json!({"a": bad.clone()})).object("a").is_err(), "{bad}");
        }
    }
}
