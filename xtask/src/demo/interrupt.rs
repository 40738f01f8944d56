//! Ctrl-C, remembered until somebody asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

/// While this lives, neither SIGINT nor SIGTERM ends the process: it has to ask whether one came.
pub(crate) struct Interrupt {
    came: Arc<AtomicBool>,
    handlers: Vec<SigId>,
}

impl Interrupt {
    pub(crate) fn listen() -> Result<Self> {
        let mut interrupt = Self { came: Arc::default(), handlers: Vec::new() };
        for signal in [SIGINT, SIGTERM] {
            let handler =
                flag::register(signal, Arc::clone(&interrupt.came)).context("could not listen for signals")?;
            interrupt.handlers.push(handler);
        }
        Ok(interrupt)
    }

    pub(crate) fn came(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            low_level::unregister(handler);
        }
    }
}
