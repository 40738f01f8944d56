//! The one clock of the daemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use appduct_proto::{Moment, Now, Timestamp};
use rustix::time::{ClockId, clock_gettime};

/// Linux counts suspended time on the boot-time clock only; the monotonic clock of macOS goes on while the machine sleeps.
/// On other systems a suspended machine suspends deadlines too.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SCALE: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SCALE: ClockId = ClockId::Monotonic;

/// Reads monotonic and wall time. Clones share how far the clock has been put forward.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    ahead_ms: Arc<AtomicU64>,
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Puts the clock forward for every holder of a clone: a test waits for no deadline.
    pub fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.ahead_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Both scales, read together.
    pub(crate) fn now(&self) -> Now {
        let ahead = self.ahead_ms.load(Ordering::SeqCst);
        let mono = clock_gettime(SCALE);
        // The scale starts at boot, so neither part is negative.
        let mono_ms = (mono.tv_sec as u64).saturating_mul(1000) + (mono.tv_nsec as u64) / 1_000_000;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
        Now { mono: Moment(mono_ms.saturating_add(ahead)), wall: Timestamp(wall_ms.saturating_add(ahead)) }
    }
}

/// ISO 8601 in UTC with milliseconds.
pub(crate) fn iso(at: Timestamp) -> String {
    calendar(at).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The time for calendars. Beyond the calendar's end it is its end.
pub(crate) fn calendar(at: Timestamp) -> jiff::Timestamp {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX)
}

/// Names the run of the machine whose time the monotonic scale tells, where the system says.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn boot() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_with_milliseconds() {
        assert_eq!(iso(Timestamp(1_773_741_600_007)), "2026-03-17T10:00:00.007Z");
        assert_eq!(iso(Timestamp(u64::MAX)).len(), "9999-12-31T23:59:59.999Z".len());
    }

    #[test]
    fn both_scales_move_when_the_clock_is_put_forward() {
        let clock = Clock::system();
        let before = clock.now();
        clock.clone().advance(Duration::from_secs(10));
        let after = clock.now();
        assert!(after.mono.since(before.mono) >= Duration::from_secs(10));
        assert!(after.wall.0 - before.wall.0 >= 10_000);
    }
}
