//! The simulation as a test: many seeds, the same run from the same seed, and broken hosts that are caught.

mod runs;
mod sabotage;
