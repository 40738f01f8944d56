//! The SDK against a small fake daemon, over real sockets on loopback.

#![cfg(all(feature = "enabled", not(feature = "noop")))]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod calls;
mod connect;
mod daemon;
mod events;
mod session;
mod trust;

use std::future::Future;
use std::time::Duration;

/// Fails a test that waits for what never comes.
async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it should not take that long")
}
