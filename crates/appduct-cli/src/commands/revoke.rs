//! `revoke`

use appduct_rpc::methods::SessionsRevoke;

use super::Stage;
use super::control::Control;
use crate::error::Failure;
use crate::report::{Report, Revoked};
use crate::settings::Settings;

/// Ends a session.
pub(super) fn run(settings: &Settings, selector: Option<&str>, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let done = Control::open(settings, stage)?.request(&SessionsRevoke { selector: selector.map(str::to_owned) })?;
    Ok(Report::Revoked(Revoked { ok: done.ok }))
}
