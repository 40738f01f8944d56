//! Links as `appduct link` makes them: the same scheme, the same app ids, the same devices.

use appduct_proto::wire::{DeepLink, Pin};
use appduct_rpc::methods::Link;

use super::refusal::Refusal;
use crate::app_id::{self, AppPlatform};
use crate::args::OpenTarget;
use crate::delivery::Delivery;
use crate::scheme::{self, SchemeOptions};
use crate::settings::Settings;

/// What the command line and the environment say of links.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkOptions {
    pub(super) scheme: SchemeOptions,
    /// The device that the environment tells `adb` to use.
    pub(super) android_serial: Option<String>,
}

/// Where an app is to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Device(OpenTarget),
    /// A code that somebody scans.
    Code,
    Web,
}

impl Target {
    pub(super) const WORDS: &[(&str, Self)] = &[
        ("android", Self::Device(OpenTarget::Android)),
        ("ios-sim", Self::Device(OpenTarget::IosSim)),
        ("ios-device", Self::Device(OpenTarget::IosDevice)),
        ("none", Self::Code),
        ("web", Self::Web),
    ];
}

/// The app's link scheme. It is looked for when it is needed: a server without one can do everything else.
pub(super) fn scheme(settings: &Settings, options: &LinkOptions) -> Result<String, Refusal> {
    Ok(scheme::resolve(settings, &options.scheme)?)
}

/// The app's id where the target takes one.
pub(super) fn app_id(settings: &Settings, target: OpenTarget, named: Option<&str>) -> Result<Option<String>, Refusal> {
    let platform = match target {
        OpenTarget::Android => AppPlatform::Android,
        OpenTarget::IosDevice => AppPlatform::Ios,
        OpenTarget::IosSim => return Ok(None),
    };
    let id = scheme::in_places(settings, |places| app_id::resolve(named, platform, places))?;
    Ok(Some(id))
}

pub(super) fn delivery(
    options: &LinkOptions,
    target: OpenTarget,
    device: Option<String>,
    app_id: Option<String>,
    relaunch: bool,
) -> Delivery {
    Delivery { target, device, app_id, relaunch, has_adb_serial: options.android_serial.is_some() }
}

/// What the app opens.
pub(super) fn deep_link(link: &Link, scheme: &str) -> Result<String, Refusal> {
    let pin: Pin = link.pin.parse().map_err(|_| Refusal::connection("the daemon sent a pin that cannot be read"))?;
    DeepLink { payload: link.deep_link_payload.clone(), pin: Some(pin) }
        .compose(scheme)
        .map_err(|fault| Refusal::invalid(format!("the link scheme {scheme:?} is none: {fault}")))
}
