//! `tools.list`, `tools.call` and `tools.cancel`

use appduct_proto::Now;
use appduct_proto::host::{CallId, CallRequest, ToolPage, ToolQuery};
use appduct_rpc::RpcError;
use appduct_rpc::methods::{Cancelled, ToolsCall, ToolsCancel, ToolsList};

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

pub(super) fn call(state: &mut State, now: Now, params: ToolsCall) -> Result<CallId, RpcError> {
    let request = CallRequest {
        selector: params.selector,
        tool: params.name,
        args: params.args,
        timeout_ms: params.timeout_ms,
        consent: params.consent.is_some(),
    };
    state.host.call(now, request).map_err(|refusal| refused(&state.facts, refusal))
}

pub(super) fn cancel(state: &mut State, now: Now, params: &ToolsCancel) -> Result<Cancelled, RpcError> {
    let reason = params.reason.as_deref().unwrap_or("client_cancelled");
    let cancelled = state.host.cancel(now, params.selector.as_deref(), &params.call_id, reason);
    cancelled.map(|cancelled| Cancelled { cancelled }).map_err(|refusal| refused(&state.facts, refusal))
}
