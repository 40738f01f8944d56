//! The fuzzer's targets: each takes any bytes and panics if something does not hold that must.
//!
//! The committed `corpus` is replayed by this package's tests with every run of `cargo test`. `cargo xtask fuzz` looks for
//! more: the programs in `cargo-fuzz` call the same functions. A target says more than that nothing panics: what comes back
//! is what went in, JSON of the app passes byte for byte, and plain second implementations agree.

pub mod app_frames;
pub mod bootstrap;
pub mod configs;
pub mod core_operations;
pub mod daemon_frames;
pub mod descriptors;
pub mod globs;
pub mod host_operations;
mod json;
pub mod last_ports;
pub mod leases;
pub mod lines;
pub mod links;
pub mod pair_operations;
pub mod records;
pub mod replies;
pub mod requests;
pub mod signatures;

/// A target by its name, which is also that of its module, its program and its folder in the corpus.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// Panics if something does not hold.
    pub run: fn(&[u8]),
    /// Whether it takes text; the others take choices.
    pub takes_text: bool,
}

macro_rules! targets {
    ($($kind:ident: $($name:ident)*;)*) => {
        /// Every target.
        pub const TARGETS: &[Target] = &[$($(
            Target { name: stringify!($name), run: $name::target, takes_text: targets!(@$kind) },
        )*)*];
    };
    (@text) => { true };
    (@choices) => { false };
}

targets! {
    text: app_frames bootstrap configs daemon_frames descriptors globs last_ports leases lines links records replies requests signatures;
    choices: core_operations host_operations pair_operations;
}
