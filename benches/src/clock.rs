//! Both clocks of an app.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use appduct_proto::{Moment, Now, Timestamp};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(crate) fn now() -> Now {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ms = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Now { mono: Moment(ms(START.elapsed())), wall: Timestamp(ms(wall)) }
}

/// The instant of a moment of [`now`].
pub(crate) fn instant(moment: Moment) -> Instant {
    *START + std::time::Duration::from_millis(moment.0)
}
