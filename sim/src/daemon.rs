//! The daemon's process: a host, its machine's clocks, and the disk that outlives both.

use appduct_proto::host::{Host, Records};
use appduct_proto::{Moment, Now, Timestamp};

use crate::disk::Disk;
use crate::sabotage::{Sabotage, Saboteur};

/// Wall time at the start of a run, in milliseconds since the Unix epoch.
const EPOCH_MS: i64 = 1_700_000_000_000;

/// A point on a machine's clocks. `set_by_ms` is how far somebody has set its wall clock.
pub(crate) fn clocks(now: u64, booted: u64, set_by_ms: i64) -> Now {
    let wall = EPOCH_MS.saturating_add_unsigned(now).saturating_add(set_by_ms);
    Now { mono: Moment(now - booted + 1), wall: Timestamp(u64::try_from(wall).unwrap_or(0)) }
}

#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) host: Option<Host>,
    pub(crate) saboteur: Saboteur,
    pub(crate) sabotage: Sabotage,
    /// Counts the processes.
    pub(crate) life: u64,
    /// Counts the machine's starts.
    pub(crate) boot: u64,
    /// When the machine started.
    pub(crate) booted: u64,
    pub(crate) set_by_ms: i64,
    /// The next deadline of the host on the run's scale.
    pub(crate) until: Option<u64>,
    /// The machine sleeps until then.
    pub(crate) asleep_until: u64,
    /// How long it has slept in all.
    pub(crate) slept_ms: u64,
    pub(crate) is_stopping: bool,
    pub(crate) disk: Disk,
}

impl Daemon {
    pub(crate) fn new(sabotage: Sabotage) -> Self {
        Self {
            host: None,
            saboteur: Saboteur::new(sabotage),
            sabotage,
            life: 0,
            boot: 0,
            booted: 0,
            set_by_ms: 0,
            until: None,
            asleep_until: 0,
            slept_ms: 0,
            is_stopping: false,
            disk: Disk::new(),
        }
    }

    pub(crate) fn clocks(&self, now: u64) -> Now {
        clocks(now, self.booted, self.set_by_ms)
    }

    /// Whether it can take anything at this time.
    pub(crate) fn is_awake(&self, now: u64) -> bool {
        self.host.is_some() && self.asleep_until <= now
    }

    /// What a start finds on the disk: `Err` if it cannot be read.
    pub(crate) fn records(&self) -> Result<Option<Records>, String> {
        let Some(document) = self.disk.document() else { return Ok(None) };
        Records::decode(document.as_bytes()).map(Some).map_err(|fault| format!("{fault:?}"))
    }
}
