//! The settings of `link`.

use super::positive;
use super::wait::{self, LinkWait};
use crate::args::{LinkArgs, OpenTarget, Opener};
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
    pub(crate) web: Option<WebSettings>,
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

/// The web page to pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebSettings {
    pub(crate) url: String,
    pub(crate) browser: Option<BrowserSettings>,
}

/// The browser that has the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowserSettings {
    pub(crate) url: String,
    pub(crate) target_id: Option<String>,
}

/// Checks the arguments.
pub(super) fn resolve(args: LinkArgs, env: &Env) -> Result<LinkSettings, Failure> {
    Ok(LinkSettings {
        ttl: positive("--ttl", &args.ttl)?,
        open: open(&args, env)?,
        web: web(&args)?,
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
    if app_id.is_some() && !matches!(args.open, Some(Opener::Android | Opener::IosDevice)) {
        return Err(Failure::usage("\"--app-id\" only applies to \"--open android\" and \"--open ios-device\"."));
    }
    if args.relaunch && args.open != Some(Opener::IosDevice) {
        return Err(Failure::usage("\"--relaunch\" only applies to \"--open ios-device\"."));
    }
    let Some(target) = args.open.and_then(Opener::device) else { return Ok(None) };
    if let Some(device) = &device
        && (device.starts_with('-') || device.chars().any(char::is_control))
    {
        let quoted = serde_json::to_string(device).unwrap_or_default();
        return Err(Failure::usage(format!("\"--device\" must be a serial or UDID; got {quoted}.")));
    }
    Ok(Some(OpenSettings { target, device, app_id, relaunch: args.relaunch, has_adb_serial: env.adb_serial.is_some() }))
}

fn web(args: &LinkArgs) -> Result<Option<WebSettings>, Failure> {
    let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
    let (url, browser_url, target_id) = (text(&args.url), text(&args.browser_url), text(&args.target_id));
    if args.open != Some(Opener::Web) {
        let given = [("<url>", &url), ("--browser-url", &browser_url), ("--target-id", &target_id)];
        return match given.into_iter().find(|(_, value)| value.is_some()) {
            Some((name, _)) => Err(Failure::usage(format!("\"{name}\" only applies to \"--open web\"."))),
            None => Ok(None),
        };
    }
    for (name, is_given) in [("--device", args.device.is_some()), ("--qr", args.qr)] {
        if is_given {
            return Err(Failure::usage(format!("\"{name}\" does not apply to \"--open web\".")));
        }
    }
    let Some(url) = url else {
        return Err(Failure::usage("\"--open web\" requires the page's address, such as http://localhost:3000."));
    };
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)) && url.len() > scheme.len()
    });
    if !is_web || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        let quoted = serde_json::to_string(&url).unwrap_or_default();
        return Err(Failure::usage(format!("\"--open web\" takes an http or https address; got {quoted}.")));
    }
    if browser_url.is_none() && target_id.is_some() {
        return Err(Failure::usage("\"--target-id\" only applies together with \"--browser-url\"."));
    }
    let browser = browser_url.map(|url| BrowserSettings { url, target_id });
    Ok(Some(WebSettings { url, browser }))
}
