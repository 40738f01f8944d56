//! Pages that are reached through their browser: the DevTools protocol on one side, the web port on the other.
//!
//! A page whose own sockets may not leave it (a content policy, a `file:` page, a proxy) still has a link to its browser.
//! [`attach`] finds the tab, tells the page's SDK to connect, and leaves a [`Relay`]: what the page says through its binding
//! goes out on an ordinary socket to the web port, and what comes there goes back into the page. To the rest of the daemon
//! it is one more page.

mod devtools;
mod endpoint;
mod page;
mod relay;
mod running;
mod targets;

use std::time::Duration;

use appduct_proto::wire::{Length, RawJson};
use appduct_rpc::methods::{Attached, Link, WebAttach};
use appduct_rpc::{ErrorType, RpcError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::event_loop::{Event, Mailbox};
use devtools::Tab;
use endpoint::Endpoint;
use page::{Page, Script};

pub(crate) use relay::Relay;
pub(crate) use running::{Full, Running};

/// How long a browser may take over each thing that it is asked.
const BROWSER_PATIENCE: Duration = Duration::from_secs(5);

/// How long the page's SDK may take to be there, and how often it is looked for.
const SDK_PATIENCE: Duration = Duration::from_secs(5);
const SDK_INTERVAL: Duration = Duration::from_millis(50);

/// How to reach the daemon from a task that attaches.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Where links are minted.
    pub(crate) mailbox: mpsc::WeakSender<Event>,
    /// The port that a relay connects to.
    pub(crate) web_port: u16,
}

/// What the daemon gives to a page whose SDK waits for it.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The link that the page claims.
    pub(crate) link: Link,
    /// The relay's number among those of its tab.
    pub(crate) number: u64,
    /// Ends the relay, and says why.
    pub(crate) stop: oneshot::Receiver<&'static str>,
}

/// Pairs the page. The relay is to be run for as long as it goes.
///
/// Nothing is minted before the page's SDK is there, so most failures leave nothing behind; what fails after that takes its
/// link with it.
pub(crate) async fn attach(params: &WebAttach, desk: &Desk) -> Result<(Attached, Relay), RpcError> {
    let endpoint = Endpoint::parse(&params.browser_url)?;
    let target = targets::pick(in_time("list its tabs", endpoint.targets()).await?, params)?;
    let mut tab = in_time("open the tab", Tab::open(&endpoint, &target)).await?;
    let mut page = in_time("look into the tab", prepare(&mut tab)).await?;
    let url = if target.url.starts_with(&params.url) {
        target.url
    } else {
        in_time("open the page", navigate(&mut tab, &mut page, &params.url)).await?;
        params.url.clone()
    };
    wait_for_sdk(&mut tab, &mut page, &url).await?;

    let mailbox = desk.mailbox.upgrade().ok_or_else(going)?;
    let Admission { link, number, stop } = admit(&mailbox, &target.id, params.ttl_seconds).await?;
    let mut relay = Relay::new(tab, page, desk.web_port, stop, (target.id.clone(), number));
    if let Err(error) = relay.connect(&link.deep_link_payload).await {
        mailbox.send(Event::PageRefused { session_id: link.session_id, relay: relay.id() }).await.ok();
        return Err(error);
    }
    Ok((Attached { session_id: link.session_id, url, target_id: target.id, expires_at: link.expires_at }, relay))
}

/// Makes the page's calls of the binding heard, in this document and those that follow it.
async fn prepare(tab: &mut Tab) -> Result<Page, RpcError> {
    let mut page = Page::new();
    let tree = tab.call(&mut page, "Page.getFrameTree", &RawJson::empty_object()).await?;
    let frame = devtools::fields(&tree).and_then(|tree| {
        let frame = devtools::object(&tree, "frameTree")?;
        let frame = devtools::object(&frame, "frame")?;
        frame.text("id", Length::NON_EMPTY).ok().map(std::borrow::Cow::into_owned)
    });
    page.is_in(frame.ok_or_else(|| refusal("the browser does not say which frame is the page"))?);
    tab.call(&mut page, "Inspector.enable", &RawJson::empty_object()).await?;
    tab.call(&mut page, "Runtime.enable", &RawJson::empty_object()).await?;
    tab.call(&mut page, "Runtime.addBinding", &page::binding()).await?;
    Ok(page)
}

async fn navigate(tab: &mut Tab, page: &mut Page, url: &str) -> Result<(), RpcError> {
    let answer = tab.call(page, "Page.navigate", &page::address(url)).await?;
    let error = devtools::fields(&answer)
        .and_then(|answer| answer.text("errorText", Length::NON_EMPTY).ok().map(std::borrow::Cow::into_owned));
    match error {
        Some(error) => Err(refusal(format!("the browser cannot open {url:?}: {error:?}"))),
        None => Ok(()),
    }
}

async fn wait_for_sdk(tab: &mut Tab, page: &mut Page, url: &str) -> Result<(), RpcError> {
    let deadline = Instant::now() + SDK_PATIENCE;
    loop {
        let look = async {
            let script = Script::has_sdk(page);
            let answer = tab.ask(page, "Runtime.evaluate", &script).await?;
            // Between two documents there is nobody to ask.
            Ok::<bool, RpcError>(answer.is_ok_and(|answer| page::is_true(&answer)))
        };
        match tokio::time::timeout_at(deadline, look).await {
            Ok(Ok(true)) => return Ok(()),
            Ok(Ok(false)) if Instant::now() + SDK_INTERVAL < deadline => sleep(SDK_INTERVAL).await,
            Ok(Err(error)) => return Err(error),
            Ok(Ok(false)) | Err(_) => {
                return Err(refusal(format!(
                    "no Appduct SDK is in the page {url:?}: it has to import @appduct/web in a development build, or \
                     @appduct/web/enabled"
                )));
            }
        }
    }
}

/// A link and a place for the relay.
async fn admit(mailbox: &Mailbox, target: &str, ttl_seconds: Option<u64>) -> Result<Admission, RpcError> {
    let (answer, admitted) = oneshot::channel();
    let event = Event::PageReady { target: target.to_owned(), ttl_seconds, answer };
    mailbox.send(event).await.map_err(|_| going())?;
    admitted.await.map_err(|_| going())?
}

async fn in_time<T>(what: &str, asked: impl Future<Output = Result<T, RpcError>>) -> Result<T, RpcError> {
    match timeout(BROWSER_PATIENCE, asked).await {
        Ok(result) => result,
        Err(_) => {
            let seconds = BROWSER_PATIENCE.as_secs();
            Err(refusal(format!("the browser did not {what} within {seconds} seconds")))
        }
    }
}

fn going() -> RpcError {
    refusal("the daemon is going")
}

/// Every failure to attach has the same type.
fn refusal(message: impl Into<String>) -> RpcError {
    RpcError::new(ErrorType::InvalidRequest, message)
}
