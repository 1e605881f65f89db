//! What leaves the door: the gateway's answer or a refusal, with the headers that every answer has.

use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use proto::metadata::REQUEST_ID;

use crate::access_log::Line;
use crate::visit::Visit;

type BoxError = Box<dyn StdError + Send + Sync>;

/// A body of whatever kind.
pub(crate) type Boxed = UnsyncBoxBody<Bytes, BoxError>;

/// Puts a body into a box.
pub(crate) fn boxed<B>(body: B) -> Boxed
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}

/// An answer's body, which ends the request's log line with it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: Boxed,
    pub(crate) line: Line,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.line.whole();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What every answer carries, unless the gateway said otherwise: it is data and no page, for the one who asked alone,
/// and asked for anew each time, since a source may change between two asks.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
];

/// Adds those headers, and the request's id.
pub(crate) fn guard(headers: &mut HeaderMap, visit: &Visit) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
    if let Ok(id) = HeaderValue::from_str(visit.request_id.as_str()) {
        headers.insert(REQUEST_ID, id);
    }
}
