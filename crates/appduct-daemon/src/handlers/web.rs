//! `web.attach`: what of it needs the state. The rest is the browser's.

use appduct_proto::Now;
use appduct_rpc::methods::{LinkCreate, LinkTransport, SessionsRevoke};
use appduct_rpc::{ErrorType, RpcError};

use super::{link, sessions};
use crate::browser::{Admission, Full};
use crate::state::State;

/// A link and a relay's place for the page in `target`, whose SDK waits for them.
pub(crate) fn page_ready(
    state: &mut State,
    now: Now,
    target: String,
    ttl_seconds: Option<u64>,
) -> Result<Admission, RpcError> {
    state.relays.check(&target).map_err(|Full { limit }| {
        let message = format!("{limit} pages are attached, which is the bound: close some of their tabs");
        RpcError::new(ErrorType::InvalidRequest, message)
    })?;
    let params = LinkCreate { ttl_seconds, address_override: None, transport: Some(LinkTransport::Web) };
    // Whatever keeps a page from being attached has the same type.
    let link =
        link::create(state, now, &params).map_err(|error| RpcError::new(ErrorType::InvalidRequest, error.message))?;
    let (number, stop) = state.relays.start(target);
    Ok(Admission { link, number, stop })
}

/// The page would not have its link: nobody else is to claim it.
pub(crate) fn page_refused(state: &mut State, now: Now, session_id: String) {
    // Gone already, if the page has claimed and left.
    sessions::revoke(state, now, &SessionsRevoke { selector: Some(session_id) }).ok();
}
