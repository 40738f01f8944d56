//! The one place that reads clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use appduct_proto::{Moment, Now, Timestamp};

/// Reads both clocks. The monotonic one goes on while the machine sleeps: `CLOCK_BOOTTIME` on Linux and Android,
/// `CLOCK_MONOTONIC` of Apple's systems, and the standard library's clock elsewhere, which does so on Windows.
pub(super) fn now() -> Now {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { mono: monotonic(), wall: Timestamp(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)) }
}

#[cfg(unix)]
fn monotonic() -> Moment {
    use rustix::time::{ClockId, clock_gettime};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;

    let time = clock_gettime(CLOCK);
    let ms = time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000);
    Moment(u64::try_from(ms).unwrap_or(0))
}

#[cfg(not(unix))]
fn monotonic() -> Moment {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    Moment(u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back() {
        let (first, second) = (now(), now());
        assert!(first.mono <= second.mono);
        assert!(first.wall.0 > 1_700_000_000_000);
    }
}
