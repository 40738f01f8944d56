//! `init`

use clap::Args;

const EXAMPLES: &str = "\
appduct init                          what the project's own files say
appduct init --scheme myshop
appduct init --android-app-id com.example.shop --ios-app-id com.example.Shop";

const AFTER: &str = "\
The file is .appduct/config.json in this directory. It holds the app's link scheme, and the application ids that \
`appduct link --open` needs; it holds no secret and is meant to be committed.

Without --scheme the scheme is what the file records already, else what the project's own files say: expo.scheme in \
app.json, appductScheme in the Gradle build, the Android manifest, an Info.plist, or project.yml.";

/// Records a project's link scheme and application ids in a file to commit.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct InitArgs {
    /// The app's link scheme, without "://"
    #[arg(long, value_name = "scheme")]
    pub(crate) scheme: Option<String>,

    /// The app's bundle id on iOS
    #[arg(long, value_name = "id")]
    pub(crate) ios_app_id: Option<String>,

    /// The app's application id on Android
    #[arg(long, value_name = "id")]
    pub(crate) android_app_id: Option<String>,

    /// Replace what the file records
    #[arg(long)]
    pub(crate) force: bool,
}
