//! Tools: what an app offers, and calls of it.

use std::time::Duration;

use appduct_proto::wire::{
    FieldFault, Fields, Group, IntegerFrom, Length, MAX_TOOL_TIMEOUT_MS, Number, Object, RawJson, Rule,
    clamp_timeout_ms,
};
use serde::{Deserialize, Serialize};

use super::{Method, optional, optional_text, optional_word};

/// The longest `filter`, in UTF-16 units.
const FILTER: Length = Length { min: 0, max: 256 };

/// What a reply may take on top of the call's own deadline.
const REPLY_MARGIN: Duration = Duration::from_secs(5);

/// `tools.list`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsList {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
    /// Only this group and its subgroups.
    pub group: Option<Group>,
    /// Only tools whose name or description holds this, whatever the case; at most 256 UTF-16 units.
    pub filter: Option<String>,
    /// How many at most, 1 or greater.
    pub limit: Option<u64>,
    /// How many matches to skip.
    pub offset: Option<u64>,
}

/// `tools.call`
#[derive(Clone, Debug, PartialEq)]
pub struct ToolsCall {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
    /// The tool; not empty.
    pub name: String,
    /// A JSON object.
    pub args: RawJson,
    /// The caller's deadline in milliseconds; the daemon clamps it to 1,000 to 600,000.
    pub timeout_ms: Option<f64>,
    /// Who calls, for the audit.
    pub caller: Option<Caller>,
    /// Whether a person agreed to the call.
    pub consent: Option<Consent>,
    /// Ours: `false` skips the check of `args` against the tool's input schema.
    pub validate: Option<bool>,
    /// Ours: `true` has the events of this call (`tool_call_started` with its id, `tool_call_progress`,
    /// `tool_call_finished`) come as notifications on this connection, before the reply, whatever it has subscribed to.
    /// An older daemon ignores it.
    pub follow: Option<bool>,
}

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    /// The command line; the default.
    Cli,
    /// The MCP server.
    Mcp,
    /// A test-runner client.
    Client,
}

/// How a person agreed to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Consent {
    /// Asked through MCP elicitation.
    Elicitation,
}

impl Caller {
    const ALL: &[Self] = &[Self::Cli, Self::Mcp, Self::Client];
    const NAMES: &'static [&'static str] = &["cli", "mcp", "client"];

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Mcp => "mcp",
            Self::Client => "client",
        }
    }
}

impl Consent {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
        }
    }
}

/// `tools.cancel`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsCancel {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
    /// The call; not empty.
    pub call_id: String,
    /// What the app hears; `client_cancelled` where absent or empty.
    pub reason: Option<String>,
}

/// A page of tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tools {
    /// Each entry is the descriptor as the app sent it, with `group` (or `null`) and `policy` set by the daemon.
    pub tools: Vec<RawJson>,
    /// How many match before paging.
    pub total: u64,
    /// The whole registry by group; a daemon that knows no groups sends none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<Vec<ToolGroup>>,
}

/// How many tools a group has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolGroup {
    /// `None` for the tools of no group.
    pub group: Option<String>,
    /// Those of its subgroups included.
    pub total: u64,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// Any JSON, as the app wrote it.
    pub result: RawJson,
    /// The call.
    pub call_id: String,
}

/// Whether a call was there to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// `false` for a call that has ended, or of another session.
    pub cancelled: bool,
}

impl Method for ToolsList {
    const NAME: &'static str = "tools.list";
    type Reply = Tools;

    fn params(&self) -> RawJson {
        let object = Object::new()
            .optional_text("selector", self.selector.as_deref())
            .optional_text("group", self.group.as_ref().map(Group::as_str))
            .optional_text("filter", self.filter.as_deref());
        optional(optional(object, "limit", self.limit), "offset", self.offset).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        let group = || {
            let fault = || FieldFault::new("group", Rule::Group);
            let text = params.optional_text("group", Length::ANY).map_err(|_| fault())?;
            text.map(|text| text.parse().map_err(|_| fault())).transpose()
        };
        Ok(Self {
            selector: optional_text(params, "selector", Length::ANY)?,
            group: group()?,
            filter: optional_text(params, "filter", FILTER)?,
            limit: params.optional_integer("limit", IntegerFrom::One)?,
            offset: params.optional_integer("offset", IntegerFrom::Zero)?,
        })
    }
}

impl ToolsCall {
    /// How long a caller should wait for the reply: the deadline that the daemon keeps, and a margin for the way.
    #[must_use]
    pub fn reply_timeout(&self) -> Duration {
        let deadline_ms = self.timeout_ms.filter(|ms| ms.is_finite()).map_or(MAX_TOOL_TIMEOUT_MS, clamp_timeout_ms);
        Duration::from_millis(deadline_ms) + REPLY_MARGIN
    }
}

impl Method for ToolsCall {
    const NAME: &'static str = "tools.call";
    type Reply = CallResult;

    fn params(&self) -> RawJson {
        let timeout_ms = self.timeout_ms.filter(|ms| ms.is_finite()).map(Number);
        let object = Object::new()
            .optional_text("selector", self.selector.as_deref())
            .text("name", &self.name)
            .raw("args", &self.args);
        let object = optional(object, "timeoutMs", timeout_ms)
            .optional_text("caller", self.caller.map(Caller::as_str))
            .optional_text("consent", self.consent.map(Consent::as_str));
        optional(optional(object, "validate", self.validate), "follow", self.follow).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        let args = params.optional_object("args")?.ok_or_else(|| FieldFault::new("args", Rule::Required))?;
        Ok(Self {
            selector: optional_text(params, "selector", Length::ANY)?,
            name: params.text("name", Length::NON_EMPTY)?.into_owned(),
            args: RawJson::parse(args.get()).map_err(|_| FieldFault::new("args", Rule::Object))?,
            timeout_ms: params.optional_number("timeoutMs")?,
            caller: optional_word(params, "caller", Caller::NAMES, Caller::ALL)?,
            consent: consent(params)?,
            validate: params.optional_boolean("validate")?,
            follow: params.optional_boolean("follow")?,
        })
    }
}

/// The consent, if it is one that counts: `client`, which older clients send, is none.
fn consent(params: &Fields<'_>) -> Result<Option<Consent>, FieldFault> {
    if params.is_text("consent", "client") {
        return Ok(None);
    }
    optional_word(params, "consent", &["elicitation"], &[Consent::Elicitation])
}

impl Method for ToolsCancel {
    const NAME: &'static str = "tools.cancel";
    type Reply = Cancelled;

    fn params(&self) -> RawJson {
        Object::new()
            .optional_text("selector", self.selector.as_deref())
            .text("callId", &self.call_id)
            .optional_text("reason", self.reason.as_deref())
            .into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            selector: optional_text(params, "selector", Length::ANY)?,
            call_id: params.text("callId", Length::NON_EMPTY)?.into_owned(),
            // An app takes no empty reason, and none over 4096 units.
            reason: optional_text(params, "reason", Length { min: 0, ..Length::TEXT })?.filter(|text| !text.is_empty()),
        })
    }
}
