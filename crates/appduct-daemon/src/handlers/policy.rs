//! `policy.explain`

use appduct_proto::host::{PolicyExplanation, PolicyRule};
use appduct_rpc::RpcError;
use appduct_rpc::methods::{PolicyExplain, PolicyExplained};

use super::refusal::refused;
use crate::config::decision_name;
use crate::state::State;

pub(super) fn explain(state: &State, params: &PolicyExplain) -> Result<PolicyExplained, RpcError> {
    let explained = state.host.explain_policy(params.selector.as_deref(), &params.name);
    let explained = explained.map_err(|refusal| refused(&state.facts, refusal))?;
    let PolicyExplanation { session_id, alias, tool, decision, rule: _ } = explained;
    Ok(PolicyExplained {
        session_id: session_id.to_owned(),
        alias: alias.to_owned(),
        tool: tool.name.to_string(),
        group: tool.group.as_ref().map(ToString::to_string),
        destructive: tool.is_destructive(),
        decision: decision_name(decision).to_owned(),
        rule: rule(&explained),
        why: why(&explained),
        config: state.facts.state_dir.config().display().to_string(),
        config_fault: state.policy_file.fault().map(str::to_owned),
    })
}

/// The key of the configuration.
fn rule(explained: &PolicyExplanation<'_>) -> String {
    match explained.rule {
        PolicyRule::Tool => format!("policy.tools[\"{}/{}\"]", explained.alias, explained.tool.name),
        PolicyRule::Group(group) => format!("policy.groups[\"{group}\"]"),
        PolicyRule::Destructive { .. } => "policy.destructive".to_owned(),
        PolicyRule::Default => "policy.default".to_owned(),
    }
}

fn why(explained: &PolicyExplanation<'_>) -> String {
    match explained.rule {
        PolicyRule::Tool => "the policy names this tool of this session, which goes before every other rule".to_owned(),
        PolicyRule::Group(_) if explained.tool.is_destructive() => {
            "the tool is destructive, and the rule of its group is at least as strict as policy.destructive".to_owned()
        }
        PolicyRule::Group(_) => "this is the longest group of the policy that the tool is in".to_owned(),
        PolicyRule::Destructive { loosened_by: Some(group) } => {
            format!("the tool is destructive, and policy.groups[\"{group}\"] cannot loosen policy.destructive")
        }
        PolicyRule::Destructive { loosened_by: None } => "the tool is destructive".to_owned(),
        PolicyRule::Default => "no other rule is about this tool".to_owned(),
    }
}
