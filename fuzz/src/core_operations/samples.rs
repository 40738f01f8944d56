//! What the world and the core start with.

use std::net::{IpAddr, Ipv4Addr};

use appduct_proto::app::{ConnectInput, Jitter, Lease, Options, Secret, SocketError, SocketLoss, Trust};
use appduct_proto::wire::{Device, Pin, RawJson};

pub(super) const START_MS: u64 = 1_700_000_000_000;
pub(super) const SESSION: &str = "session-1";
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PORT: u16 = 8443;

pub(super) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect("the text is JSON")
}

/// A descriptor of a tool, and of an event as well.
pub(super) fn descriptor(name: &str) -> RawJson {
    raw(&format!(r#"{{"name":"{name}","description":"d"}}"#))
}

pub(super) fn options(jitter: Jitter, pings: bool) -> Options {
    let trust = Trust { allow_private_lan_only: true, ..Trust::default() };
    Options { device: Device::default(), trust, jitter, pings }
}

pub(super) fn input() -> ConnectInput {
    ConnectInput {
        address: ADDRESS,
        port: PORT,
        session_id: SESSION.to_owned(),
        secret: Secret::Token("link-token".to_owned()),
        expires_at: 0,
        device: Device::default(),
        link_pin: Some(Pin::of_spki(b"daemon")),
    }
}

pub(super) fn lease() -> Lease {
    Lease {
        session_id: SESSION.to_owned(),
        resume_token: "resume-0".to_owned(),
        alias: "phone".to_owned(),
        address: ADDRESS,
        port: PORT,
        keepalive_interval_s: 15.0,
        grace_s: 10.0,
        disconnected_at: None,
        link_pin: Some(Pin::of_spki(b"daemon")),
    }
}

/// An ack; `more` goes in behind the last field.
pub(super) fn ack(session: &str, grace_s: u64, more: &str) -> String {
    format!(
        r#"{{"type":"session_ack","session_id":"{session}","status":"ok","alias":"phone","resume_token":"resume-token","keepalive_interval_s":15,"grace_s":{grace_s}{more}}}"#
    )
}

pub(super) fn failure(code: &'static str, retryable: bool) -> SocketLoss {
    let error = SocketError { code, message: format!("{code} happened"), retryable };
    SocketLoss { code: None, reason: None, error: Some(error) }
}
