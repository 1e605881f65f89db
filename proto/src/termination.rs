//! When a server is told to end: SIGTERM, or Ctrl-C where a person started it.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears both signals from when it was made, so that none is lost between opening and serving.
#[derive(Debug)]
pub struct Termination {
    terminate: Signal,
    interrupt: Signal,
}

impl Termination {
    /// Begins to listen: from now on neither signal ends the process by itself. To be called within a runtime.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Ends with the first of either signal.
    pub async fn told(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
