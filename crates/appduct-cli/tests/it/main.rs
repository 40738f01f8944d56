//! The real binary from outside: what it prints, where, and how it exits.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails right there")]

mod arguments;
mod artifacts;
mod calls;
mod colour;
mod completions;
mod daemon;
mod deliveries;
mod documents;
mod events;
mod fake_daemon;
mod fake_tools;
mod help;
mod keys;
mod links;
mod listings;
mod manual;
mod mcp;
mod playground;
mod policies;
mod projects;
mod run;
mod sessions;
mod suggestions;
mod terminal;
mod transcripts;
mod wait;
