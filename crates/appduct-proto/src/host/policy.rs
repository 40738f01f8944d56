//! Which calls may be made.

use std::collections::BTreeMap;

use crate::wire::{Group, ToolDescriptor};

/// What happens to a call. Ordered by strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It is made.
    #[default]
    Allow,
    /// It is made if a person agreed to it.
    Prompt,
    /// It is refused.
    Deny,
}

/// Which calls may be made. The first that applies decides: `tools`, then the longest of `groups`, then `destructive` for a
/// tool that says that it is, then `default`; for a destructive tool a group's rule never loosens `destructive`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// For tools that nothing else decides.
    pub default: Decision,
    /// For tools whose `destructiveHint` is true.
    pub destructive: Decision,
    /// By `<alias>/<tool>`.
    pub tools: BTreeMap<String, Decision>,
    /// By group.
    pub groups: BTreeMap<Group, Decision>,
}

/// Why a call was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeniedReason {
    /// The policy says no.
    Policy,
    /// The policy wants a person's consent and the caller brings none.
    NoConsentChannel,
}

/// The rule that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyRule<'a> {
    /// `tools`, by `<alias>/<tool>`.
    Tool,
    /// `groups`, by this group: the tool's own or the one above it.
    Group(&'a Group),
    /// `destructive`. It is stricter than the rule of `loosened_by`, where a group has one.
    Destructive {
        /// The group whose rule would have allowed more.
        loosened_by: Option<&'a Group>,
    },
    /// `default`
    Default,
}

impl Policy {
    /// What happens to a call of `tool` on the session with this alias.
    #[must_use]
    pub fn decide(&self, alias: &str, tool: &ToolDescriptor) -> Decision {
        self.explain(alias, tool).0
    }

    /// The same, and which rule says so.
    #[must_use]
    pub fn explain(&self, alias: &str, tool: &ToolDescriptor) -> (Decision, PolicyRule<'_>) {
        if let Some(decision) = self.override_of(alias, tool) {
            return (decision, PolicyRule::Tool);
        }
        match (self.group_rule(tool), tool.is_destructive()) {
            (Some((group, rule)), true) if rule < self.destructive => {
                (self.destructive, PolicyRule::Destructive { loosened_by: Some(group) })
            }
            (Some((group, rule)), _) => (rule, PolicyRule::Group(group)),
            (None, true) => (self.destructive, PolicyRule::Destructive { loosened_by: None }),
            (None, false) => (self.default, PolicyRule::Default),
        }
    }

    fn override_of(&self, alias: &str, tool: &ToolDescriptor) -> Option<Decision> {
        if self.tools.is_empty() {
            return None;
        }
        self.tools.get(&format!("{alias}/{}", tool.name)).copied()
    }

    fn group_rule(&self, tool: &ToolDescriptor) -> Option<(&Group, Decision)> {
        let group = tool.group.as_ref().filter(|_| !self.groups.is_empty())?;
        let top = || group.top().parse::<Group>().ok().and_then(|top| self.groups.get_key_value(&top));
        self.groups.get_key_value(group).or_else(top).map(|(group, &decision)| (group, decision))
    }
}

