//! `appduct_connect`

use appduct_proto::wire::Object;
use appduct_rpc::methods::{Link, LinkCreate, LinkTransport, WebAttach};

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::daemon::Connection;
use super::super::links::{self, Target};
use super::super::refusal::Refusal;
use super::super::server::Shared;
use crate::args::OpenTarget;
use crate::delivery::{Found, Opening, Processes, Runner};
use crate::render::qr_code;

/// How to connect an app.
#[derive(Debug)]
pub(super) struct Query {
    target: Option<Target>,
    url: Option<String>,
    browser_url: Option<String>,
    target_id: Option<String>,
    device: Option<String>,
    app_id: Option<String>,
    relaunch: bool,
    ttl_seconds: Option<u64>,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        let query = Self {
            target: arguments.word("target", Target::WORDS)?,
            url: arguments.text("url")?,
            browser_url: arguments.text("browserUrl")?,
            target_id: arguments.text("targetId")?,
            device: arguments.text("device")?,
            app_id: arguments.text("appId")?,
            relaunch: arguments.flag("relaunch")?.unwrap_or(false),
            ttl_seconds: arguments.whole("ttlSeconds", 1)?,
        };
        query.check()?;
        Ok(query)
    }

    /// Refuses arguments that do not go together.
    fn check(&self) -> Result<(), Refusal> {
        use OpenTarget::{Android, IosDevice, IosSim};
        let target = self.target;
        let on = |targets: &[OpenTarget]| matches!(target, Some(Target::Device(target)) if targets.contains(&target));
        let web = target == Some(Target::Web);
        let rules = [
            (
                self.device.is_some() && !on(&[Android, IosSim, IosDevice]),
                "\"device\" needs the target android, ios-sim or ios-device",
            ),
            (
                self.app_id.is_some() && !(target.is_none() || on(&[Android, IosDevice])),
                "\"appId\" is only for android and ios-device",
            ),
            (self.relaunch && !on(&[IosDevice]), "\"relaunch\" is only for ios-device"),
            (self.url.is_some() && !web, "\"url\" is only for the target web"),
            (self.browser_url.is_some() && !web, "\"browserUrl\" is only for the target web"),
            (self.target_id.is_some() && self.browser_url.is_none(), "\"targetId\" needs \"browserUrl\""),
            (web && self.url.is_none(), "the target web needs \"url\""),
            (
                self.device.as_deref().is_some_and(|id| id.starts_with('-') || id.chars().any(char::is_control)),
                "\"device\" must be a serial or UDID",
            ),
        ];
        rules.iter().find(|(is_broken, _)| *is_broken).map_or(Ok(()), |(_, rule)| Err(Refusal::invalid(*rule)))
    }
}

/// Makes a link, and opens it where that is asked for or where there is only one device.
pub(super) fn run(shared: &Shared, daemon: &mut Connection, query: Query) -> Result<Answer, Refusal> {
    match query.target {
        Some(Target::Web) => web(daemon, query),
        Some(Target::Code) => code(shared, daemon, &query, None),
        Some(Target::Device(target)) => device(shared, daemon, &query, target, &Processes).map(Answer::own_object),
        None => detected(shared, daemon, &query, &Processes),
    }
}

/// Attaches a page, or makes a link that the page takes itself.
fn web(daemon: &mut Connection, query: Query) -> Result<Answer, Refusal> {
    let url = query.url.unwrap_or_default();
    if let Some(browser_url) = query.browser_url {
        let attach = WebAttach { url, browser_url, target_id: query.target_id, ttl_seconds: query.ttl_seconds };
        let attached = daemon.request_slowly(&attach)?;
        let object = Object::new()
            .text("sessionId", &attached.session_id)
            .text("url", &attached.url)
            .text("targetId", &attached.target_id)
            .display("expiresAt", attached.expires_at)
            .display("attached", true);
        return Ok(Answer::own_object(object));
    }
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(Refusal::invalid("\"url\" must begin with http:// or https://"));
    }
    let request =
        LinkCreate { ttl_seconds: query.ttl_seconds, transport: Some(LinkTransport::Web), ..LinkCreate::default() };
    let link = daemon.request(&request)?;
    let payload = &link.deep_link_payload;
    let separator = if url.contains('#') { '&' } else { '#' };
    let object = Object::new()
        .text("sessionId", &link.session_id)
        .text("url", &format!("{url}{separator}appduct={payload}"))
        .text("script", &format!("window.__APPDUCT__.connect({})", serde_json::Value::from(payload.as_str())))
        .display("expiresAt", link.expires_at);
    Ok(Answer::own_object(object))
}

