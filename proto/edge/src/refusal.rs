//! Why a request is not answered, before a gateway says it in its own form.

use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proto::{Code, Failure};

/// A failure, and the headers that go with it on every surface.
#[derive(Clone, Debug)]
pub struct Refusal {
    failure: Box<Failure>,
    headers: HeaderMap,
}

impl Refusal {
    /// A refusal for this failure, with `Retry-After` where it says when to ask again.
    pub fn new(failure: Failure) -> Self {
        let mut headers = HeaderMap::new();
        if let Some(wait) = failure.retry_after {
            // Whole seconds, and never so early that it is refused again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        Self { failure: Box::new(failure), headers }
    }

    /// A refusal in the table's words.
    pub fn of(code: Code) -> Self {
        Self::new(Failure::new(code))
    }

    /// The refusal of a method, naming those that there are.
    pub fn method(allowed: &'static str) -> Self {
        Self::of(Code::MethodNotAllowed).with_header(ALLOW, HeaderValue::from_static(allowed))
    }

    /// With a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// With the request's id.
    #[must_use]
    pub fn of_request(mut self, id: impl Into<String>) -> Self {
        self.failure.request_id = Some(id.into());
        self
    }

    /// What is wrong.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// What goes beside it: `Allow`, `Retry-After`, `WWW-Authenticate`.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Its HTTP status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.failure.code.row().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::new(failure)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_who_is_to_wait_is_told_whole_seconds() {
        for (milliseconds, said) in [(1, "1"), (1000, "1"), (1001, "2"), (30_000, "30")] {
            let mut failure = Failure::new(Code::RateLimited);
            failure.retry_after = Some(Duration::from_millis(milliseconds));
            assert_eq!(Refusal::new(failure).headers()[RETRY_AFTER], said);
        }
        assert!(Refusal::of(Code::BadHost).headers().is_empty());
    }
}