impl Decision {
    /// Why a call is refused, if it is.
    pub(super) fn refuses(self, consent: bool) -> Option<DeniedReason> {
        match (self, consent) {
            (Self::Allow, _) | (Self::Prompt, true) => None,
            (Self::Prompt, false) => Some(DeniedReason::NoConsentChannel),
            (Self::Deny, _) => Some(DeniedReason::Policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RawJson;
    use Decision::{Allow, Deny, Prompt};

    fn tool(extra: &str) -> ToolDescriptor {
        let text = format!(r#"{{"name":"pay","description":"Pays"{extra}}}"#);
        ToolDescriptor::parse(&RawJson::parse(&text).unwrap()).unwrap()
    }

    fn policy(
        default: Decision,
        destructive: Decision,
        tools: &[(&str, Decision)],
        groups: &[(&str, Decision)],
    ) -> Policy {
        Policy {
            default,
            destructive,
            tools: tools.iter().map(|&(key, decision)| (key.to_owned(), decision)).collect(),
            groups: groups.iter().map(|&(group, decision)| (group.parse().unwrap(), decision)).collect(),
        }
    }

    const DESTRUCTIVE: &str = r#","annotations":{"destructiveHint":true}"#;

    #[test]
    fn a_destructive_tool_follows_its_own_rule_and_others_the_default() {
        let policy = policy(Prompt, Deny, &[], &[]);
        assert_eq!(policy.decide("x", &tool("")), Prompt);
        assert_eq!(policy.decide("x", &tool(r#","annotations":{"destructiveHint":false}"#)), Prompt);
        assert_eq!(policy.decide("x", &tool(DESTRUCTIVE)), Deny);
    }

    #[test]
    fn an_override_beats_everything_both_ways_and_follows_the_alias() {
        let policy = policy(Allow, Deny, &[("x/pay", Allow), ("y/pay", Deny)], &[("shop", Deny)]);
        assert_eq!(policy.decide("x", &tool(&format!(r#"{DESTRUCTIVE},"group":"shop""#))), Allow);
        assert_eq!(policy.decide("y", &tool("")), Deny);
        assert_eq!(policy.decide("x-2", &tool("")), Allow);
        assert_eq!(policy.decide("x-2", &tool(DESTRUCTIVE)), Deny);
    }

    #[test]
    fn the_longest_group_wins_over_the_default() {
        let policy = policy(Deny, Deny, &[], &[("shop", Prompt), ("shop/card", Allow)]);
        assert_eq!(policy.decide("x", &tool(r#","group":"shop/card""#)), Allow);
        assert_eq!(policy.decide("x", &tool(r#","group":"shop/cash""#)), Prompt);
        assert_eq!(policy.decide("x", &tool(r#","group":"shop""#)), Prompt);
        assert_eq!(policy.decide("x", &tool(r#","group":"shopx""#)), Deny);
    }

    #[test]
    fn a_group_tightens_but_never_loosens_the_rule_for_destructive_tools() {
        let grouped = tool(&format!(r#"{DESTRUCTIVE},"group":"shop""#));
        for (destructive, group, expected) in
            [(Deny, Allow, Deny), (Prompt, Allow, Prompt), (Allow, Prompt, Prompt), (Prompt, Deny, Deny)]
        {
            let policy = policy(Allow, destructive, &[], &[("shop", group)]);
            assert_eq!(policy.decide("x", &grouped), expected, "{destructive:?} {group:?}");
        }
    }

    #[test]
    fn an_explanation_names_the_rule_that_decides() {
        let group = |name: &str| name.parse::<Group>().unwrap();
        let policy = policy(Allow, Prompt, &[("x/pay", Deny)], &[("shop", Allow), ("shop/card", Deny)]);
        let grouped = |name: &str, extra: &str| tool(&format!(r#"{extra},"group":"{name}""#));
        for (alias, tool, decision, rule) in [
            ("x", tool(DESTRUCTIVE), Deny, PolicyRule::Tool),
            ("y", tool(""), Allow, PolicyRule::Default),
            ("y", tool(DESTRUCTIVE), Prompt, PolicyRule::Destructive { loosened_by: None }),
            ("y", grouped("shop/cash", ""), Allow, PolicyRule::Group(&group("shop"))),
            ("y", grouped("shop/card", ""), Deny, PolicyRule::Group(&group("shop/card"))),
            ("y", grouped("shop/card", DESTRUCTIVE), Deny, PolicyRule::Group(&group("shop/card"))),
            ("y", grouped("shop", DESTRUCTIVE), Prompt, PolicyRule::Destructive { loosened_by: Some(&group("shop")) }),
            ("y", grouped("cart", ""), Allow, PolicyRule::Default),
        ] {
            assert_eq!(policy.explain(alias, &tool), (decision, rule));
            assert_eq!(policy.decide(alias, &tool), decision);
        }
    }

    #[test]
    fn only_consent_passes_a_prompt() {
        assert_eq!(Prompt.refuses(true), None);
        assert_eq!(Prompt.refuses(false), Some(DeniedReason::NoConsentChannel));
        assert_eq!(Deny.refuses(true), Some(DeniedReason::Policy));
        assert_eq!(Allow.refuses(false), None);
    }
}
