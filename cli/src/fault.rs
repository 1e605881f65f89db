//! Errors of this process in the words of the contract's failures, with the whole chain of causes: the one who
//! reads them sits at this host.

use std::error::Error;

use proto::{Code, Failure, settings, starter, stopper};

/// Settings that are refused.
pub fn settings(error: &settings::Error) -> Failure {
    said(Code::InvalidArgument, error, "mend it and try again")
}

/// A daemon that does not start.
pub fn start(error: &starter::Error) -> Failure {
    said(Code::CoreUnavailable, error, "mend that and try again")
}

/// A daemon that does not stop.
pub fn stop(error: &stopper::Error) -> Failure {
    match error {
        stopper::Error::NotPermitted(refused) => said(Code::PermissionDenied, error, &refused.remedy()),
        stopper::Error::Signal { .. } => {
            said(Code::PermissionDenied, error, "stop it as the user who started it")
        }
        stopper::Error::Connect { .. } | stopper::Error::Unknown { .. } | stopper::Error::Foreign { .. } => {
            said(Code::Internal, error, "stop it where it was started")
        }
        stopper::Error::TooSlow { .. } => {
            said(Code::DeadlineExceeded, error, "see with `footnote logs` what it does")
        }
    }
}

/// Something that the system refused.
pub fn system(doing: &str, error: &dyn Error) -> Failure {
    Failure::with_message(Code::Internal, format!("cannot {doing}: {}", chain(error)))
        .advise("mend that and try again", Code::Internal.row().remote)
}

fn said(code: Code, error: &dyn Error, action: &str) -> Failure {
    Failure::with_message(code, chain(error)).advise(action, code.row().remote)
}

fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {}", error.to_string().trim_end());
        cause = error.source();
    }
    words
}
