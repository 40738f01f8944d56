//! `doctor`

use appduct_proto::wire::RawJson;

use crate::doctor;
use crate::error::{Failure, Kind};
use crate::report::{Assertion, Diagnosis, Expected, Report};
use crate::settings::DoctorSettings;

/// Searches an artifact. No daemon is asked.
pub(super) fn run(settings: &DoctorSettings) -> Result<Report, Failure> {
    let DoctorSettings { artifact, format, expected } = settings;
    let findings = doctor::inspect(artifact, *format)?;
    let diagnosis = Diagnosis {
        artifact: artifact.display().to_string(),
        platform: doctor::platform_of(*format),
        format: *format,
        present: findings.is_present,
        signals: findings.signals,
        assertion: None,
    };
    let Some(expected) = *expected else { return Ok(Report::Diagnosis(diagnosis)) };
    if diagnosis.present == (expected == Expected::Present) {
        let assertion = Some(Assertion { expected, holds: true });
        return Ok(Report::Diagnosis(Diagnosis { assertion, ..diagnosis }));
    }
    Err(does_not_hold(&diagnosis, expected))
}

fn does_not_hold(diagnosis: &Diagnosis, expected: Expected) -> Failure {
    let found = if diagnosis.present { "present" } else { "absent" };
    let message = format!("Appduct is {found} in {}; it was to be {}.", diagnosis.artifact, expected.as_str());
    let failure = Failure::new(Kind::Assertion, message);
    match RawJson::of(diagnosis) {
        Ok(details) => failure.with_details(details),
        Err(_) => failure,
    }
}
