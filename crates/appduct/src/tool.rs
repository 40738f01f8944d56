//! What an app says of a tool when it registers it.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use appduct_proto::wire::{Annotations, RawJson};
use serde::{Deserialize, Serialize};

use crate::RegisterError;
use crate::schema::{Schema, composed, takes_an_object};

/// A tool to register: its name, what it is for, and what else callers may know of it.
///
/// `Args` is what the handler takes, `Out` what it may return. A new tool takes [`NoArgs`] and returns
/// [`AnyOutput`]; the methods below change both.
///
/// ```
/// # #[cfg(feature = "schemars")] {
/// use std::time::Duration;
/// use appduct::Tool;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct SeedCart { items: u32 }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Seeded { total: u32 }
///
/// let tool = Tool::new("seed_cart", "Fills the cart with sample items.")
///     .input::<SeedCart>()
///     .output::<Seeded>()
///     .group("cart")
///     .timeout(Duration::from_secs(30))
///     .idempotent();
/// # }
/// ```
///
/// Nothing is checked before the registration, which names the field that is wrong.
#[must_use = "a tool does nothing until it is registered"]
pub struct Tool<Args = NoArgs, Out = AnyOutput> {
    pub(crate) spec: ToolSpec,
    types: PhantomData<fn(Args) -> Out>,
}

/// The arguments of a tool that takes none; any argument is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArgs {}

/// The handler may return anything that can be written as JSON.
#[derive(Debug)]
pub enum AnyOutput {}

/// The handler returns exactly `T`, whose schema callers see.
#[derive(Debug)]
pub struct Typed<T>(PhantomData<T>);

/// What a handler may return for a tool; implemented by [`AnyOutput`] and [`Typed`].
pub trait Output<R>: IsOutput {}

#[expect(unnameable_types, reason = "sealed: nothing else may say what handlers return")]
mod sealed {
    pub trait IsOutput {}
    impl IsOutput for super::AnyOutput {}
    impl<T> IsOutput for super::Typed<T> {}
}
use sealed::IsOutput;

impl<R: Serialize> Output<R> for AnyOutput {}
impl<T: Serialize> Output<T> for Typed<T> {}

/// A tool without the types of its handler.
#[derive(Clone)]
pub(crate) struct ToolSpec {
    pub(crate) name: String,
    description: String,
    pub(crate) group: Option<String>,
    timeout: Option<Duration>,
    annotations: Annotations,
    input: Option<Schema>,
    output: Option<Schema>,
}

impl Tool {
    /// A tool without arguments. `name` is 1 to 64 letters, digits, `_` or `-`; `description` is 1 to 4096 UTF-16 units,
    /// of which listings show the first line.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::of(ToolSpec {
            name: name.into(),
            description: description.into(),
            group: None,
            timeout: None,
            annotations: Annotations::default(),
            input: None,
            output: None,
        })
    }
}

impl<Args, Out> Tool<Args, Out> {
    /// Puts the tool into a group: `checkout`, or one level deeper `checkout/payment`.
    pub fn group(self, group: impl Into<String>) -> Self {
        let mut spec = self.spec;
        spec.group = Some(group.into());
        Self::of(spec)
    }

    /// How long a call may take; 10 seconds where nothing is said. Brought into the range of 1 second to 10 minutes.
    /// A caller can shorten it.
    pub fn timeout(self, timeout: Duration) -> Self {
        let mut spec = self.spec;
        spec.timeout = Some(timeout);
        Self::of(spec)
    }

    /// Says that the tool changes nothing.
    pub fn read_only(self) -> Self {
        self.annotate(|annotations| annotations.read_only_hint = Some(true))
    }

    /// Says that the tool may destroy something; a daemon can ask a person before it calls such a tool.
    pub fn destructive(self) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(true))
    }

    /// Says that calling the tool twice is the same as calling it once.
    pub fn idempotent(self) -> Self {
        self.annotate(|annotations| annotations.idempotent_hint = Some(true))
    }

    /// Replaces all three hints, which can also say "no".
    pub fn annotations(self, annotations: Annotations) -> Self {
        self.annotate(|given| *given = annotations)
    }

    /// Takes arguments of the type `T`, and tells callers its schema. What cannot be read as `T` is refused as
    /// `tool_input_validation_error` and never reaches the handler.
    #[cfg(feature = "schemars")]
    pub fn input<T: schemars::JsonSchema + serde::de::DeserializeOwned>(self) -> Tool<T, Out> {
        Tool::of(ToolSpec { input: Some(Schema::of_input::<T>()), ..self.spec })
    }

    /// Takes arguments of the type `T`, described by a JSON Schema of your own. With [`RawJson`] for `T` the handler gets
    /// the text as the caller wrote it; `serde_json::Value` and types of your own work as well. The SDK does not
    /// check arguments against the schema; the daemon does.
    ///
    /// ```
    /// use appduct::{RawJson, Tool};
    ///
    /// let tool = Tool::new("echo", "Says it again.").input_schema::<RawJson>(serde_json::json!({
    ///     "type": "object",
    ///     "properties": { "text": { "type": "string" } },
    /// }));
    /// ```
    pub fn input_schema<T: serde::de::DeserializeOwned>(self, schema: impl Serialize) -> Tool<T, Out> {
        Tool::of(ToolSpec { input: Some(Schema::given(&schema)), ..self.spec })
    }

    /// Returns the type `T`, and tells callers its schema.
    #[cfg(feature = "schemars")]
    pub fn output<T: schemars::JsonSchema + Serialize>(self) -> Tool<Args, Typed<T>> {
        Tool::of(ToolSpec { output: Some(Schema::of_output::<T>()), ..self.spec })
    }

    /// Returns anything, described by a JSON Schema of your own.
    pub fn output_schema(self, schema: impl Serialize) -> Tool<Args, AnyOutput> {
        Tool::of(ToolSpec { output: Some(Schema::given(&schema)), ..self.spec })
    }

    fn annotate(self, change: impl FnOnce(&mut Annotations)) -> Self {
        let mut spec = self.spec;
        change(&mut spec.annotations);
        Self::of(spec)
    }

    fn of(spec: ToolSpec) -> Self {
        Self { spec, types: PhantomData }
    }
}

