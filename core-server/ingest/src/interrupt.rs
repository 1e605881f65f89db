//! Ctrl-C and a request to end: looked at between steps, so that what is done is kept.
//!
//! Deliberately left out: undoing anything. A second Ctrl-C ends at once, which is as safe as a kill.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Result};

/// Tells whether the process was asked to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Never asked.
    pub fn never() -> Self {
        Self::default()
    }

    /// Listens for SIGINT, SIGTERM and SIGHUP from now on.
    pub fn on_signals() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Self(asked))
    }

    /// Asks it to end, as a signal would.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// [`Error::Interrupted`] where it was asked to end.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
