//! The settings of `doctor`.

use std::path::PathBuf;

use crate::args::DoctorArgs;
use crate::doctor;
use crate::error::Failure;
use crate::report::{Expected, Format};

/// What to search, and what is claimed of it.
#[derive(Clone, Debug)]
pub(crate) struct DoctorSettings {
    pub(crate) artifact: PathBuf,
    pub(crate) format: Format,
    pub(crate) expected: Option<Expected>,
}

/// Checks the arguments.
pub(super) fn resolve(args: DoctorArgs) -> Result<DoctorSettings, Failure> {
    let expected = match (args.assert_present, args.assert_absent) {
        (true, true) => {
            return Err(Failure::usage("\"--assert-present\" cannot be combined with \"--assert-absent\"."));
        }
        (true, false) => Some(Expected::Present),
        (false, true) => Some(Expected::Absent),
        (false, false) => None,
    };
    let mut artifacts = args.artifacts.into_iter();
    let usage = |fault: &str| Failure::usage(format!("Usage: doctor <artifact> ({fault})."));
    let artifact = artifacts.next().ok_or_else(|| usage("an artifact is required"))?;
    if artifacts.next().is_some() {
        return Err(usage("too many arguments"));
    }
    let format = doctor::format_of(&artifact).ok_or_else(|| {
        Failure::usage(format!(
            "\"{}\" is no artifact that can be inspected: its name must end in .app, .ipa, .apk or .aab.",
            artifact.display()
        ))
    })?;
    Ok(DoctorSettings { artifact, format, expected })
}
