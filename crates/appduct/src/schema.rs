//! JSON Schemas, taken as they are or derived from a Rust type.

use appduct_proto::wire::RawJson;
use serde::Serialize;

use crate::RegisterError;

/// Where a schema comes from. A derived one is made when the registration needs it, so a build that does nothing makes
/// none.
#[derive(Clone)]
pub(crate) enum Schema {
    Given(Result<RawJson, String>),
    #[cfg(feature = "schemars")]
    Derived(fn() -> RawJson),
}

impl Schema {
    pub(crate) fn given(schema: &impl Serialize) -> Self {
        Self::Given(RawJson::of(schema).map_err(|error| error.to_string()))
    }

    /// The schema of what `T` is read from.
    #[cfg(feature = "schemars")]
    pub(crate) fn of_input<T: schemars::JsonSchema>() -> Self {
        Self::Derived(|| derive::<T>(settings()))
    }

    /// The schema of what `T` is written as.
    #[cfg(feature = "schemars")]
    pub(crate) fn of_output<T: schemars::JsonSchema>() -> Self {
        Self::Derived(|| derive::<T>(settings().for_serialize()))
    }

    pub(crate) fn text(&self, field: &'static str) -> Result<RawJson, RegisterError> {
        match self {
            Self::Given(Ok(schema)) => Ok(schema.clone()),
            Self::Given(Err(message)) => Err(RegisterError::Schema { field, message: message.clone() }),
            #[cfg(feature = "schemars")]
            Self::Derived(derive) => Ok(derive()),
        }
    }
}

/// A descriptor of strings, numbers and JSON texts as JSON.
pub(crate) fn composed(descriptor: &impl Serialize) -> RawJson {
    RawJson::of(descriptor).expect("strings, numbers and JSON texts are JSON")
}

/// Whether arguments, which are always an object, could ever fit the schema: by its root type alone.
pub(crate) fn takes_an_object(schema: &RawJson) -> bool {
    let Ok(serde_json::Value::Object(schema)) = serde_json::from_str(schema.as_str()) else {
        // Not an object at all: that is another fault, and the descriptor's check names it.
        return true;
    };
    match schema.get("type") {
        Some(serde_json::Value::String(only)) => only == "object",
        Some(serde_json::Value::Array(any)) => any.iter().any(|one| one == "object"),
        _ => true,
    }
}

/// Signatures show one level of a schema and no references, so subschemas stand where they are used.
#[cfg(feature = "schemars")]
fn settings() -> schemars::generate::SchemaSettings {
    schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    })
}

#[cfg(feature = "schemars")]
fn derive<T: schemars::JsonSchema>(settings: schemars::generate::SchemaSettings) -> RawJson {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of a Rust type tells a caller nothing.
    schema.remove("title");
    composed(&schema)
}
