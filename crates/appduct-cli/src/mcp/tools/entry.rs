//! A tool of an app as the daemon lists it.

use appduct_proto::signature::{signature, summary};
use appduct_proto::wire::{Fields, Length, Object, RawJson, clamp_timeout_ms};
use appduct_rpc::methods::{Session, Tools, ToolsList};

use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;
use super::Name;
use crate::suggest::did_you_mean;

/// A tool.
#[derive(Debug)]
pub(super) struct Entry {
    raw: RawJson,
}

impl Entry {
    pub(super) fn new(raw: RawJson) -> Self {
        Self { raw }
    }

    /// The tool of that name, if this server may reach it.
    pub(super) fn find(
        shared: &Shared,
        daemon: &mut Connection,
        session: &Session,
        name: &str,
    ) -> Result<Self, Refusal> {
        let whole = ToolsList { selector: Some(session.session_id.clone()), ..ToolsList::default() };
        let page = daemon.request(&whole)?;
        if shared.scope.has_groups() {
            check_groups(&page)?;
        }
        let mut entries: Vec<_> = page.tools.into_iter().map(Self::new).collect();
        entries.retain(|entry| shared.scope.shows_group(entry.group().as_deref()));
        if let Some(at) = entries.iter().position(|entry| entry.name().as_deref() == Some(name)) {
            return Ok(entries.swap_remove(at));
        }
        let names: Vec<_> = entries.iter().filter_map(Self::name).collect();
        let similar = did_you_mean(name, names.iter().map(String::as_str));
        Err(Refusal::tool_not_found(format!(
            "session {:?} has no tool {name:?}{}; {} lists what it has.{}",
            session.alias,
            shared.scope.describe_groups(),
            Name::ListTools.as_str(),
            similar.map_or_else(String::new, |similar| format!(" {similar}"))
        )))
    }

    pub(super) fn name(&self) -> Option<String> {
        self.text("name")
    }

    pub(super) fn group(&self) -> Option<String> {
        self.text("group")
    }

    pub(super) fn policy(&self) -> String {
        self.text("policy").unwrap_or_default()
    }

    /// The deadline of a call where the caller does not say, in milliseconds.
    pub(super) fn deadline_ms(&self) -> u64 {
        let own = self.fields().and_then(|fields| fields.optional_number("timeout_ms").ok().flatten());
        clamp_timeout_ms(own.unwrap_or(f64::NAN))
    }

    /// Its line in a list.
    pub(super) fn listed(&self) -> RawJson {
        let object = Object::new()
            .text("name", &self.name().unwrap_or_default())
            .text("signature", &self.signature())
            .text("summary", &summary(&self.text("description").unwrap_or_default()));
        self.group_policy_and_annotations(object).into_raw()
    }

    /// Everything about it. Schemas are as the app wrote them.
    pub(super) fn described(&self, session: &Session) -> RawJson {
        let object = Object::new()
            .text("session", &session.alias)
            .text("name", &self.name().unwrap_or_default())
            .text("signature", &self.signature())
            .text("description", &visible(&self.text("description").unwrap_or_default()))
            .optional_raw("input_schema", self.raw("input_schema").as_ref())
            .optional_raw("output_schema", self.raw("output_schema").as_ref());
        self.group_policy_and_annotations(object).display("timeout_ms", self.deadline_ms()).into_raw()
    }

    fn group_policy_and_annotations(&self, object: Object) -> Object {
        let object = match self.group() {
            Some(group) => object.text("group", &group),
            None => object.raw("group", &RawJson::null()),
        };
        object.text("policy", &self.policy()).optional_raw("annotations", self.raw("annotations").as_ref())
    }

    fn signature(&self) -> String {
        let schemas = (self.raw("input_schema"), self.raw("output_schema"));
        signature(&self.name().unwrap_or_default(), schemas.0.as_ref(), schemas.1.as_ref())
    }

    fn fields(&self) -> Option<Fields<'_>> {
        Fields::parse(self.raw.as_str())
    }

    fn text(&self, key: &str) -> Option<String> {
        let fields = self.fields()?;
        let text = fields.optional_text(key, Length::ANY).ok().flatten()?;
        Some(text.into_owned())
    }

    fn raw(&self, key: &str) -> Option<RawJson> {
        RawJson::parse(self.fields()?.get(key)?.get()).ok()
    }
}

/// Refuses a daemon that knows no groups: what it lists is not what was asked for.
pub(super) fn check_groups(page: &Tools) -> Result<(), Refusal> {
    match page.groups {
        Some(_) => Ok(()),
        None => Err(Refusal::connection(
            "the running daemon is too old to know groups; restart it with `appduct daemon stop`, the next call starts a new one",
        )),
    }
}

/// Text of an app without what could hide or turn parts of it.
fn visible(text: &str) -> String {
    let is_hidden = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|character| !is_hidden(*character)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        Entry::new(RawJson::parse(text).unwrap())
    }

    #[test]
    fn a_listed_tool_is_one_line_with_group_and_policy() {
        let pay = entry(
            r#"{"name":"pay","description":"Pays.\nMore.","input_schema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]},"annotations":{"destructiveHint":true},"group":"checkout","policy":"prompt"}"#,
        );
        assert_eq!(
            pay.listed().as_str(),
            r#"{"name":"pay","signature":"pay(n: number)","summary":"Pays.","group":"checkout","policy":"prompt","annotations":{"destructiveHint":true}}"#
        );
        let bare = entry(r#"{"name":"a","description":"d","policy":"allow"}"#);
        assert_eq!(
            bare.listed().as_str(),
            r#"{"name":"a","signature":"a()","summary":"d","group":null,"policy":"allow"}"#
        );
    }

    #[test]
    fn a_description_has_the_schemas_as_the_app_wrote_them() {
        let session: Session = serde_json::from_str(
            r#"{"sessionId":"s","alias":"pixel","state":"active","device":{},"createdAt":"","toolCount":0}"#,
        )
        .unwrap();
        let tool = entry(
            "{\"name\":\"a\",\"description\":\"x\u{202e}y\",\"input_schema\":{\"type\" : \"object\"},\"timeout_ms\":20000,\"policy\":\"allow\"}",
        );
        assert_eq!(
            tool.described(&session).as_str(),
            r#"{"session":"pixel","name":"a","signature":"a(...)","description":"xy","input_schema":{"type" : "object"},"group":null,"policy":"allow","timeout_ms":20000}"#
        );
    }
}
