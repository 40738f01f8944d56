//! `link`

use std::net::{IpAddr, SocketAddr};

use appduct_rpc::methods::LinkCreate;

use super::control::Control;
use super::playground::deep_link;
use super::{Stage, wait, web};
use crate::app_id::{self, AppPlatform};
use crate::args::OpenTarget;
use crate::delivery::{self, Opening, Processes};
use crate::error::Failure;
use crate::report::{Delivery, Link, Report};
use crate::scheme;
use crate::settings::{LinkSettings, OpenSettings, Settings};

/// Mints a link for the app's scheme, and opens it where that was asked; nothing is minted where the scheme or the app's id
/// is not known. Where it waits for the app, the link is told first, because somebody may have to open it.
pub(super) fn run(settings: &Settings, link: &LinkSettings, stage: &mut dyn Stage) -> Result<Option<Report>, Failure> {
    if let Some(page) = &link.web {
        return web::link(settings, link, page, stage);
    }
    let scheme = scheme::resolve(settings, &link.scheme)?;
    let delivery = link.open.as_ref().map(|open| delivery(settings, open)).transpose()?;
    let address = delivery.as_ref().and_then(delivery::Delivery::address_override);
    let request =
        LinkCreate { ttl_seconds: link.ttl, address_override: address.map(str::to_owned), ..LinkCreate::default() };
    let mut control = Control::open(settings, stage)?;
    if link.wait.is_some() {
        wait::subscribe(&mut control)?;
    }
    let minted = control.request(&request)?;
    let deep_link = deep_link(minted.deep_link_payload, &minted.pin, &scheme)?;
    if let Some(delivery) = &delivery {
        delivery.check_endpoint(&minted.endpoint.address)?;
        delivery.open(Opening { link: &deep_link, port: minted.endpoint.port }, &Processes)?;
    }
    let dialled = match minted.endpoint.address.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => None,
        Ok(address) => Some(SocketAddr::new(address, minted.endpoint.port).to_string()),
        Err(_) => Some(minted.endpoint.address.clone()),
    };
    let report = Report::Link(Link {
        session_id: minted.session_id.clone(),
        deep_link,
        endpoint: minted.endpoint,
        expires_at: minted.expires_at,
        pin: minted.pin,
        delivery: delivery.map(|delivery| Delivery { delivered: true, target: delivery.target.as_str() }),
        qr: link.qr,
    });
    hand_over(&mut control, link, &minted.session_id, dialled.as_deref(), report, stage)
}

/// Tells the link, and waits for its app where that was asked. `dialled` is where the app connects to over a network.
pub(super) fn hand_over(
    control: &mut Control,
    link: &LinkSettings,
    session_id: &str,
    dialled: Option<&str>,
    report: Report,
    stage: &mut dyn Stage,
) -> Result<Option<Report>, Failure> {
    let Some(patience) = link.wait else { return Ok(Some(report)) };
    stage.announce(&report)?;
    let session = wait::until_claimed(control, session_id, patience.timeout, dialled, stage)?;
    Ok(Some(Report::Waited(Box::new(session))))
}

fn delivery(settings: &Settings, open: &OpenSettings) -> Result<delivery::Delivery, Failure> {
    let platform = match open.target {
        OpenTarget::Android => Some(AppPlatform::Android),
        OpenTarget::IosDevice => Some(AppPlatform::Ios),
        OpenTarget::IosSim => None,
    };
    let id = |platform| scheme::in_places(settings, |places| app_id::resolve(open.app_id.as_deref(), platform, places));
    Ok(delivery::Delivery {
        target: open.target,
        device: open.device.clone(),
        app_id: platform.map(id).transpose()?,
        relaunch: open.relaunch,
        has_adb_serial: open.has_adb_serial,
    })
}
