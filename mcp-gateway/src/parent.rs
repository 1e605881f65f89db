//! The process that started this one, and its end.
//!
//! An editor that is killed may leave standard input open in another child of its own, so the end of input is not
//! the only sign. Not the signal that Linux sends on request when a parent dies: it comes when the *thread* ends
//! that started this process, and runtimes end threads as they like. An orphan has another parent, so it is enough to
//! look now and then.

use std::time::Duration;

use rustix::process::{Pid, getppid};
use tokio::time::sleep;

/// How often it is looked.
const PERIOD: Duration = Duration::from_millis(500);

/// The parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent(Option<Pid>);

impl Parent {
    /// The parent of now. `None` inside is one in another process namespace, whose end ends that namespace.
    pub(crate) fn now() -> Self {
        Self(getppid())
    }

    /// Waits for its end.
    pub(crate) async fn ended(self) {
        while getppid() == self.0 {
            sleep(PERIOD).await;
        }
    }
}
