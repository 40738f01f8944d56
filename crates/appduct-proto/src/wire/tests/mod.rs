//! The wire as a whole: against the fixtures that every language reads, and against any input.

mod fixtures;
mod properties;
mod secrets;
