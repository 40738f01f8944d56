//! `completions` and `man`

use crate::args::ShellName;
use crate::complete;
use crate::error::Failure;
use crate::manual;
use crate::report::{Pages, Report};
use crate::settings::ManSettings;

/// The script that a shell loads.
pub(super) fn completions(shell: ShellName) -> Result<Report, Failure> {
    complete::script(shell).map(Report::Script)
}

/// A page of the manual, or all of them into a directory.
pub(super) fn man(settings: &ManSettings) -> Result<Report, Failure> {
    match settings {
        ManSettings::Page { words } => manual::page(words).map(Report::Page),
        ManSettings::Pages { directory } => manual::write(directory).map(|files| Report::Pages(Pages { files })),
    }
}
