//! `appduct_sessions`

use appduct_proto::wire::{Object, RawJson};
use appduct_rpc::methods::SessionsList;

use super::super::answer::Answer;
use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;

/// Lists the sessions that this server may see.
pub(super) fn run(shared: &Shared, daemon: &mut Connection) -> Result<Answer, Refusal> {
    let mut sessions = daemon.request(&SessionsList)?;
    sessions.retain(|session| shared.scope.shows_session(session));
    let sessions = RawJson::of(&sessions).map_err(|error| Refusal::execution(error.to_string()))?;
    Ok(Answer::own(Object::new().raw("sessions", &sessions).into_raw()))
}
