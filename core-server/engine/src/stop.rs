//! When to give up: a deadline that passed or a caller that went away.
//!
//! Looked at between stages, per segment scanned and per file verified; nothing is interrupted in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::error::{Error, Result};

/// Tells a running request whether its answer is still wanted.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    deadline: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Stop {
    /// Never stops by itself.
    pub fn never() -> Self {
        Self::default()
    }

    /// Stops once `deadline` has passed.
    pub fn at(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..Self::default() }
    }

    /// Stops every clone of this at its next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The instant by which the answer is wanted, where there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns [`Error::DeadlineExceeded`] or [`Error::Cancelled`] where the answer is not wanted any more.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Error::DeadlineExceeded),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passed_deadline_stops() {
        assert!(matches!(Stop::at(Instant::now()).check(), Err(Error::DeadlineExceeded)));
    }

    #[test]
    fn a_cancelled_clone_stops_the_original() {
        let stop = Stop::never();
        stop.clone().cancel();
        assert!(matches!(stop.check(), Err(Error::Cancelled)));
    }
}
