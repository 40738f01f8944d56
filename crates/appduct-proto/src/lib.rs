//! Both ends of the Appduct link as pure state machines, and the wire between them.
//!
//! * [`wire`] turns frames, descriptors, bootstrap payloads and deep links to and from bytes. It holds no state.
//! * [`host`] is the daemon's side: links, sessions, registries, calls, events.
//! * [`app`] is the app's side: claim, resume, reconnect, registries, calls, lease, trust.
//! * [`signature`] renders a tool as one line.
//!
//! Nothing here reads a clock, opens a socket, looks at the environment or makes its own randomness. Time comes in with
//! every input as a [`Now`]; randomness comes in as a seed; what should happen in the world comes out of `poll_output`.
//! A driver applies one input, drains the outputs until `Idle`, and waits for the next input or the moment that `Idle`
//! names.

#![warn(missing_docs)]

pub mod app;
pub mod host;
pub mod signature;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod time;
pub mod wire;

#[cfg(test)]
mod tests;

pub use time::{Moment, Now, Timestamp};
