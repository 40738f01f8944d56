//! The client against daemons that behave and daemons that do not.

#![expect(clippy::unwrap_used, reason = "what the tests need and do not get fails them")]

mod client;
mod fake;
mod guard;
mod spawn;
mod stop;
