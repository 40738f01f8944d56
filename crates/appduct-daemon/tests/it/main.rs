//! The daemon as apps and clients see it: a real one in this process, over real sockets and real TLS.

#![expect(
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    reason = "a test that cannot go on may panic, helpers included"
)]

mod attach;
mod audit;
mod calls;
mod claim;
mod completeness;
mod control;
mod crash_loop;
mod events;
mod events_log;
mod floods;
mod full_disk;
mod harness;
mod hostility;
mod mounts;
mod persistence;
mod policy;
mod process;
mod registries;
mod resume;
mod slow_peers;
mod start;
mod sudden_death;
mod tls;
mod validation;
mod web;
mod websocket;
