//! `doctor`

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
appduct doctor build/app-release.aab --assert-absent
appduct doctor Build/Products/Debug-iphonesimulator/Demo.app --assert-present";

const AFTER: &str = "\
The file's extension says what it is. An artifact that cannot be searched whole (encrypted, cut short, no archive) is exit \
status 66 and never \"absent\"; an assertion that does not hold is exit status 3.";

/// Tells whether a built app carries Appduct.
#[derive(Debug, Args)]
#[command(override_usage = "appduct doctor [OPTIONS] <artifact>", before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct DoctorArgs {
    /// The app: a .app directory, or an .ipa, .apk or .aab file
    #[arg(value_name = "artifact")]
    pub(crate) artifacts: Vec<PathBuf>,

    /// Fail unless Appduct is in
    #[arg(long)]
    pub(crate) assert_present: bool,

    /// Fail if Appduct is in
    #[arg(long)]
    pub(crate) assert_absent: bool,
}
