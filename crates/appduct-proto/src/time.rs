//! Time as an input: a monotonic scale for deadlines, wall time for what people and the wire read.

use std::ops::Add;
use std::time::Duration;

/// A point on the driver's monotonic, suspend-aware scale, in milliseconds. Only differences mean anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl Moment {
    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    /// Saturates: a deadline beyond the end of the scale never comes.
    fn add(self, rhs: Duration) -> Self {
        let ms = u64::try_from(rhs.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ms))
    }
}

/// Wall time in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Whole seconds since the Unix epoch, rounded down.
    #[must_use]
    pub fn unix_seconds(self) -> u64 {
        self.0 / 1000
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        let ms = u64::try_from(rhs.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ms))
    }
}

/// Both scales read at the same instant; the driver reads them once per turn of its loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// For deadlines.
    pub mono: Moment,
    /// For `ts`, `createdAt`, `expiresAt` and the like.
    pub wall: Timestamp,
}
