//! Waits: on a connection of their own, which ends with the wait or with whoever waits.

use std::time::{Duration, Instant};

use appduct_rpc::methods::EventNotification;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::oneshot;

use super::super::daemon::{Connection, HangUp};
use super::super::progress::Progress;
use super::super::refusal::Refusal;
use super::super::server::{Server, Shared};

/// How long a wait takes where the agent does not say.
pub(super) const DEFAULT_TIMEOUT_MS: u64 = 120_000;

/// A wait that has begun.
pub(super) struct Wait<'a> {
    pub(super) daemon: &'a mut Connection,
    deadline: Instant,
}

impl Wait<'_> {
    /// The next notification; `None` when the time is over.
    pub(super) fn next(&mut self) -> Result<Option<EventNotification>, Refusal> {
        match self.deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Ok(None),
            left => self.daemon.next_event(left),
        }
    }
}

/// Waits on a thread while the client is told that it goes on.
pub(super) async fn run<T: Send + 'static>(
    server: &Server,
    context: &RequestContext<RoleServer>,
    timeout: Duration,
    work: impl FnOnce(&Shared, &mut Wait<'_>) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let (open, opened) = oneshot::channel::<HangUp>();
    let waited = server.on_daemon(move |shared, daemon| {
        // Nobody waits any more.
        open.send(daemon.hang_up()?).map_err(|_| Refusal::cancelled())?;
        // The time of a wait that is longer than the clock runs is over when it is a century.
        let century = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        work(shared, &mut Wait { daemon, deadline: Instant::now() + timeout.min(century) })
    });
    let progress = Progress::of(context);
    let result = tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(Refusal::cancelled()),
        result = progress.during_wait(timeout, waited) => result,
    };
    // Ends the connection of a wait that goes on.
    drop(opened);
    result
}
