//! `link`

use appduct_rpc::methods::LinkCreate;

use super::Stage;
use super::control::Control;
use super::playground::deep_link;
use crate::error::Failure;
use crate::report::{Link, Report};
use crate::scheme;
use crate::settings::{LinkSettings, Settings};

/// Mints a link for the app's scheme; nothing is minted where there is none.
pub(super) fn run(settings: &Settings, link: &LinkSettings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let scheme = scheme::resolve(settings, link)?;
    let request = LinkCreate { ttl_seconds: link.ttl, ..LinkCreate::default() };
    let minted = Control::open(settings, stage)?.request(&request)?;
    let deep_link = deep_link(minted.deep_link_payload, &minted.pin, &scheme)?;
    Ok(Report::Link(Link {
        session_id: minted.session_id,
        deep_link,
        endpoint: minted.endpoint,
        expires_at: minted.expires_at,
        pin: minted.pin,
        qr: link.qr,
    }))
}
