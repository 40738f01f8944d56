//! `init`

use crate::error::Failure;
use crate::init;
use crate::report::Report;
use crate::scheme;
use crate::settings::{InitSettings, Settings};

/// Records the scheme and the ids of the project in the current directory. No daemon is asked.
pub(super) fn run(settings: &Settings, init: &InitSettings) -> Result<Report, Failure> {
    scheme::in_places(settings, |places| init::run(init, places)).map(Report::Initialized)
}
