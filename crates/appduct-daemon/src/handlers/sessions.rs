//! `sessions.describe` and `sessions.revoke`

use appduct_proto::Now;
use appduct_proto::host::SessionSummary;
use appduct_rpc::RpcError;
use appduct_rpc::methods::{SessionsDescribe, SessionsRevoke};

use super::refusal::refused;
use crate::state::State;

pub(super) fn describe(state: &State, params: &SessionsDescribe) -> Result<SessionSummary, RpcError> {
    state.host.session(params.selector.as_deref()).map_err(|refusal| refused(&state.facts, refusal))
}

pub(super) fn revoke(state: &mut State, now: Now, params: &SessionsRevoke) -> Result<(), RpcError> {
    state.host.revoke(now, params.selector.as_deref()).map_err(|refusal| refused(&state.facts, refusal))
}
