//! `link --open web`

use std::time::Duration;

use appduct_rpc::methods::{LinkCreate, LinkTransport, WebAttach};

use super::control::Control;
use super::link::hand_over;
use super::{Stage, wait};
use crate::error::Failure;
use crate::report::{Report, WebLink};
use crate::settings::{LinkSettings, Settings, WebSettings};

/// How long the daemon may take over a browser: longer than all that it waits for there.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(60);

/// Pairs a page through its browser, or makes a link for any browser of this machine.
pub(super) fn link(
    settings: &Settings,
    link: &LinkSettings,
    web: &WebSettings,
    stage: &mut dyn Stage,
) -> Result<Option<Report>, Failure> {
    let mut control = Control::open(settings, stage)?;
    if link.wait.is_some() {
        wait::subscribe(&mut control)?;
    }
    let (session_id, report) = match &web.browser {
        Some(browser) => {
            let request = WebAttach {
                url: web.url.clone(),
                browser_url: browser.url.clone(),
                target_id: browser.target_id.clone(),
                ttl_seconds: link.ttl,
            };
            let attached = control.request_within(&request, ATTACH_TIMEOUT)?;
            (attached.session_id.clone(), Report::Attached(attached))
        }
        None => {
            let transport = Some(LinkTransport::Web);
            let request = LinkCreate { ttl_seconds: link.ttl, transport, ..LinkCreate::default() };
            let minted = control.request(&request)?;
            let report = WebLink {
                session_id: minted.session_id.clone(),
                url: with_payload(&web.url, &minted.deep_link_payload),
                script: format!("window.__APPDUCT__.connect(\"{}\")", minted.deep_link_payload),
                expires_at: minted.expires_at,
            };
            (minted.session_id, Report::WebLink(report))
        }
    };
    hand_over(&mut control, link, &session_id, None, report, stage)
}

/// The page's address with the link in its fragment, beside what is there.
fn with_payload(url: &str, payload: &str) -> String {
    let separator = match url.split_once('#') {
        None => "#",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{url}{separator}appduct={payload}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_goes_into_the_fragment_beside_what_is_there() {
        for (url, expected) in [
            ("http://localhost:3000", "http://localhost:3000#appduct=AQQ"),
            ("http://localhost:3000/?a=b#", "http://localhost:3000/?a=b#appduct=AQQ"),
            ("http://localhost:3000/#tab=1", "http://localhost:3000/#tab=1&appduct=AQQ"),
        ] {
            assert_eq!(with_payload(url, "AQQ"), expected);
        }
    }
}
