//! `policy` of `config.json`.

use std::collections::BTreeMap;

use appduct_proto::host::{Decision, Policy};
use appduct_proto::wire::{Fields, Group, Rule};
use serde_json::value::RawValue;

use super::load::KeyFault;

pub(super) const KEYS: &[&str] = &["default", "destructive", "tools", "groups"];

/// `None` where the file has no policy.
pub(super) fn parse(fields: &Fields<'_>) -> Result<Option<Policy>, KeyFault> {
    let Some(fields) = object(fields, "policy", "policy")? else { return Ok(None) };
    let mut policy = Policy::default();
    for (key, slot) in [("default", &mut policy.default), ("destructive", &mut policy.destructive)] {
        if let Some(raw) = fields.get(key) {
            *slot = decision(raw, || format!("policy.{key}"))?;
        }
    }
    policy.tools = entries(&fields, "tools", |name| Ok(name.to_owned()))?;
    policy.groups = entries(&fields, "groups", |name| name.parse::<Group>().map_err(|_| Rule::Group))?;
    Ok(Some(policy))
}

fn entries<K: Ord>(
    fields: &Fields<'_>,
    key: &str,
    parse_name: impl Fn(&str) -> Result<K, Rule>,
) -> Result<BTreeMap<K, Decision>, KeyFault> {
    let Some(inner) = object(fields, key, &format!("policy.{key}"))? else { return Ok(BTreeMap::new()) };
    let entry = |(name, raw): (&str, &RawValue)| {
        let full = || format!("policy.{key}[\"{name}\"]");
        let parsed = parse_name(name).map_err(|rule| KeyFault { key: full(), rule: rule.to_string() })?;
        Ok((parsed, decision(raw, full)?))
    };
    inner.iter().map(entry).collect()
}

fn object<'a>(fields: &Fields<'a>, key: &str, full: &str) -> Result<Option<Fields<'a>>, KeyFault> {
    let fault = || KeyFault { key: full.to_owned(), rule: "must be a JSON object".to_owned() };
    fields.get(key).map(|raw| Fields::parse(raw.get()).ok_or_else(fault)).transpose()
}

fn decision(raw: &RawValue, key: impl Fn() -> String) -> Result<Decision, KeyFault> {
    match raw.get() {
        "\"allow\"" => Ok(Decision::Allow),
        "\"deny\"" => Ok(Decision::Deny),
        "\"prompt\"" => Ok(Decision::Prompt),
        _ => Err(KeyFault { key: key(), rule: "must be \"allow\", \"deny\" or \"prompt\"".to_owned() }),
    }
}

/// The name of a decision, as the file and every listing have it.
pub(crate) fn decision_name(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Deny => "deny",
        Decision::Prompt => "prompt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> KeyFault {
        parse(&Fields::parse(text).unwrap()).unwrap_err()
    }

    #[test]
    fn a_bad_decision_names_its_key_and_the_three_values() {
        for (text, key) in [
            (r#"{"policy":{"default":"ask"}}"#, "policy.default"),
            (r#"{"policy":{"destructive":null}}"#, "policy.destructive"),
            (r#"{"policy":{"tools":{"pixel-8/wipe":"no"}}}"#, r#"policy.tools["pixel-8/wipe"]"#),
            (r#"{"policy":{"groups":{"checkout":1}}}"#, r#"policy.groups["checkout"]"#),
        ] {
            let fault = refused(text);
            assert_eq!(fault.key, key);
            for value in ["allow", "deny", "prompt"] {
                assert!(fault.rule.contains(value), "{}", fault.rule);
            }
        }
    }

    #[test]
    fn a_bad_shape_names_its_key() {
        assert_eq!(refused(r#"{"policy":"deny"}"#).key, "policy");
        assert_eq!(refused(r#"{"policy":{"tools":[]}}"#).key, "policy.tools");
        assert_eq!(refused(r#"{"policy":{"groups":null}}"#).key, "policy.groups");
        assert_eq!(refused(r#"{"policy":{"groups":{"a//b":"deny"}}}"#).key, r#"policy.groups["a//b"]"#);
    }
}
