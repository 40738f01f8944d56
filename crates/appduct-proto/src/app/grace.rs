//! The spans of time that the core keeps: grace, keepalive, handshake.

use std::time::Duration;

use crate::{Now, Timestamp};

/// The shortest interval between pings.
pub(super) const MIN_KEEPALIVE: Duration = Duration::from_secs(1);

/// From asking for a socket to the ack. Without it a link that goes dead between the two would keep a claim waiting for
/// ever and use up a session's grace.
///
/// It is the time that a daemon gives a socket from accepting it to the claim or resume. A socket is accepted after it was
/// asked for, so this side always gives up first: an app that was frozen in between tries again, where the daemon's 1008
/// `pre_claim_timeout` would have ended its session.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A socket that opens later than this is given up instead of used: its claim or resume could still be on the way when the
/// next socket's overtakes it, and a daemon would take the late one for a repetition that replaces its successor.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Seconds from the wire in whole milliseconds, fractions dropped. The cast saturates.
pub(super) fn milliseconds(seconds: f64) -> Duration {
    Duration::from_millis((seconds * 1000.0) as u64)
}

/// What is left of `grace` for a session that lost its socket at `since`; `None` when it is used up. A wall clock that
/// was set back counts as no time passed.
pub(super) fn left(grace: Duration, since: Timestamp, now: Now) -> Option<Duration> {
    let passed = Duration::from_millis(now.wall.0.saturating_sub(since.0));
    grace.checked_sub(passed).filter(|left| !left.is_zero())
}