/// Opens a link on a device that was asked for; what goes wrong fails the call.
fn device(
    shared: &Shared,
    daemon: &mut Connection,
    query: &Query,
    target: OpenTarget,
    runner: &dyn Runner,
) -> Result<Object, Refusal> {
    let settings = shared.daemon.settings();
    let scheme = links::scheme(settings, &shared.links)?;
    let app_id = links::app_id(settings, target, query.app_id.as_deref())?;
    let delivery = links::delivery(&shared.links, target, query.device.clone(), app_id, query.relaunch);
    let request = LinkCreate {
        ttl_seconds: query.ttl_seconds,
        address_override: delivery.address_override().map(str::to_owned),
        ..LinkCreate::default()
    };
    let link = daemon.request(&request)?;
    let deep_link = links::deep_link(&link, &scheme)?;
    delivery.check_endpoint(&link.endpoint.address)?;
    delivery.open(Opening { link: &deep_link, port: link.endpoint.port }, runner)?;
    Ok(minted(&link, &deep_link)
        .display("delivered", true)
        .text("target", target.as_str())
        .optional_text("device", query.device.as_deref()))
}

/// Opens a link on the only device that is there. Where there is none or several, or where it fails, there is a code to
/// scan.
fn detected(shared: &Shared, daemon: &mut Connection, query: &Query, runner: &dyn Runner) -> Result<Answer, Refusal> {
    let mut found = crate::delivery::found(runner, shared.links.android_serial.as_deref());
    let only = if found.len() == 1 { found.pop() } else { None };
    let note = match only {
        Some(Found { target, id, name }) => {
            let query = Query {
                target: Some(Target::Device(target)),
                url: None,
                browser_url: None,
                target_id: None,
                device: Some(id.clone()),
                app_id: query.app_id.clone().filter(|_| target != OpenTarget::IosSim),
                relaunch: false,
                ttl_seconds: query.ttl_seconds,
            };
            match device(shared, daemon, &query, target, runner) {
                Ok(object) => return Ok(Answer::own_object(object.display("autoDetected", true))),
                Err(refusal) => {
                    let name = name.unwrap_or(id);
                    format!(
                        "{name} ({}) did not take the link, so this is a fresh one: {}",
                        target.as_str(),
                        refusal.text()
                    )
                }
            }
        }
        None if found.is_empty() => "no booted iOS simulator and no attached Android device was found".to_owned(),
        None => {
            let found: Vec<_> = found.iter().map(Found::to_string).collect();
            format!("several devices are there; name one with \"target\" and \"device\": {}", found.join(", "))
        }
    };
    code(shared, daemon, query, Some(&note))
}

/// A link as a code to scan.
fn code(shared: &Shared, daemon: &mut Connection, query: &Query, note: Option<&str>) -> Result<Answer, Refusal> {
    let scheme = links::scheme(shared.daemon.settings(), &shared.links)?;
    let link = daemon.request(&LinkCreate { ttl_seconds: query.ttl_seconds, ..LinkCreate::default() })?;
    let deep_link = links::deep_link(&link, &scheme)?;
    let drawn = qr_code(&deep_link).map_err(|error| Refusal::execution(error.to_string()))?;
    let object = minted(&link, &deep_link).optional_text("note", note).text("qr", &drawn).text(
        "instructions",
        "Show the code to the user in a monospaced block, unchanged, to scan with the phone's camera; or have them open the \
         deep link on the device. Then wait with appduct_wait_for_session.",
    );
    Ok(Answer::own_object(object))
}

fn minted(link: &Link, deep_link: &str) -> Object {
    Object::new().text("sessionId", &link.session_id).text("deepLink", deep_link).display("expiresAt", link.expires_at)
}
