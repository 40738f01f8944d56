//! `playground`

use std::time::Duration;

use appduct_proto::wire::{DeepLink, Pin};
use appduct_rpc::methods::LinkCreate;

use super::Stage;
use super::control::Control;
use crate::error::Failure;
use crate::settings::Settings;

/// The demo app's link scheme.
const SCHEME: &str = "playground";

/// Runs the demo app until Ctrl-C, paired through `link`, or with the local daemon where there is none.
pub(super) fn run(
    settings: &Settings,
    link: Option<&str>,
    ping_every: Option<Duration>,
    stage: &mut dyn Stage,
) -> Result<(), Failure> {
    match link {
        Some(link) => crate::playground::run(
            link,
            "Get a new link with `appduct link --scheme playground`, and run `appduct playground --link '<url>'` with it.",
            ping_every,
        ),
        None => crate::playground::run(&mint(settings, stage)?, "Run `appduct playground` again.", ping_every),
    }
}

/// A link of the local daemon; the demo app is on the same machine.
fn mint(settings: &Settings, stage: &mut dyn Stage) -> Result<String, Failure> {
    let request = LinkCreate { address_override: Some("127.0.0.1".to_owned()), ..LinkCreate::default() };
    let minted = Control::open(settings, stage)?.request(&request)?;
    deep_link(minted.deep_link_payload, &minted.pin, SCHEME)
}

/// The link for an app that opens `scheme`.
pub(super) fn deep_link(payload: String, pin: &str, scheme: &str) -> Result<String, Failure> {
    let pin: Pin = pin.parse().map_err(|_| Failure::connection("The daemon sent a pin that cannot be read."))?;
    DeepLink { payload, pin: Some(pin) }
        .compose(scheme)
        .map_err(|fault| Failure::usage(format!("Invalid deep-link scheme \"{scheme}\": {fault}.")))
}
