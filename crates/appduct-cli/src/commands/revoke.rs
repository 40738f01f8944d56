//! `revoke`

use appduct_rpc::methods::{SessionsDescribe, SessionsRevoke};

use super::Stage;
use super::control::Control;
use crate::error::Failure;
use crate::report::{Report, Revoked};
use crate::settings::Settings;

/// Ends a session.
pub(super) fn run(settings: &Settings, selector: Option<&str>, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let mut control = Control::open(settings, stage)?;
    let selector = selector.map(str::to_owned);
    // A link that nobody has claimed is no session yet and can be revoked all the same.
    let session = control.request(&SessionsDescribe { selector: selector.clone() }).ok();
    let named = session.as_ref().map(|session| session.session_id.clone()).or_else(|| selector.clone());
    let done = control
        .request(&SessionsRevoke { selector: named.clone() })
        .map_err(|failure| control.with_aliases(failure, selector.as_deref()))?;
    Ok(Report::Revoked(Revoked { ok: done.ok, session_id: named, alias: session.map(|session| session.alias) }))
}
