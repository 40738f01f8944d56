//! Progress of a request, which also keeps clients from giving it up: many wait a minute for a sign of life.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// Between signs of life.
const BEAT: Duration = Duration::from_secs(15);
/// How much a sign of life adds where nothing else is known: progress must grow, and this shows nowhere.
const STEP: f64 = 0.000_001;

/// How far a call of an app is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) progress: Option<f64>,
    pub(super) message: Option<String>,
}

/// A sign of life.
#[derive(Debug)]
struct Sign {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// Where progress is told, if the client asked for it.
#[derive(Debug)]
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token() }
    }

    async fn tell(&self, sign: Sign) {
        let Some(token) = self.token.clone() else { return };
        let mut param = ProgressNotificationParam::new(token, sign.progress);
        param.total = sign.total;
        param.message = sign.message;
        // A client that is gone takes its request with it.
        self.peer.notify_progress(param).await.unwrap_or_default();
    }

    /// Waits for `work`, telling how much of `total` has passed.
    pub(super) async fn during_wait<T>(&self, total: Duration, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let total = Some(total.as_millis() as f64);
        let sign = || Sign { progress: started.elapsed().as_millis() as f64, total, message: None };
        beating(work, sign, |sign| self.tell(sign)).await
    }

    /// Waits for something of which nothing is known but what it is.
    pub(super) async fn during<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        let mut progress = 0.0;
        let sign = || {
            progress += STEP;
            Sign { progress, total: None, message: Some(what.to_owned()) }
        };
        beating(work, sign, |sign| self.tell(sign)).await
    }

    /// Waits for a call, passing on what the app says of it.
    pub(super) async fn during_call<T>(&self, mut steps: mpsc::Receiver<Step>, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let mut beat = beat();
        let mut progress = 0.0;
        loop {
            tokio::select! {
                biased;
                Some(step) = steps.recv() => {
                    progress = step.progress.unwrap_or(0.0);
                    beat.reset();
                    self.tell(Sign { progress, total: None, message: step.message }).await;
                }
                result = &mut work => return result,
                _ = beat.tick() => {
                    progress += STEP;
                    self.tell(Sign { progress, total: None, message: None }).await;
                }
            }
        }
    }
}

fn beat() -> tokio::time::Interval {
    let mut beat = interval_at(Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

/// Waits for `work`, and tells a sign at every beat.
async fn beating<T, F: Future<Output = ()>>(
    work: impl Future<Output = T>,
    mut sign: impl FnMut() -> Sign,
    tell: impl Fn(Sign) -> F,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut beat = beat();
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = beat.tick() => tell(sign()).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_long_wait_shows_that_it_lives_four_times_a_minute() {
        let (told, mut signs) = mpsc::unbounded_channel();
        let work = tokio::time::timeout(Duration::from_secs(61), std::future::pending::<()>());
        let sign = || Sign { progress: 1.0, total: None, message: None };
        let tell = |sign| {
            told.send(sign).unwrap();
            std::future::ready(())
        };
        beating(work, sign, tell).await.unwrap_err();
        drop(told);
        let mut count = 0;
        while signs.recv().await.is_some() {
            count += 1;
        }
        assert_eq!(count, 4);
    }
}
