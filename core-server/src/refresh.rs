//! Looks for new generations, on a thread of its own: a slow disk holds up no request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tracing::{error, warn};

use crate::service::{Answers, Chain};

/// Between two looks: a new generation is to be seen within a second, and a look costs a small read per
/// collection.
const INTERVAL: Duration = Duration::from_millis(250);

/// Looks until it is dropped.
#[derive(Debug)]
pub struct Refresher {
    /// Hanging up ends the thread.
    _stop: Option<Sender<()>>,
}

impl Refresher {
    /// Begins to look.
    pub fn start<A: Answers>(answers: Arc<A>) -> Self {
        let (stop, stopped) = channel::<()>();
        let spawned = thread::Builder::new().name("refresh".to_owned()).spawn(move || {
            let mut said = String::new();
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                look(answers.as_ref(), &mut said);
            }
        });
        match spawned {
            Ok(_) => Self { _stop: Some(stop) },
            Err(error) => {
                error!(%error, "new generations will not be seen");
                Self { _stop: None }
            }
        }
    }
}

/// Looks once. What fails is said when it begins to fail, not four times a second.
fn look<A: Answers>(answers: &A, said: &mut String) {
    let failed = match catch_unwind(AssertUnwindSafe(|| answers.refresh())) {
        Ok(Ok(())) => String::new(),
        Ok(Err(error)) => Chain(&error).to_string(),
        Err(_) => "panicked".to_owned(),
    };
    if !failed.is_empty() && failed != *said {
        warn!(error = failed, "index not looked at");
    }
    *said = failed;
}
