//! `events.since` and `events.list`

use appduct_proto::host::{self, DeclaredEventPage, DeclaredEventQuery, EventQuery, Glob};
use appduct_rpc::RpcError;
use appduct_rpc::methods::{EventsList, EventsSince};

use super::count;
use super::refusal::refused;
use crate::state::State;

pub(super) fn since(state: &State, params: &EventsSince) -> Result<host::EventsSince, RpcError> {
    let query = EventQuery {
        since: params.since.unwrap_or(0),
        limit: params.limit.map(count),
        name: params.name.as_deref().map(Glob::new),
        payload_max_bytes: params.payload_max_bytes.map(count),
    };
    state.host.events_since(params.selector.as_deref(), &query).map_err(|refusal| refused(&state.facts, refusal))
}

pub(super) fn list(state: &State, params: &EventsList) -> Result<DeclaredEventPage, RpcError> {
    let query = DeclaredEventQuery {
        name: params.name.as_deref().map(Glob::new),
        limit: params.limit.map(count),
        offset: params.offset.map_or(0, count),
    };
    state.host.list_events(params.selector.as_deref(), &query).map_err(|refusal| refused(&state.facts, refusal))
}
