//! Why a call may be made or not.

use super::{Decision, Host, PolicyRule, Refusal};
use crate::wire::ToolDescriptor;

/// What the policy says of one tool, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyExplanation<'a> {
    /// The session.
    pub session_id: &'a str,
    /// Its alias, which overrides follow.
    pub alias: &'a str,
    /// The tool as the app registered it.
    pub tool: &'a ToolDescriptor,
    /// What happens to a call of it.
    pub decision: Decision,
    /// The rule that decides.
    pub rule: PolicyRule<'a>,
}

impl Host {
    /// What the policy says of a session's tool; works while it is suspended.
    pub fn explain_policy(&self, selector: Option<&str>, tool: &str) -> Result<PolicyExplanation<'_>, Refusal> {
        let (_, session) = self.sessions.resolve(selector)?;
        let alias = &*session.label.alias;
        let Some(tool) = session.tools.find(tool) else {
            return Err(Refusal::ToolNotFound { tool: tool.to_owned(), alias: alias.to_owned() });
        };
        let (decision, rule) = self.settings.policy.explain(alias, tool);
        Ok(PolicyExplanation { session_id: &session.label.session_id, alias, tool, decision, rule })
    }
}
