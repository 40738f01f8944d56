//! A deterministic simulation: one host, many cores, their callers and their intruders in one thread and in virtual time.
//!
//! The network delays, breaks, goes silent and holds messages back; apps freeze, reload, die and come back; the daemon is
//! killed, stopped, put to sleep and started again from its disk, which is slow, fails, and loses what was not synced; wall
//! clocks are set. All of it follows from a seed. While it lasts, and in the calm after it, the promises of [`Promise`] are
//! checked. A run that breaks one names its seed, and that seed breaks it again.
//!
//! ```
//! let report = appduct_sim::run(1, appduct_sim::Sabotage::None, None).unwrap();
//! assert_eq!(appduct_sim::run(1, appduct_sim::Sabotage::None, None), Ok(report));
//! ```

mod app;
mod daemon;
mod disk;
mod network;
mod oracle;
mod plan;
mod queue;
mod random;
mod sabotage;
mod sweep;
mod trace;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use oracle::{Counts, Promise, Violation};
pub use sabotage::Sabotage;
pub use sweep::{Sweep, sweep};
pub use trace::Listener;
pub use world::Report;

/// Runs one seed. `listener` takes every line of what happens. Fails with the first promise that the run breaks; a panic of
/// either end is one.
pub fn run(seed: u64, sabotage: Sabotage, listener: Option<Listener<'_>>) -> Result<Report, Violation> {
    catch_unwind(AssertUnwindSafe(|| world::run(seed, sabotage, listener))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let what = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
        Err(Violation { seed, promise: Promise::SoundMachines, at: 0, what: format!("panic: {what}") })
    })
}
