//! What a handler knows of the call that it answers.

use std::fmt;

use crate::engine;

/// The call that a handler answers. Clones belong to the same call.
#[derive(Clone)]
pub struct Context(pub(crate) engine::Call);

impl Context {
    /// The call's id, as the daemon's logs and errors show it.
    #[must_use]
    pub fn call_id(&self) -> &str {
        self.0.call_id()
    }

    /// The session that the call came through.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.0.session_id()
    }

    /// The tool that is called.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.0.tool()
    }

    /// Tells the caller how far the call is: a fraction of 1, a message, both or none. Best effort; nothing is sent once
    /// the call has ended. A fraction that is not finite is left out.
    pub fn progress<'a>(&self, fraction: impl Into<Option<f64>>, message: impl Into<Option<&'a str>>) {
        self.0.progress(fraction.into().filter(|fraction| fraction.is_finite()), message.into());
    }

    /// Whether the call has ended before its answer: the caller cancelled it, its time is over, or the socket is gone.
    /// An answer is dropped then, so a handler may as well stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the call ends before its answer, and says why: `timeout`, `session_suspended`, `client_cancelled` or
    /// the caller's own words. Waits for ever otherwise, so select it against the work.
    pub async fn cancelled(&self) -> String {
        self.0.cancelled().await
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("tool", &self.tool()).field("call_id", &self.call_id()).finish_non_exhaustive()
    }
}
