//! What one server may reach: a session and groups that it was started for, or everything.

use appduct_proto::wire::Group;
use appduct_rpc::methods::{Session, SessionsDescribe};

use super::daemon::Connection;
use super::refusal::Refusal;

/// The bounds of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    session: Option<String>,
    groups: Vec<Group>,
}

impl Scope {
    /// Only the session with this id or alias, and only the tools of these groups and their subgroups.
    pub(super) fn new(session: Option<String>, groups: Vec<Group>) -> Self {
        Self { session, groups }
    }

    /// The session that a request is for. What follows names it by its id: a free alias goes to the next device.
    pub(super) fn session(&self, daemon: &mut Connection, selector: Option<&str>) -> Result<Session, Refusal> {
        let named = self.session.as_deref().or(selector);
        let session = daemon.request(&SessionsDescribe { selector: named.map(str::to_owned) })?;
        match selector {
            Some(selector) if !is_named(&session, selector) => Err(Refusal::invalid(format!(
                "this server is only for the session {:?}, and {selector:?} is another; leave \"selector\" out",
                session.alias
            ))),
            Some(_) | None => Ok(session),
        }
    }

    /// Whether a session may be seen.
    pub(super) fn shows_session(&self, session: &Session) -> bool {
        self.session.as_deref().is_none_or(|selector| is_named(session, selector))
    }

    /// Whether only tools of some groups may be reached.
    pub(super) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether a tool of this group may be reached.
    pub(super) fn shows_group(&self, group: Option<&str>) -> bool {
        if self.groups.is_empty() {
            return true;
        }
        let group = group.and_then(|group| group.parse::<Group>().ok());
        group.is_some_and(|group| self.groups.iter().any(|allowed| allowed.covers(&group)))
    }

    /// ` in the groups a, b`, for messages.
    pub(super) fn describe_groups(&self) -> String {
        let names: Vec<_> = self.groups.iter().map(Group::as_str).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(" within the groups of this server ({})", names.join(", "))
        }
    }
}

fn is_named(session: &Session, selector: &str) -> bool {
    session.session_id == selector || session.alias == selector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_shows_itself_and_its_subgroups_only() {
        let scope = Scope::new(None, vec!["checkout".parse().unwrap(), "diagnostics/net".parse().unwrap()]);
        for (group, is_shown) in [
            (Some("checkout"), true),
            (Some("checkout/pay"), true),
            (Some("checkouts"), false),
            (Some("diagnostics"), false),
            (Some("diagnostics/net"), true),
            (Some("not a group"), false),
            (None, false),
        ] {
            assert_eq!(scope.shows_group(group), is_shown, "{group:?}");
        }
        assert!(Scope::default().shows_group(None));
    }
}
