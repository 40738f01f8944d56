//! A registration, to be removed again.

use std::fmt;

use crate::engine;

/// A tool or an event that was registered.
///
/// Dropping it does **not** unregister: most tools live as long as the app, and nobody has to keep a value for that.
#[derive(Clone)]
pub struct Registration(pub(crate) engine::Ticket);

impl Registration {
    /// Takes the tool or event back. Nothing happens if a later registration has taken the name, or if this one was
    /// removed before. Calls in flight go on.
    pub fn remove(&self) {
        self.0.remove();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}
