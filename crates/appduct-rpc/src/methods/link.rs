//! Links: how an app is paired.

use std::fmt;

use appduct_proto::wire::{FieldFault, Fields, IntegerFrom, Length, Object, RawJson};
use serde::{Deserialize, Serialize};

use super::{Method, optional, optional_text, optional_word};

/// `link.create`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCreate {
    /// How long the link may be claimed, in seconds, 1 or greater; the configuration's `linkTtlSeconds` where absent.
    pub ttl_seconds: Option<u64>,
    /// What the payload says instead of the advertised address; not empty.
    pub address_override: Option<String>,
    /// The listener that may claim it; native where absent.
    pub transport: Option<LinkTransport>,
}

/// The listener that a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkTransport {
    /// Pinned TLS.
    Native,
    /// Plain WebSocket on loopback.
    Web,
}

impl LinkTransport {
    const ALL: &[Self] = &[Self::Native, Self::Web];
    const NAMES: &'static [&'static str] = &["native", "web"];

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Web => "web",
        }
    }
}

/// `web.attach`: pairs a page of a browser that listens for the DevTools protocol.
///
/// That `browser_url` is on loopback is for the daemon's handler to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAttach {
    /// What the page's URL starts with; not empty.
    pub url: String,
    /// Where the browser listens; not empty.
    pub browser_url: String,
    /// The tab; the only one with that URL where absent.
    pub target_id: Option<String>,
    /// How long the link may be claimed, in seconds, 1 or greater.
    pub ttl_seconds: Option<u64>,
}

/// A minted link. The payload holds the one-time token: `Debug` leaves it out.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The session that a claim makes.
    pub session_id: String,
    /// What the deep link carries.
    pub deep_link_payload: String,
    /// Where the app will connect.
    pub endpoint: LinkEndpoint,
    /// Unix seconds.
    pub expires_at: u64,
    /// The pin of the host key.
    pub pin: String,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("session_id", &self.session_id)
            .field("endpoint", &self.endpoint)
            .field("expires_at", &self.expires_at)
            .field("pin", &self.pin)
            .finish_non_exhaustive()
    }
}

/// Where an app will connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEndpoint {
    /// 4 or 6.
    pub family: u8,
    /// The address.
    pub address: String,
    /// The port.
    pub port: u16,
}

/// A page that was attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// The session that the page's claim makes.
    pub session_id: String,
    /// The page.
    pub url: String,
    /// Its tab.
    pub target_id: String,
    /// Unix seconds.
    pub expires_at: u64,
}

impl Method for LinkCreate {
    const NAME: &'static str = "link.create";
    type Reply = Link;

    fn params(&self) -> RawJson {
        optional(Object::new(), "ttlSeconds", self.ttl_seconds)
            .optional_text("addressOverride", self.address_override.as_deref())
            .optional_text("transport", self.transport.map(LinkTransport::as_str))
            .into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            ttl_seconds: params.optional_integer("ttlSeconds", IntegerFrom::One)?,
            address_override: optional_text(params, "addressOverride", Length::NON_EMPTY)?,
            transport: optional_word(params, "transport", LinkTransport::NAMES, LinkTransport::ALL)?,
        })
    }
}

impl Method for WebAttach {
    const NAME: &'static str = "web.attach";
    type Reply = Attached;

    fn params(&self) -> RawJson {
        let required = Object::new().text("url", &self.url).text("browserUrl", &self.browser_url);
        optional(required.optional_text("targetId", self.target_id.as_deref()), "ttlSeconds", self.ttl_seconds)
            .into_raw()
    }

    fn parse(params: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self {
            url: params.text("url", Length::NON_EMPTY)?.into_owned(),
            browser_url: params.text("browserUrl", Length::NON_EMPTY)?.into_owned(),
            target_id: optional_text(params, "targetId", Length::NON_EMPTY)?,
            ttl_seconds: params.optional_integer("ttlSeconds", IntegerFrom::One)?,
        })
    }
}
