//! The policy.

use appduct_proto::wire::{FieldFault, Fields, Length, Object, RawJson};
use serde::{Deserialize, Serialize};

use super::{Method, optional_text};

/// `policy.explain`, ours: what the policy says of a tool, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyExplain {
    /// A session id or alias; the only live session where absent.
    pub selector: Option<String>,
    /// The tool; not empty.
    pub name: String,
}

/// What the policy says of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyExplained {
    /// The session.
    pub session_id: String,
    /// Its alias, which `policy.tools` follows.
    pub alias: String,
    /// The tool.
    pub tool: String,
    /// The tool's group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// Whether the tool says that it may destroy something.
    pub destructive: bool,
    /// `allow`, `deny` or `prompt`.
    pub decision: String,
    /// The key of `config.json` that decides, such as `policy.groups["checkout"]`, whether it is in the file or not.
    pub rule: String,
    /// The same for people, in one sentence.
    pub why: String,
    /// The path of `config.json`.
    pub config: String,
    /// Why `config.json` as it is cannot be taken; the policy of an earlier state of it is in force then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config_fault: Option<String>,
}

impl Method for PolicyExplain {
    const NAME: &'static str = "policy.explain";
    type Reply = PolicyExplained;

    fn params(&self) -> RawJson {
        Object::new().optional_text("selector", self.selector.as_deref()).text("name", &self.name).into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            selector: optional_text(params, "selector", Length::ANY)?,
            name: params.text("name", Length::NON_EMPTY)?.into_owned(),
        })
    }
}
