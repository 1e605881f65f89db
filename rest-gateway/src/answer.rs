//! What is sent back when all went well: JSON, and nothing at all to one who has it already.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use proto::{Code, Failure};
use serde_json::Value;

use crate::etag::ETag;

/// What answers depend on besides the address.
const DEPENDS_ON: HeaderValue = HeaderValue::from_static("accept, accept-encoding");

/// JSON that can be asked for again, with its tag.
#[derive(Debug)]
pub(crate) struct Tagged {
    json: Bytes,
    tag: ETag,
}

impl Tagged {
    /// Writes and tags an answer.
    pub(crate) fn new(answer: &Value) -> Result<Self, Failure> {
        Ok(Self { json: written(answer)?, tag: ETag::of(answer) })
    }

    /// Answers one who sent these headers: 304 where they have it.
    pub(crate) fn answer(&self, asked: &HeaderMap) -> Response {
        let mut response = if self.tag.is_known(asked) {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else {
            of_bytes(self.json.clone())
        };
        let headers = response.headers_mut();
        headers.insert(VARY, DEPENDS_ON);
        if let Some(tag) = self.tag.header() {
            headers.insert(ETAG, tag);
        }
        response
    }
}

/// Answers what is not asked for again by its address alone.
pub(crate) fn untagged(answer: &Value) -> Result<Response, Failure> {
    let mut response = of_bytes(written(answer)?);
    response.headers_mut().insert(VARY, DEPENDS_ON);
    Ok(response)
}

fn of_bytes(json: Bytes) -> Response {
    let mut response = Response::new(Body::from(json));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn written(answer: &Value) -> Result<Bytes, Failure> {
    serde_json::to_vec(answer).map(Bytes::from).map_err(|_| Failure::new(Code::Internal))
}
