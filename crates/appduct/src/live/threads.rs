//! Where handlers run that were registered outside of any runtime.
//!
//! They share one runtime for the whole process, apart from every driver, so that nothing they do or spawn can hold a
//! driver up. Each call still gets a thread of its own: plain synchronous code is welcome in such a handler.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle, Runtime};

/// How many such calls run at once. More wait, and are answered with `tool_timeout` if they wait too long.
const MAX_THREADS: usize = 256;

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

/// The runtime, started at the first call that needs it; `None` if the system has no threads left.
pub(super) fn handle() -> Option<Handle> {
    let start = || {
        Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MAX_THREADS)
            .enable_io()
            .enable_time()
            .thread_name("appduct-handler")
            .build()
            .inspect_err(|error| tracing::error!(%error, "appduct cannot run handlers: no runtime"))
            .ok()
    };
    RUNTIME.get_or_init(start).as_ref().map(|runtime| runtime.handle().clone())
}

/// The app's runtime that this code runs in, if it runs in one.
pub(super) fn runtime_of_the_app() -> Option<Handle> {
    let current = Handle::try_current().ok()?;
    let own = RUNTIME.get().and_then(Option::as_ref);
    let is_own = own.is_some_and(|own| own.handle().id() == current.id());
    (!is_own).then_some(current)
}
