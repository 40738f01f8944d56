//! What an app says of the device that it runs on.

use serde::{Deserialize, Serialize};

use super::fields::{FieldFault, Fields, Length};

/// Device fields, each 0 to 256 UTF-16 units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// For example `Google`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<String>,
    /// For example `Pixel 8`; the session's alias is made from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// For example `Android 14`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
}

impl Device {
    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, FieldFault> {
        let field = |key| Ok(fields.optional_text(key, Length::DEVICE)?.map(std::borrow::Cow::into_owned));
        Ok(Self { manufacturer: field("device_manufacturer")?, model: field("device_model")?, os: field("device_os")? })
    }
}
