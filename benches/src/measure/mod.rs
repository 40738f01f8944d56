//! The measurements, one file for each kind.

pub(crate) mod calls;
pub(crate) mod growth;
pub(crate) mod listing;
pub(crate) mod memory;
pub(crate) mod processes;
pub(crate) mod sizes;

use std::path::PathBuf;

use tokio::runtime::Handle;

/// What every measurement is given.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    /// The `appduct` command, built for release.
    pub(crate) program: PathBuf,
    /// The floor of a process.
    pub(crate) hello: PathBuf,
    /// Where apps and peers run.
    pub(crate) runtime: Handle,
    /// Fewer repetitions and sessions: shows that it works, not how fast it is.
    pub(crate) is_quick: bool,
}

impl Bench {
    /// `whole` in a real run, a `part`th of it in a quick one.
    pub(crate) fn count(&self, whole: u32, part: u32) -> u32 {
        if self.is_quick { whole.div_ceil(part) } else { whole }
    }
}
