//! `keygen`

use super::daemon;
use crate::error::Failure;
use crate::report::{Key, Report};
use crate::settings::{KeygenSettings, Settings};

/// Makes a key. No daemon is asked; one that runs keeps the key that it started with.
pub(super) fn run(settings: &Settings, keygen: &KeygenSettings) -> Result<Report, Failure> {
    let path = keygen.path.clone().unwrap_or_else(|| settings.state_dir.key());
    let pin = daemon::make_key(&path, keygen.key_type, keygen.force)?;
    Ok(Report::Key(Key { path: path.display().to_string(), pin }))
}
