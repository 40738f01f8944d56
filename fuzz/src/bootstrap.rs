//! Bootstrap payloads, as text and as the bytes in it.

use std::net::IpAddr;

use appduct_proto::wire::{Bootstrap, address_text};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Reads the bytes as a payload's text, and as what a payload's text stands for.
pub fn target(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(bootstrap) = Bootstrap::decode(text)
    {
        check(&bootstrap);
    }
    let payload = URL_SAFE_NO_PAD.encode(data);
    let decoded = Bootstrap::decode(&payload);
    assert_eq!(decoded.as_ref().ok(), plain(data).as_ref());
    if let Ok(bootstrap) = decoded {
        assert_eq!(bootstrap.encode().as_deref(), Ok(payload.as_str()), "one payload has two texts");
        check(&bootstrap);
    }
}

fn check(bootstrap: &Bootstrap) {
    let text = bootstrap.encode().expect("what was read can be written");
    assert_eq!(Bootstrap::decode(&text).as_ref(), Ok(bootstrap));
    assert_eq!(address_text(bootstrap.address).parse(), Ok(bootstrap.address));
    assert_eq!(URL_SAFE_NO_PAD.decode(bootstrap.token_text()).as_deref(), Ok(bootstrap.token.as_slice()));
    let shown = format!("{bootstrap:?}");
    assert!(bootstrap.session_id.len() > 20 || !shown.contains(&bootstrap.token_text()), "{shown}");
}

/// The layout, spelled out place by place.
fn plain(bytes: &[u8]) -> Option<Bootstrap> {
    let address_end = match bytes.get(1)? {
        4 => 6,
        6 => 18,
        _ => return None,
    };
    let address: IpAddr = match bytes.get(2..address_end)? {
        short if short.len() == 4 => <[u8; 4]>::try_from(short).ok()?.into(),
        long => <[u8; 16]>::try_from(long).ok()?.into(),
    };
    let id_start = address_end + 3;
    let id_end = id_start + usize::from(*bytes.get(address_end + 2)?);
    let bootstrap = Bootstrap {
        address,
        port: u16::from(bytes[address_end]) * 256 + u16::from(bytes[address_end + 1]),
        session_id: String::from_utf8(bytes.get(id_start..id_end)?.to_vec()).ok()?,
        token: bytes.get(id_end..id_end + 32)?.try_into().ok()?,
        expires_at: bytes.get(id_end + 32..id_end + 40)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    };
    let is_whole = bytes.len() == id_end + 40 && bytes[0] == 2;
    (is_whole && bootstrap.port > 0 && !bootstrap.session_id.is_empty()).then_some(bootstrap)
}
