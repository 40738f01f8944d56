//! What an app may be told of its session.

use appduct_proto::app::ConnectFault;

use super::{Oracle, Promise};

impl Oracle {
    /// An app heard that its session is over. `lost_at` is when it lost its socket; `clock_was_set` if its wall clock was
    /// set since; `gave_up` if it disconnected.
    pub(crate) fn app_lost(
        &mut self,
        session: &str,
        reason: &str,
        lost_at: Option<u64>,
        clock_was_set: bool,
        gave_up: bool,
    ) {
        let grace_is_over = lost_at.is_some_and(|lost_at| self.now >= lost_at + self.grace_ms);
        let excused = match reason {
            "closed_by_app" => gave_up,
            "revoked" => self.sessions.get(session).is_some_and(|truth| truth.is_revoked),
            "grace_expired" => grace_is_over || clock_was_set,
            "unknown_session" | "invalid_resume_token" => self.may_be_gone(session),
            _ => false,
        };
        self.require(excused, Promise::NothingLost, || format!("an app lost {session}: {reason}"));
    }

    /// A claim of an app came to its end without a session.
    pub(crate) fn claim_failed(&mut self, session: &str, fault: &ConnectFault, clocks_differ: bool) {
        let is_over = self.may_be_gone(session);
        let has_expired = self.link_may_have_expired(session) || clocks_differ;
        let excused = match fault {
            ConnectFault::Rejected(reason) => match reason.as_str() {
                "unknown_session" => is_over || has_expired,
                "link_expired" | "already_claimed" => has_expired || is_over,
                _ => false,
            },
            ConnectFault::Socket(error) => error.code == "session_claim_expired" && has_expired,
            ConnectFault::Expired => has_expired,
            ConnectFault::Superseded | ConnectFault::ClosedByApp => true,
            ConnectFault::InvalidInput(_)
            | ConnectFault::Busy
            | ConnectFault::NotALink
            | ConnectFault::InvalidPayload
            | ConnectFault::PublicAddress
            | ConnectFault::NoEmbeddedPins
            | ConnectFault::NoLinkPin
            | ConnectFault::UnknownTrustMode(_) => false,
        };
        self.require(excused, Promise::NothingLost, || format!("the claim of {session} failed: {fault:?}"));
    }
}
