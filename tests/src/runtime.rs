//! A runtime for a test that waits for one thing at a time.

use tokio::runtime::{Builder, Runtime};

/// One of a single thread.
///
/// # Panics
/// Where the system has no room for it.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}
