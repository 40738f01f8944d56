//! What the daemon answered, as it was read and as it was written.

use std::ops::Deref;

use appduct_proto::wire::RawJson;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lossy;

/// A value with the text that it was read from, which may say more than this version knows. It is written as that text.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept<T> {
    value: T,
    text: RawJson,
}

impl<T> Kept<T> {
    /// The value alone.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Kept<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = RawJson::deserialize(deserializer)?;
        let value = lossy::from_str(text.as_str()).map_err(D::Error::custom)?;
        Ok(Self { value, text })
    }
}

impl<T> Serialize for Kept<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::SessionDevice;

    #[test]
    fn what_is_not_known_is_written_again() {
        let text = r#"[{ "os":"\ud800","newer":{"b":1.0}}]"#;
        let devices: Vec<Kept<SessionDevice>> = serde_json::from_str(text).unwrap();
        assert_eq!(devices[0].os.as_deref(), Some("\u{FFFD}"));
        assert_eq!(serde_json::to_string(&devices).unwrap(), text);
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        assert!(serde_json::from_str::<Kept<SessionDevice>>(r#"{"os":1}"#).is_err());
    }
}
