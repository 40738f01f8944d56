//! `revoke`

use appduct_rpc::methods::SessionsRevoke;

use super::Stage;
use super::control::Control;
use crate::error::Failure;
use crate::report::{Report, Revoked};
use crate::settings::Settings;

/// Ends a session.
pub(super) fn run(settings: &Settings, selector: Option<&str>, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let mut control = Control::open(settings, stage)?;
    let done = control
        .request(&SessionsRevoke { selector: selector.map(str::to_owned) })
        .map_err(|failure| control.with_aliases(failure, selector))?;
    Ok(Report::Revoked(Revoked { ok: done.ok }))
}
