//! `tools.list` and `tools.cancel`

use appduct_proto::Now;
use appduct_proto::host::{ToolPage, ToolQuery};
use appduct_rpc::RpcError;
use appduct_rpc::methods::{Cancelled, ToolsCancel, ToolsList};

use super::count;
use super::refusal::refused;
use crate::state::State;

pub(super) fn list(state: &State, params: ToolsList) -> Result<ToolPage, RpcError> {
    let query = ToolQuery {
        group: params.group,
        filter: params.filter,
        limit: params.limit.map(count),
        offset: params.offset.map_or(0, count),
    };
    state.host.list_tools(params.selector.as_deref(), &query).map_err(|refusal| refused(&state.facts, refusal))
}

pub(super) fn cancel(state: &mut State, now: Now, params: &ToolsCancel) -> Result<Cancelled, RpcError> {
    let reason = params.reason.as_deref().unwrap_or("client_cancelled");
    let cancelled = state.host.cancel(now, params.selector.as_deref(), &params.call_id, reason);
    cancelled.map(|cancelled| Cancelled { cancelled }).map_err(|refusal| refused(&state.facts, refusal))
}
