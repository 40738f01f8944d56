//! Deep links: read, written, and opened by an app.

use appduct_proto::app::{ConnectFault, Core, Jitter, Options, Trust};
use appduct_proto::wire::{DeepLink, Device, Pin};
use appduct_proto::{Moment, Now, Timestamp};

/// Reads the bytes as a URL and hands it to an app.
pub fn target(data: &[u8]) {
    let url = String::from_utf8_lossy(data);
    let link = DeepLink::parse(&url);
    assert_eq!(link, plain(&url));
    open(&url, link.as_ref());
    let scheme = url.split(':').next().unwrap_or_default();
    assert_eq!(DeepLink::is_scheme(scheme), is_plain_scheme(scheme));
    let Some(link) = link else { return };
    match link.compose(scheme) {
        Err(_) => assert!(!DeepLink::is_scheme(scheme)),
        Ok(composed) => {
            let is_payload = |c: char| c.is_ascii_alphanumeric() || "-_=".contains(c);
            if link.payload.chars().all(is_payload) {
                assert_eq!(DeepLink::parse(&composed), Some(link), "{composed}");
            }
        }
    }
}

/// An app takes a URL for a link if and only if it is one, and never does more than fail to connect.
fn open(url: &str, link: Option<&DeepLink>) {
    let now = Now { mono: Moment(1), wall: Timestamp(1_700_000_000_000) };
    let trust = Trust { allow_private_lan_only: true, ..Trust::default() };
    let options =
        || Options { device: Device::default(), trust: trust.clone(), jitter: Jitter::Fixed(0.5), pings: true };
    let mut core = Core::new(options());
    assert_eq!(core.handle_url(now, url), link.is_some());
    let mut core = Core::new(options());
    let asked = core.connect_link(now, url);
    assert_eq!(asked == Err(ConnectFault::NotALink), link.is_none());
    if asked.is_ok() {
        assert!(link.is_some_and(|link| link.pin.is_some()), "connected without a pin");
    }
}

/// A link read by hand.
fn plain(url: &str) -> Option<DeepLink> {
    let before_hash = &url[..url.find('#').unwrap_or(url.len())];
    let query = &before_hash[before_hash.find('?')? + 1..];
    let (mut payload, mut pin) = (None, None);
    for pair in query.split('&') {
        let (name, value) = pair.split_at(pair.find('=').unwrap_or(pair.len()));
        let value = percent_decoded(value.get(1..).unwrap_or_default());
        match percent_decoded(name).as_str() {
            "appduct" if payload.is_none() => payload = Some(value),
            "pin" if pin.is_none() => pin = Some(value),
            _ => {}
        }
    }
    let pin = pin.and_then(|pin| {
        let digest = pin.strip_prefix("sha256/")?.strip_suffix('=')?;
        let fits =
            digest.len() == 43 && digest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
        fits.then(|| pin.parse::<Pin>().expect("it has the shape of a pin"))
    });
    Some(DeepLink { payload: payload?, pin })
}

fn percent_decoded(text: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let escape = (byte == b'%').then(|| Some(digit(bytes.get(at + 1))? * 16 + digit(bytes.get(at + 2))?)).flatten();
        decoded.push(escape.map_or(byte, |number| number as u8));
        at += if escape.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn is_plain_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
}