impl ToolSpec {
    /// The descriptor as it goes over the wire. Its fields are checked by the core, except what only a Rust app can get
    /// wrong.
    pub(crate) fn descriptor(&self) -> Result<RawJson, RegisterError> {
        #[derive(Serialize)]
        struct Descriptor<'a> {
            name: &'a str,
            description: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            input_schema: Option<RawJson>,
            #[serde(skip_serializing_if = "Option::is_none")]
            output_schema: Option<RawJson>,
            #[serde(skip_serializing_if = "Option::is_none")]
            annotations: Option<Annotations>,
            #[serde(skip_serializing_if = "Option::is_none")]
            timeout_ms: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            group: Option<&'a str>,
        }

        let input_schema = self.input.as_ref().map(|schema| schema.text("input_schema")).transpose()?;
        if input_schema.as_ref().is_some_and(|schema| !takes_an_object(schema)) {
            return Err(RegisterError::InputNotObject);
        }
        let descriptor = Descriptor {
            name: &self.name,
            description: &self.description,
            input_schema,
            output_schema: self.output.as_ref().map(|schema| schema.text("output_schema")).transpose()?,
            annotations: (self.annotations != Annotations::default()).then_some(self.annotations),
            timeout_ms: self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            group: self.group.as_deref(),
        };
        Ok(composed(&descriptor))
    }
}

impl<Args, Out> fmt::Debug for Tool<Args, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.spec.name).field("group", &self.spec.group).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<Args, Out>(tool: Tool<Args, Out>, descriptor: &str) {
        assert_eq!(tool.spec.descriptor().unwrap().as_str(), descriptor);
    }

    #[test]
    fn what_is_not_said_is_not_sent() {
        check(Tool::new("ping", "Answers."), r#"{"name":"ping","description":"Answers."}"#);
    }

    #[test]
    fn everything_said_is_sent() {
        check(
            Tool::new("drop", "Drops.")
                .group("db/admin")
                .timeout(Duration::from_millis(1500))
                .destructive()
                .idempotent()
                .input_schema::<serde_json::Value>(RawJson::parse(r#"{"type": "object"}"#).unwrap())
                .output_schema(serde_json::json!({})),
            r#"{"name":"drop","description":"Drops.","input_schema":{"type": "object"},"output_schema":{},"annotations":{"destructiveHint":true,"idempotentHint":true},"timeout_ms":1500,"group":"db/admin"}"#,
        );
    }

    #[test]
    fn a_deadline_of_no_time_is_sent_for_the_core_to_refuse() {
        check(Tool::new("t", "d").timeout(Duration::ZERO), r#"{"name":"t","description":"d","timeout_ms":0}"#);
    }

    #[cfg(feature = "schemars")]
    #[test]
    fn derived_schemas_keep_the_order_of_fields_and_hold_no_rust_names() {
        #[derive(Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Args {
            to: String,
            amount: Inner,
        }
        #[derive(Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Inner {
            cents: bool,
        }
        check(
            Tool::new("pay", "Pays.").input::<Args>(),
            r#"{"name":"pay","description":"Pays.","input_schema":{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"object","properties":{"cents":{"type":"boolean"}},"required":["cents"]}},"required":["to","amount"]}}"#,
        );
    }

    #[cfg(feature = "schemars")]
    #[test]
    fn an_input_type_that_is_no_object_is_refused() {
        let descriptor = Tool::new("t", "d").input::<Vec<u8>>().spec.descriptor();
        assert_eq!(descriptor, Err(RegisterError::InputNotObject));
    }

    #[test]
    fn a_schema_that_is_not_json_names_its_field() {
        let schema = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = Tool::new("t", "d").output_schema(schema).spec.descriptor().unwrap_err();
        assert_eq!(error.field(), Some("output_schema"));
    }
}
