//! Tokens never show.

use std::fmt::Debug;
use std::net::Ipv4Addr;

use bytes::Bytes;

use crate::wire::*;

const SECRET: &str = "do-not-show";

fn shown(value: &impl Debug) -> String {
    format!("{value:?}{value:#?}")
}

#[test]
fn debug_leaves_tokens_out() {
    let session_id = || "session-1".to_owned();
    let claim = Hello::Claim { session_id: session_id(), token: SECRET.to_owned(), device: Device::default() };
    let resume = Hello::Resume { session_id: session_id(), resume_token: SECRET.to_owned() };
    let ack = DaemonFrame::Ack(SessionAck {
        alias: "phone".to_owned(),
        resume_token: SECRET.to_owned(),
        keepalive_interval_s: Number(15.0),
        grace_s: Number(600.0),
        event_registry: true,
    });
    let received = DaemonReceived::decode(&Bytes::from(ack.encode("session-1")));
    let link = DeepLink { payload: SECRET.to_owned(), pin: None };
    for text in [shown(&claim), shown(&resume), shown(&ack), shown(&received), shown(&link)] {
        assert!(!text.contains(SECRET), "{text}");
    }
    let address = Ipv4Addr::LOCALHOST.into();
    let bootstrap = Bootstrap { address, port: 1, session_id: session_id(), token: [213; 32], expires_at: 0 };
    assert!(!shown(&bootstrap).contains("213"), "{bootstrap:?}");
}
