//! Any order of operations keeps the promises of the host, and does what a plain second host does.

mod frames;
mod model;
mod run;
mod world;

use appduct_proto::testing::Choices;

use run::Run;

/// The most operations of one run.
const MAX_OPERATIONS: usize = 400;

/// The numbers of both hosts, so small that a run meets every bound.
struct Numbers {
    grace_ms: u64,
    keepalive_ms: u64,
    event_buffer: usize,
    max_unclaimed: usize,
    max_calls: usize,
    max_tools: usize,
    max_events: usize,
    max_registry_bytes: usize,
    event_buffer_bytes: usize,
}

const SETTINGS: Numbers = Numbers {
    grace_ms: 40_000,
    keepalive_ms: 15_000,
    event_buffer: 3,
    max_unclaimed: 4,
    max_calls: 3,
    max_tools: 4,
    max_events: 3,
    // Four tools fit unless all are grouped.
    max_registry_bytes: 165,
    // Two short events fit, or the newest one alone.
    event_buffer_bytes: 15,
};

/// The first byte says whether sessions are recorded. Each operation is a byte for its kind and some for what it is about.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut run = Run::new(choices.flag());
    for _ in 0..MAX_OPERATIONS {
        if choices.are_over() || !run.step(&mut choices) {
            break;
        }
    }
    run.end();
}
