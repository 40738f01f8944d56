//! The settings of `init`.

use crate::app_id::AppPlatform;
use crate::args::InitArgs;

/// What to record.
#[derive(Clone, Debug, Default)]
pub(crate) struct InitSettings {
    pub(crate) scheme: Option<String>,
    pub(crate) ios_app_id: Option<String>,
    pub(crate) android_app_id: Option<String>,
    /// Whether what is recorded is replaced.
    pub(crate) force: bool,
}

impl InitSettings {
    /// The id that was named for a platform.
    pub(crate) fn app_id(&self, platform: AppPlatform) -> Option<&str> {
        match platform {
            AppPlatform::Ios => self.ios_app_id.as_deref(),
            AppPlatform::Android => self.android_app_id.as_deref(),
        }
    }
}

/// Takes an empty scheme for none, as `link` does.
pub(super) fn resolve(args: InitArgs) -> InitSettings {
    let InitArgs { scheme, ios_app_id, android_app_id, force } = args;
    InitSettings { scheme: scheme.filter(|scheme| !scheme.is_empty()), ios_app_id, android_app_id, force }
}
