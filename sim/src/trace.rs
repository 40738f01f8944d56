//! What happened in a run: a hash of every line, and the lines themselves for who asks.

use std::fmt::{self, Write};

/// Takes the lines of a run.
pub type Listener<'a> = &'a mut dyn FnMut(&str);

/// FNV-1a, which is the same on every machine.
#[derive(Clone, Copy, Debug)]
struct Hash(u64);

/// The lines of a run, each with its time.
pub(crate) struct Trace<'a> {
    hash: Hash,
    lines: u64,
    listener: Option<Listener<'a>>,
}

impl<'a> Trace<'a> {
    pub(crate) fn new(listener: Option<Listener<'a>>) -> Self {
        Self { hash: Hash(0xcbf2_9ce4_8422_2325), lines: 0, listener }
    }

    pub(crate) fn line(&mut self, now: u64, text: fmt::Arguments<'_>) {
        self.lines += 1;
        writeln!(self.hash, "{now} {text}").expect("a hash takes everything");
        if let Some(listener) = &mut self.listener {
            listener(&format!("{now:>8} {text}"));
        }
    }

    /// Something that happened and must not be shown.
    pub(crate) fn secret(&mut self, text: &str) {
        self.hash.write_str(text).expect("a hash takes everything");
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.0
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}
