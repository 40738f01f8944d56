//! What tells a build with the working SDK from one without: a text that no linker and no `strip` takes out.

/// The text before the version.
macro_rules! prefix {
    () => {
        "appduct-rust-core/"
    };
}

/// What every build with the working SDK carries, followed by a version, and no other build does. `appduct doctor` looks
/// for it.
pub const PREFIX: &str = prefix!();

#[cfg(all(feature = "enabled", not(feature = "noop")))]
static MARKER: &str = concat!(prefix!(), env!("CARGO_PKG_VERSION"));

/// Ties the text to the code that calls this: a linker keeps both or neither.
#[cfg(all(feature = "enabled", not(feature = "noop")))]
pub(crate) fn keep() {
    std::hint::black_box(MARKER);
}
