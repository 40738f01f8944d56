//! What is wrong with a value, for people and for details of an error.

use appduct_proto::wire::RawJson;
use jsonschema::ValidationError;
use serde::Serialize;
use serde_json::Value;

use super::meter::{Budget, Stopped, within};
use super::schema::Schema;

/// The most issues that are told.
const MAX_ISSUES: usize = 20;

/// The longest path or message, in characters.
const MAX_CHARS: usize = 300;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Issue {
    /// Where in the value: a JSON pointer, cut where it is very long.
    pub(super) path: String,
    /// What is wrong, without the value itself, which may be a secret.
    pub(super) message: String,
    /// The keyword of the schema that says so.
    pub(super) keyword: String,
}

/// Everything wrong with a value, as far as it is told: at least one issue, at most 20.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issues(Vec<Issue>);

impl Issues {
    /// Finds what is wrong with a value that does not fit the schema.
    pub(super) fn find(schema: &Schema, value: &Value, budget: Budget) -> Self {
        let validator = &schema.validator;
        // Writing every error down costs more than finding out that there is one.
        let all = || validator.iter_errors(value).take(MAX_ISSUES).map(|error| issue(&error)).collect();
        let first = || validator.validate(value).err().iter().map(issue).collect();
        let found: Result<Vec<_>, Stopped> = within(budget, all).or_else(|_| within(budget, first));
        match found {
            Ok(issues) if !issues.is_empty() => Self(issues),
            Ok(_) | Err(_) => Self(vec![Issue {
                path: String::new(),
                message: "the value does not fit the schema".to_owned(),
                keyword: String::new(),
            }]),
        }
    }

    #[cfg(test)]
    pub(super) fn list(&self) -> &[Issue] {
        &self.0
    }

    /// One line: the first issue and how many follow.
    pub(crate) fn summary(&self) -> String {
        let Some(Issue { path, message, .. }) = self.0.first() else { return String::new() };
        let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
        match self.0.len() - 1 {
            0 => format!("{at}{message}"),
            more => format!("{at}{message} (and {more} more)"),
        }
    }

    /// The `details` of the error.
    pub(crate) fn details(&self) -> Result<RawJson, serde_json::Error> {
        #[derive(Serialize)]
        struct Details<'a> {
            issues: &'a [Issue],
        }
        RawJson::of(&Details { issues: &self.0 })
    }
}

fn issue(error: &ValidationError<'_>) -> Issue {
    Issue {
        path: shortened(error.instance_path().as_str()),
        message: message(error),
        keyword: shortened(error.kind().keyword()),
    }
}

fn message(error: &ValidationError<'_>) -> String {
    // The library shows the schema that must not fit, which may be long.
    if error.kind().keyword() == "not" {
        return "value is what the schema says that it must not be".to_owned();
    }
    shortened(&error.masked().to_string())
}

/// The start of `text`, if it is long.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
