//! Both ends joined by a bad link, in virtual time; for tests, inside this crate and outside of it.
//!
//! A failed check panics: that is what the callers are for.

mod choices;
mod network;
mod pair;
pub mod storm;

pub use choices::Choices;
pub use network::{Arrival, Connection, Message, Network};
pub use pair::{App, Pair, raw, tool};
