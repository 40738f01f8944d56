//! `ls`

use jiff::Timestamp;

use super::Stage;
use super::control::Control;
use crate::error::Failure;
use crate::report::{Report, Sessions};
use crate::settings::Settings;

/// Lists the live sessions.
pub(super) fn run(settings: &Settings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let sessions = Control::open(settings, stage)?.sessions()?;
    Ok(Report::Sessions(Sessions { sessions, now_ms: Timestamp::now().as_millisecond() }))
}
