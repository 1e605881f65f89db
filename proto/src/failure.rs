//! A failure on its way to the caller, and how gRPC carries it.
//!
//! On the wire it is a status with `google.rpc` details: `ErrorInfo` (the reason is the code's word), `BadRequest`
//! for a refused field, `RetryInfo`, `RequestInfo`. Statuses that tonic makes itself are read into the same words.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};
use tonic::{Code as GrpcCode, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::code::Code;
use crate::field::Violation;
use crate::line;

/// The domain of our `ErrorInfo`.
pub const DOMAIN: &str = "footnote";

/// A failure with the caller's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which one.
    pub code: Code,
    /// What happened: lower case, no full stop, no path, no cause.
    pub message: String,
    /// What to do now, where the table's advice is not the best.
    pub advice: Option<Box<Advice>>,
    /// The refused field.
    pub field: Option<String>,
    /// When to ask again.
    pub retry_after: Option<Duration>,
    /// The id under which the log says more.
    pub request_id: Option<String>,
}

/// What to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// For one who sits at this host.
    pub local: String,
    /// For one who does not: no shell commands.
    pub remote: String,
}

/// Who reads a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// One who sits at this host and has a shell.
    Local,
    /// One who asks over HTTP.
    Remote,
}

impl Failure {
    /// A failure in the table's words.
    pub fn new(code: Code) -> Self {
        Self::with_message(code, code.row().message)
    }

    /// A failure that says more than the table.
    pub fn with_message(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            advice: None,
            field: None,
            retry_after: code.row().retry_after,
            request_id: None,
        }
    }

    /// With better advice than the table's.
    #[must_use]
    pub fn advise(mut self, local: impl Into<String>, remote: impl Into<String>) -> Self {
        self.advice = Some(Box::new(Advice { local: local.into(), remote: remote.into() }));
        self
    }

    /// With the field that is refused.
    #[must_use]
    pub fn of_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// With the id under which the log says more.
    #[must_use]
    pub fn of_request(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// What to do now.
    pub fn action(&self, audience: Audience) -> &str {
        match (&self.advice, audience) {
            (Some(advice), Audience::Local) => &advice.local,
            (Some(advice), Audience::Remote) => &advice.remote,
            (None, Audience::Local) => self.code.row().local,
            (None, Audience::Remote) => self.code.row().remote,
        }
    }

    /// The failure as JSON, with what to do now for `audience`; what is not known is left out.
    pub fn json(&self, audience: Audience) -> Value {
        let mut json = json!({
            "code": self.code.word(),
            "message": self.message,
            "action": self.action(audience),
        });
        let optional = [
            ("field", self.field.as_deref().map(Value::from)),
            ("retry_after_ms", self.retry_after.map(|wait| Value::from(milliseconds(wait)))),
            ("request_id", self.request_id.as_deref().map(Value::from)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                json[name] = value;
            }
        }
        json
    }
}

fn milliseconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis()).unwrap_or(u32::MAX)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Violation> for Failure {
    fn from(violation: Violation) -> Self {
        let failure = Self::with_message(Code::InvalidArgument, violation.message);
        if violation.field.is_empty() { failure } else { failure.of_field(violation.field) }
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        let mut metadata = HashMap::new();
        if let Some(advice) = failure.advice {
            metadata.insert("local".to_owned(), advice.local);
            metadata.insert("remote".to_owned(), advice.remote);
        }
        let mut details = ErrorDetails::with_error_info(failure.code.word(), DOMAIN, metadata);
        if let Some(field) = failure.field {
            details.add_bad_request_violation(field, failure.message.as_str());
        }
        if let Some(retry_after) = failure.retry_after {
            details.set_retry_info(Some(retry_after));
        }
        if let Some(id) = failure.request_id {
            details.set_request_info(id, "");
        }
        Self::with_error_details(failure.code.row().grpc, failure.message, details)
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let Some(info) = details.error_info().filter(|info| info.domain == DOMAIN) else {
            return foreign(&status);
        };
        let code = Code::from_word(&info.reason).unwrap_or_else(|| nearest(status.code()));
        let advice = info.metadata.get("local").zip(info.metadata.get("remote"));
        Self {
            code,
            message: status.message().to_owned(),
            advice: advice
                .map(|(local, remote)| Box::new(Advice { local: local.clone(), remote: remote.clone() })),
            field: details
                .bad_request()
                .and_then(|request| request.field_violations.first())
                .map(|violation| violation.field.clone()),
            retry_after: details.retry_info().and_then(|info| info.retry_delay),
            request_id: details.request_info().map(|info| info.request_id.clone()),
        }
    }
}

