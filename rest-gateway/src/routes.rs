//! The routes: every operation at the addresses that the contract gives it, and the description of them all.
//!
//! A request is a straight line: negotiate, read the fields, ask the daemon, write JSON. Deliberately left out: who
//! may come in (`edge`), and what an operation is (`proto`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use edge::{Refusal, Route, Visit};
use http::header::ALLOW;
use http::{HeaderValue, Method, StatusCode};
use proto::metadata::{Caller, Surface};
use proto::{Code, OPERATIONS, Operation, operations};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;

use crate::{FRONT, Rest, accept, question};

/// Answers below this many bytes fit a packet as they are.
const COMPRESSED_ABOVE: u64 = 1024;

/// Where the description of all routes stands.
pub(crate) const DESCRIPTION: &str = "/openapi.json";

/// The routes.
pub(crate) fn router(rest: Rest) -> Router {
    let rest = Arc::new(rest);
    let at = |resource: Resource| {
        let rest = Arc::clone(&rest);
        any(move |request: Request| visit(rest, resource, request))
    };
    let nowhere = Router::new().fallback(at(Resource::default()));
    let router = resources().fold(nowhere, |router, resource| router.route(resource.path, at(resource)));
    // The quickest level: who asks is near, and the text is small.
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    router.layer(compression.compress_when(SizeAbove::new(COMPRESSED_ABOVE)))
}

/// What stands at an address; nothing at all by default.
#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    path: &'static str,
    get: Option<Read>,
    post: Option<&'static Operation>,
}

/// What a `GET` reads.
#[derive(Clone, Copy, Debug)]
enum Read {
    Description,
    Operation(&'static Operation),
}

/// Every resource: the rows of the table by their paths, and their description.
fn resources() -> impl Iterator<Item = Resource> {
    let mut resources = BTreeMap::new();
    for operation in OPERATIONS {
        for binding in operation.rest {
            let resource: &mut Resource = resources.entry(binding.path).or_default();
            resource.path = binding.path;
            match binding.method {
                operations::Method::Get => resource.get = Some(Read::Operation(operation)),
                operations::Method::Post => resource.post = Some(operation),
            }
        }
    }
    let description = Resource { path: DESCRIPTION, get: Some(Read::Description), post: None };
    resources.into_values().chain([description])
}

/// Answers a request at a resource, a failure as much as a success.
async fn visit(rest: Arc<Rest>, resource: Resource, request: Request) -> Response {
    let visit = request.extensions().get::<Visit>();
    let caller = visit.map_or_else(|| Caller::new(Surface::Rest), |visit| visit.caller(Surface::Rest));
    let id = caller.request_id.as_str();
    let mut response = match resource.answer(&rest, &caller, request).await {
        Ok(response) => response,
        Err(refusal) => FRONT.answer(&refusal.of_request(id)).map(Body::new),
    };
    if !resource.path.is_empty() {
        response.extensions_mut().insert(Route(Cow::Borrowed(resource.path)));
    }
    response
}

impl Resource {
    async fn answer(self, rest: &Rest, caller: &Caller, request: Request) -> Result<Response, Refusal> {
        accept::encoding(request.headers())?;
        match (request.method(), self.get, self.post) {
            (_, None, None) => Err(Refusal::of(Code::NotFound)),
            (&Method::GET | &Method::HEAD, Some(Read::Operation(operation)), _) => {
                question::by_address(rest, caller, operation, request).await
            }
            (&Method::GET | &Method::HEAD, Some(Read::Description), _) => {
                accept::json(request.headers())?;
                Ok(rest.description.answer(request.headers()))
            }
            (&Method::POST, _, Some(operation)) => question::by_body(rest, caller, operation, request).await,
            (&Method::OPTIONS, ..) => Ok(self.options()),
            _ => Err(Refusal::method(self.allow())),
        }
    }

    fn options(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(self.allow()));
        response
    }

    const fn allow(self) -> &'static str {
        match (self.get, self.post) {
            (Some(_), Some(_)) => "GET, HEAD, POST, OPTIONS",
            (Some(_), None) => "GET, HEAD, OPTIONS",
            (None, Some(_)) => "POST, OPTIONS",
            (None, None) => "OPTIONS",
        }
    }
}
