//! A failure as `application/problem+json` (RFC 9457).
//!
//! `type` is `about:blank`, so `title` is the status's own phrase; which failure it is, for a program, is `code`, the
//! same word as on every surface. `detail` and `action` are words for one who sits elsewhere.

use bytes::Bytes;
use edge::Refusal;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::Full;
use proto::{Audience, Failure};
use serde_json::{Map, Value};

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// Says a refusal, the door's as much as the service's. The door adds its headers.
pub(crate) fn refuse(refusal: &Refusal) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(problem(refusal.failure()).to_string()));
    *response.status_mut() = refusal.status();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    response
}

/// The problem itself.
pub(crate) fn problem(failure: &Failure) -> Value {
    let refusal = Refusal::new(failure.clone());
    let mut problem = Map::new();
    problem.insert("type".to_owned(), "about:blank".into());
    problem.insert("title".to_owned(), refusal.status().canonical_reason().unwrap_or_default().into());
    problem.insert("status".to_owned(), refusal.status().as_u16().into());
    if let Value::Object(fields) = failure.json(Audience::Remote) {
        problem.extend(fields);
    }
    // The RFC's name for what happened.
    if let Some(message) = problem.remove("message") {
        problem.insert("detail".to_owned(), message);
    }
    Value::Object(problem)
}

#[cfg(test)]
mod tests {
    use proto::Code;
    use proto::code::FAILURES;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_failure_has_the_status_of_its_row() {
        for row in FAILURES {
            let response = refuse(&Refusal::of(row.code));
            assert_eq!(response.status(), row.http, "{}", row.word);
            assert_eq!(response.headers()[CONTENT_TYPE], MEDIA_TYPE);
            assert_eq!(problem(&Failure::new(row.code))["action"], row.remote);
        }
    }

    #[test]
    fn a_problem_says_what_happened_and_what_to_do() {
        let failure = Failure::with_message(Code::InvalidArgument, "`top_k` must be small")
            .of_field("top_k")
            .of_request("r1");
        assert_eq!(
            problem(&failure),
            json!({
                "type": "about:blank",
                "title": "Bad Request",
                "status": 400,
                "code": "invalid_argument",
                "detail": "`top_k` must be small",
                "action": "change it and ask again",
                "field": "top_k",
                "request_id": "r1",
            })
        );
        assert_eq!(problem(&Failure::new(Code::Overloaded))["retry_after_ms"], 1000);
    }
}
