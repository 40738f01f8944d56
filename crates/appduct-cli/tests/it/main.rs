//! The real binary from outside: what it prints, where, and how it exits.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails right there")]

mod arguments;
mod calls;
mod colour;
mod daemon;
mod fake_daemon;
mod help;
mod links;
mod listings;
mod run;
mod sessions;
mod transcripts;
