//! Replies as they are read where a string of ours is not one in UTF-8.
//!
//! A daemon written in JavaScript can send the escape of a lone surrogate. In a field that is decoded it becomes U+FFFD;
//! JSON that stays text stays as it is.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Reads `text` as a `T`.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    // Nearly every reply is read the quick way.
    serde_json::from_str(text).or_else(|error| {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = T::deserialize(Lossy(&mut deserializer));
        match (value, deserializer.end()) {
            (Ok(value), Ok(())) => Ok(value),
            _ => Err(error),
        }
    })
}

/// Whatever this wraps, with strings that are taken as bytes.
struct Lossy<T>(T);

macro_rules! plainly {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$name(Lossy(visitor))
        })*
    };
}

macro_rules! as_bytes {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            // Asked for bytes, serde_json hands over a lone surrogate in its three-byte form instead of failing.
            self.0.deserialize_bytes(Lossy(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Lossy<D> {
    type Error = D::Error;

    plainly!(deserialize_any deserialize_option deserialize_seq deserialize_map);
    as_bytes!(deserialize_str deserialize_string deserialize_identifier);

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Lossy(visitor))
    }

    /// Only JSON that stays text is one.
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct enum
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Lossy<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<V::Value, E> {
        self.0.visit_bool(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<V::Value, E> {
        self.0.visit_i64(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<V::Value, E> {
        self.0.visit_u64(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<V::Value, E> {
        self.0.visit_f64(value)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<V::Value, E> {
        self.0.visit_str(text)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<V::Value, E> {
        self.0.visit_string(text(bytes))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Lossy(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Lossy(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Lossy(entries))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Lossy<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Lossy(deserializer))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Lossy<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Lossy(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Lossy<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(Lossy(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Lossy(seed))
    }
}

/// UTF-8, in which a lone surrogate has its three-byte form, as text.
fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Each of a surrogate's bytes is a chunk of its own, and only its first is this one.
        if chunk.invalid().first() == Some(&0xED) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::methods::{EventNotification, Policy, Session, Tools};

    #[test]
    fn a_lone_surrogate_becomes_one_replacement_character() {
        let session: Session = from_str(
            r#"{"sessionId":"s","alias":"x\ud800\udc00-\ud800\n\udfff","state":"active","device":{"os":"\udc00"},
                "createdAt":"t","toolCount":3,"claimedAt":null,"newer":["\ud800",{"\ud800":1}]}"#,
        )
        .unwrap();
        assert_eq!(session.alias, "x\u{10000}-\u{FFFD}\n\u{FFFD}");
        assert_eq!((session.device.os.as_deref(), session.tool_count), (Some("\u{FFFD}"), 3));
        let policy: Policy = from_str(r#"{"default":"\ud800","destructive":"deny"}"#).unwrap();
        assert_eq!(policy.default, "\u{FFFD}");
        let keys: BTreeMap<String, bool> = from_str(r#"{"\ud800":true}"#).unwrap();
        assert!(keys["\u{FFFD}"]);
    }

    #[test]
    fn json_that_stays_text_stays_as_it_is() {
        let event: EventNotification =
            from_str(r#"{"kind":"app_event","alias":"\ud800","ts":1,"seq":2,"data":{ "a":"\ud800"}}"#).unwrap();
        assert_eq!(event.alias.as_deref(), Some("\u{FFFD}"));
        assert_eq!(event.data.as_str(), r#"{ "a":"\ud800"}"#);
        let tools: Tools =
            from_str(r#"{"tools":[{"name":"\ud800"}],"total":1,"groups":[{"group":"\ud800","total":1}]}"#).unwrap();
        assert_eq!(tools.tools[0].as_str(), r#"{"name":"\ud800"}"#);
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for text in [r#"{"default":1,"x":"\ud800"}"#, r#"{"default":"\ud800","destructive":"x"} x"#, "\"\\ud800\"", "["]
        {
            let error = from_str::<Policy>(text).unwrap_err().to_string();
            assert_eq!(error, serde_json::from_str::<Policy>(text).unwrap_err().to_string(), "{text}");
        }
    }
}
