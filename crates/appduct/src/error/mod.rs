//! What can go wrong, one type for each question that an app asks.

mod connect;
mod post;
mod register;
mod tool;

pub use connect::ConnectError;
#[cfg(all(feature = "enabled", not(feature = "noop")))]
pub(crate) use connect::PIN_MISMATCH;
pub use post::PostError;
pub use register::RegisterError;
pub use tool::ToolError;

/// The client has been shut down, its thread could not be started, or the call came from that very thread (out of a log
/// subscriber, say), which cannot wait for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the appduct client is not running; build a new one to go on")]
pub struct Stopped;
