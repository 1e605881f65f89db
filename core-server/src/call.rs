//! One request from its headers to its log line: id, span, deadline, and tonic's own statuses in our words.
//!
//! Wraps the operations alone; health and reflection pass by. Deliberately left out: what is asked and answered
//! (`service`).

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use engine::stop::Stop;
use http::{HeaderMap, HeaderValue, Request, Response};
use proto::failure::Failure;
use proto::metadata::{self, Caller};
use proto::settings::DEFAULT_TIMEOUT;
use proto::{Audience, Code, OPERATIONS};
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic::{Code as GrpcCode, Status};
use tracing::{Instrument, info, info_span};

/// No caller's patience is believed to be longer.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(1);

/// A request on its way, for the service to read.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who asks.
    pub caller: Caller,
    /// When it came.
    pub began: Instant,
    /// Says when the answer is not wanted any more.
    pub stop: Stop,
    outcome: Arc<OnceLock<Outcome>>,
}

impl Default for Call {
    /// One without headers.
    fn default() -> Self {
        Self::open(&HeaderMap::new())
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    code: Option<Code>,
    results: usize,
}

impl Call {
    fn open(headers: &HeaderMap) -> Self {
        let metadata = MetadataMap::from_headers(headers.clone());
        let began = Instant::now();
        let timeout = metadata::timeout(&metadata).unwrap_or(DEFAULT_TIMEOUT).min(LONGEST_TIMEOUT);
        Self {
            caller: Caller::read(&metadata),
            began,
            stop: Stop::at(began + timeout),
            outcome: Arc::default(),
        }
    }

    /// Whom words are for: a client of the socket itself sits at this host, too.
    pub fn audience(&self) -> Audience {
        match self.caller.surface {
            metadata::Surface::Cli | metadata::Surface::Stdio | metadata::Surface::Grpc => Audience::Local,
            metadata::Surface::Mcp | metadata::Surface::Rest => Audience::Remote,
        }
    }

    /// Notes that it was answered. The first outcome that is noted counts.
    pub fn answered(&self, results: usize) {
        self.note(None, results);
    }

    /// Notes that it failed, and says so to the caller.
    pub fn failed(&self, failure: Failure) -> Status {
        self.note(Some(failure.code), 0);
        failure.of_request(self.caller.request_id.as_str()).into()
    }

    fn note(&self, code: Option<Code>, results: usize) {
        // An outcome after the first, as of work that ends behind its deadline, changes nothing.
        _ = self.outcome.set(Outcome { code, results });
    }
}

/// Answers a request for one of the operations through `serve`, within its deadline, and logs how it ended.
/// `None` where the path names no operation of ours.
pub async fn answer<F>(mut request: Request<Body>, serve: impl FnOnce(Request<Body>) -> F) -> Response<Body>
where
    F: Future<Output = Response<Body>>,
{
    let Some(operation) = operation(request.uri().path()) else {
        return with_version(serve(request).await);
    };
    let call = Call::open(request.headers());
    request.extensions_mut().insert(call.clone());
    let span = info_span!(
        "request",
        operation,
        id = call.caller.request_id.as_str(),
        traceparent = call.caller.trace_parent.as_deref()
    );
    let line = Line { call, span: span.clone() };
    let response = within_deadline(&line.call, serve(request)).instrument(span).await;
    beside(response, &line.call)
}

/// Whether somebody asks something, and not only whether the daemon lives.
pub fn asks(request: &Request<Body>) -> bool {
    operation(request.uri().path()).is_some()
}

/// The operation of a path: its name where there is one, `unknown` for another path of our service.
fn operation(path: &str) -> Option<&'static str> {
    let rpc = path.strip_prefix("/footnote.v1.RetrievalService/")?;
    Some(
        OPERATIONS
            .iter()
            .find(|operation| operation.rpc == rpc)
            .map_or("unknown", |operation| operation.name),
    )
}

async fn within_deadline(call: &Call, served: impl Future<Output = Response<Body>>) -> Response<Body> {
    let passed = || call.failed(Failure::new(Code::DeadlineExceeded)).into_http();
    let Some(deadline) = call.stop.deadline() else { return served.await };
    match tokio::time::timeout_at(deadline.into(), served).await {
        Ok(response) => in_our_words(response, call),
        Err(_) => passed(),
    }
}

/// A failure that the service did not note is tonic's: the message could not be read.
fn in_our_words(response: Response<Body>, call: &Call) -> Response<Body> {
    let Some(status) = Status::from_header_map(response.headers()) else { return response };
    if call.outcome.get().is_some() {
        return response;
    }
    tracing::debug!(%status, "refused before it was read");
    let code = status.code();
    let said = if code == GrpcCode::Unimplemented {
        let words = "there is no such operation";
        call.note(Some(Code::InvalidArgument), 0);
        Status::unimplemented(words)
    } else if code == GrpcCode::OutOfRange || code == GrpcCode::ResourceExhausted {
        call.failed(Failure::new(Code::TooLarge))
    } else {
        let words = "the request is not a message of this operation";
        call.failed(Failure::with_message(Code::InvalidArgument, words))
    };
    said.into_http()
}

/// Writes the request's id and this version beside the response.
fn beside(mut response: Response<Body>, call: &Call) -> Response<Body> {
    if let Ok(id) = HeaderValue::from_str(call.caller.request_id.as_str()) {
        response.headers_mut().insert(metadata::REQUEST_ID, id);
    }
    with_version(response)
}

/// Every response says which version it is from, so that a daemon of another one can be told and replaced.
fn with_version(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(metadata::DAEMON_VERSION, HeaderValue::from_static(metadata::VERSION));
    response
}

/// The log line, written when the request ends, also where its caller went away. From then on nobody waits.
struct Line {
    call: Call,
    span: tracing::Span,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.call.stop.cancel();
        let outcome = self.call.outcome.get();
        let code = outcome.map_or("cancelled", |outcome| outcome.code.map_or("ok", Code::word));
        let results = outcome.map_or(0, |outcome| outcome.results);
        let ms = (self.call.began.elapsed().as_secs_f64() * 1e5).round() / 1e2;
        let surface = self.call.caller.surface.as_str();
        self.span.in_scope(|| info!(surface, code, ms, results, "finished"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_operations_have_their_names() {
        assert_eq!(operation("/footnote.v1.RetrievalService/FetchChunk"), Some("fetch_chunk"));
        assert_eq!(operation("/footnote.v1.RetrievalService/Drop"), Some("unknown"));
        assert_eq!(operation("/grpc.health.v1.Health/Check"), None);
    }

    #[test]
    fn patience_is_thirty_seconds_or_what_the_caller_says() {
        let timeout = |text: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(text) = text {
                headers.insert("grpc-timeout", text.parse().unwrap());
            }
            let call = Call::open(&headers);
            call.stop.deadline().unwrap() - call.began
        };
        assert_eq!(timeout(None), Duration::from_secs(30));
        assert_eq!(timeout(Some("250m")), Duration::from_millis(250));
        assert_eq!(timeout(Some("99999999H")), LONGEST_TIMEOUT);
    }
}
