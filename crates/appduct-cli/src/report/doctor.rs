//! What `doctor` found.

use serde::Serialize;

/// A searched artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Diagnosis {
    /// The path as it was given.
    pub(crate) artifact: String,
    pub(crate) platform: Platform,
    pub(crate) format: Format,
    /// Whether Appduct is in.
    pub(crate) present: bool,
    /// The signs that were seen; there may be some where Appduct is absent.
    pub(crate) signals: Vec<&'static str>,
    /// What was to be shown, and was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) assertion: Option<Assertion>,
}

/// What an app is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Platform {
    Ios,
    Android,
}

impl Platform {
    /// The name that people and programs see.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ios => "ios",
            Self::Android => "android",
        }
    }
}

/// The form of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    App,
    Ipa,
    Apk,
    Aab,
}

impl Format {
    /// The name that people and programs see.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Ipa => "ipa",
            Self::Apk => "apk",
            Self::Aab => "aab",
        }
    }
}

/// A claim about an artifact that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Assertion {
    pub(crate) expected: Expected,
    pub(crate) holds: bool,
}

/// Whether Appduct is to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expected {
    Present,
    Absent,
}

impl Expected {
    /// The name that people and programs see.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
        }
    }
}