/// A status that no part of ours made: the transport's, or tonic's. Its message may name anything and is dropped.
fn foreign(status: &Status) -> Failure {
    if let Some(error) = line::Error::of(status) {
        return error.into();
    }
    if status.code() == GrpcCode::Unimplemented {
        let message = "the daemon does not know this operation: it is of another version";
        return Failure::with_message(Code::Internal, message)
            .advise("replace it with `footnote up`", "tell whoever runs this service");
    }
    Failure::new(nearest(status.code()))
}

/// The code for a status of which only the gRPC code is known.
fn nearest(code: GrpcCode) -> Code {
    match code {
        GrpcCode::InvalidArgument => Code::InvalidArgument,
        // tonic says CANCELLED where a deadline passed; a caller who went away reads nothing.
        GrpcCode::DeadlineExceeded | GrpcCode::Cancelled => Code::DeadlineExceeded,
        GrpcCode::NotFound => Code::ChunkNotFound,
        GrpcCode::PermissionDenied | GrpcCode::Unauthenticated => Code::PermissionDenied,
        GrpcCode::ResourceExhausted => Code::Overloaded,
        GrpcCode::FailedPrecondition => Code::ModeUnavailable,
        // tonic says OUT_OF_RANGE where a message is over its limit.
        GrpcCode::OutOfRange => Code::TooLarge,
        GrpcCode::Unavailable => Code::CoreUnavailable,
        GrpcCode::DataLoss => Code::IndexDamaged,
        GrpcCode::Ok
        | GrpcCode::Unknown
        | GrpcCode::AlreadyExists
        | GrpcCode::Aborted
        | GrpcCode::Unimplemented
        | GrpcCode::Internal => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::FAILURES;

    #[test]
    fn a_failure_survives_the_socket() {
        for row in FAILURES {
            let failure = Failure::new(row.code);
            assert_eq!(Failure::from(Status::from(failure.clone())), failure, "{}", row.word);
        }
        let failure =
            Failure::with_message(Code::CollectionNotFound, "no collection is named x; there are a, b")
                .advise("do this", "do that")
                .of_field("collection")
                .of_request("r1");
        assert_eq!(Failure::from(Status::from(failure.clone())), failure);
    }

    #[test]
    fn a_violation_names_its_field() {
        let violation = Violation { field: "top_k".to_owned(), message: "`top_k` must be small".to_owned() };
        let status = Status::from(Failure::from(violation));
        assert_eq!(status.code(), GrpcCode::InvalidArgument);
        let details = status.get_error_details();
        let info = details.error_info().expect("present");
        assert_eq!((info.reason.as_str(), info.domain.as_str()), ("invalid_argument", "footnote"));
        let violations = &details.bad_request().expect("present").field_violations;
        assert_eq!(
            (violations[0].field.as_str(), violations[0].description.as_str()),
            ("top_k", "`top_k` must be small")
        );
    }

    #[test]
    fn statuses_of_others_become_our_words() {
        for (status, code) in [
            (Status::deadline_exceeded("x"), Code::DeadlineExceeded),
            (Status::cancelled("Timeout expired"), Code::DeadlineExceeded),
            (Status::unavailable("/run/core.sock refused"), Code::CoreUnavailable),
            (Status::resource_exhausted("x"), Code::Overloaded),
            (Status::out_of_range("message length too large"), Code::TooLarge),
            (Status::internal("panicked at src/x.rs"), Code::Internal),
            (Status::unimplemented("x"), Code::Internal),
            (Status::unknown("x"), Code::Internal),
        ] {
            let message = status.message().to_owned();
            let failure = Failure::from(status);
            assert_eq!(failure.code, code, "{message}");
            assert!(!failure.message.contains(&message), "{message}");
        }
    }

    #[test]
    fn json_leaves_out_what_is_not_known() {
        assert_eq!(
            Failure::new(Code::ChunkNotFound).json(Audience::Remote),
            json!({
                "code": "chunk_not_found",
                "message": "the collection does not know this passage, and did not in its kept generations",
                "action": "search again, and use an id or a footnote of that answer",
            })
        );
        let failure = Failure::new(Code::Overloaded).of_field("f").of_request("r");
        let json = failure.json(Audience::Local);
        assert_eq!(json["retry_after_ms"], 1000);
        assert_eq!((&json["field"], &json["request_id"]), (&json!("f"), &json!("r")));
    }

    #[test]
    fn advice_is_chosen_by_audience() {
        let failure = Failure::new(Code::CoreUnavailable);
        assert_eq!(failure.action(Audience::Local), "start it with `footnote up`");
        assert_eq!(failure.action(Audience::Remote), "ask again shortly, or tell whoever runs this service");
    }
}
