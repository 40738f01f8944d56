//! The settings of `link`.

use super::positive;
use super::wait::{self, LinkWait};
use crate::args::{LinkArgs, OpenTarget};
use crate::env::Env;
use crate::error::Failure;
use crate::scheme::SchemeOptions;

/// What to mint.
#[derive(Clone, Debug)]
pub(crate) struct LinkSettings {
    pub(crate) scheme: SchemeOptions,
    /// Seconds.
    pub(crate) ttl: Option<u64>,
    pub(crate) qr: bool,
    pub(crate) open: Option<OpenSettings>,
    pub(crate) wait: Option<LinkWait>,
}

/// Where to open the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenSettings {
    pub(crate) target: OpenTarget,
    pub(crate) device: Option<String>,
    pub(crate) app_id: Option<String>,
    pub(crate) relaunch: bool,
    /// Whether the environment tells `adb` which device to use.
    pub(crate) has_adb_serial: bool,
}

/// Checks the arguments.
pub(super) fn resolve(args: LinkArgs, env: &Env) -> Result<LinkSettings, Failure> {
    Ok(LinkSettings {
        ttl: positive("--ttl", &args.ttl)?,
        open: open(&args, env)?,
        wait: wait::of_link(&args.waiting)?,
        scheme: SchemeOptions::new(args.scheme, env),
        qr: args.qr,
    })
}

fn open(args: &LinkArgs, env: &Env) -> Result<Option<OpenSettings>, Failure> {
    let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
    let (device, app_id) = (text(&args.device), text(&args.app_id));
    if device.is_some() && args.open.is_none() {
        return Err(Failure::usage("\"--device\" only applies together with \"--open\"."));
    }
    if app_id.is_some() && !matches!(args.open, Some(OpenTarget::Android | OpenTarget::IosDevice)) {
        return Err(Failure::usage("\"--app-id\" only applies to \"--open android\" and \"--open ios-device\"."));
    }
    if args.relaunch && args.open != Some(OpenTarget::IosDevice) {
        return Err(Failure::usage("\"--relaunch\" only applies to \"--open ios-device\"."));
    }
    let Some(target) = args.open else { return Ok(None) };
    if let Some(device) = &device
        && (device.starts_with('-') || device.chars().any(char::is_control))
    {
        let quoted = serde_json::to_string(device).unwrap_or_default();
        return Err(Failure::usage(format!("\"--device\" must be a serial or UDID; got {quoted}.")));
    }
    Ok(Some(OpenSettings { target, device, app_id, relaunch: args.relaunch, has_adb_serial: env.adb_serial.is_some() }))
}
