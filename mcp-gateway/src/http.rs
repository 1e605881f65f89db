//! MCP over HTTP: one path, one message a request, one answer a message; no sessions and no streams.
//!
//! rmcp speaks the protocol, whichever era a request is of. Around it everything is said in JSON-RPC: what the door
//! refuses, what is no message, and what rmcp itself would say as plain text. Deliberately left out: who may come in
//! (the door), and what is done for a request ([`Gateway`]).

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bytes::Bytes;
use edge::{Front, Refusal, Route, Visit};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use proto::metadata::Surface;
use proto::{Audience, Code};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, ProtocolVersion, RequestId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::Gateway;
use crate::accept::{self, Form};
use crate::message::{self, Refused};

/// The one path.
const PATH: &str = "/mcp";

/// The only method. `GET` and `DELETE` belong to streams and sessions, and a client that is told so does not try again.
const METHODS: &str = "POST";

/// The era's header.
const VERSION: &str = "mcp-protocol-version";

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// This gateway, as the door knows it.
pub(crate) const FRONT: Front = Front {
    name: "footnote-mcp",
    surface: Surface::Mcp,
    variables: "FOOTNOTE_MCP",
    port: 7411,
    content_types: &["application/json"],
    refuse,
};

type Service = StreamableHttpService<Gateway, NeverSessionManager>;

/// The routes.
pub(crate) fn router(gateway: Gateway) -> Router {
    // The door stands before every route, so rmcp's own checks of hosts and origins are off.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(edge::MAX_BODY_BYTES);
    let service = Service::new(move || Ok(gateway.clone()), Arc::default(), config);
    Router::new().route(PATH, any(mcp)).fallback(nowhere).with_state(service)
}

async fn nowhere(request: Request<Body>) -> Response {
    let id = request_id(request.extensions().get());
    FRONT.answer(&Refusal::of(Code::NotFound).of_request(id)).into_response()
}

async fn mcp(State(service): State<Service>, request: Request<Body>) -> Response {
    let id = request_id(request.extensions().get());
    let mut response = answer(service, request).await.unwrap_or_else(|refused| refused.say(id));
    response.extensions_mut().insert(Route(PATH.into()));
    response
}

/// Why rmcp is not asked.
enum Turned {
    /// The request is not one for this path.
    Away(Refusal),
    /// The body is no message, or not of an era that is spoken.
    Back(Refused),
}

impl Turned {
    fn say(self, id: String) -> Response {
        match self {
            Self::Away(refusal) => FRONT.answer(&refusal.of_request(id)).into_response(),
            Self::Back(refused) => {
                (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, JSON)], refused.body().to_string()).into_response()
            }
        }
    }
}

async fn answer(service: Service, request: Request<Body>) -> Result<Response, Turned> {
    if request.method() != Method::POST {
        return Err(Turned::Away(Refusal::method(METHODS)));
    }
    let form =
        accept::form(request.headers()).ok_or_else(|| Turned::Away(Refusal::of(Code::NotAcceptable)))?;
    let (mut head, body) = request.into_parts();
    let body = edge::read_body(body).await.map_err(|failure| Turned::Away(failure.into()))?;
    // rmcp reads the message itself, so that here it is only looked at.
    let id = message::look(&body).map_err(Turned::Back)?;
    speaks(&head.headers, id.as_ref()).map_err(Turned::Back)?;
    // What the client accepts was looked at here, more leniently; rmcp wants to hear one thing.
    head.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    head.headers.insert(CONTENT_TYPE, JSON);
    let response = service.handle(Request::from_parts(head, Full::new(body))).await;
    Ok(form.of(in_json(response.map(Body::new), id).await).await)
}

/// An era that is not spoken is refused with those that are.
fn speaks(headers: &HeaderMap, id: Option<&RequestId>) -> Result<(), Refused> {
    let Some(version) = headers.get(VERSION) else { return Ok(()) };
    let known = ProtocolVersion::KNOWN_VERSIONS;
    let asked = String::from_utf8_lossy(version.as_bytes());
    if known.iter().any(|version| version.as_str() == asked) {
        return Ok(());
    }
    let data = json!({"supported": known, "requested": asked});
    let unknown =
        ErrorData::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", Some(data));
    Err(Refused { id: id.cloned(), error: unknown })
}

/// What rmcp says as plain text, in JSON-RPC; its causes are not for callers.
async fn in_json(response: Response, id: Option<RequestId>) -> Response {
    let status = response.status();
    // The content type was looked at by the door; rmcp says 415 of content that it cannot read.
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return Turned::Back(message::no_message(id)).say(String::new());
    }
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|form| form == JSON);
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let error = if status.is_server_error() {
        ErrorData::internal_error(Code::Internal.row().message, None)
    } else {
        let text = axum::body::to_bytes(response.into_body(), edge::MAX_BODY_BYTES).await.unwrap_or_default();
        ErrorData::invalid_request(String::from_utf8_lossy(&text).into_owned(), None)
    };
    (status, [(CONTENT_TYPE, JSON)], Refused { id, error }.body().to_string()).into_response()
}

fn request_id(visit: Option<&Visit>) -> String {
    visit.map(|visit| visit.request_id.to_string()).unwrap_or_default()
}

/// A refusal as a JSON-RPC error without an id: whoever was refused at the door was not read.
fn refuse(refusal: &Refusal) -> http::Response<Full<Bytes>> {
    let failure = refusal.failure();
    let kind = if refusal.status().is_server_error() { -32603 } else { -32600 };
    let body: Value = json!({
        "jsonrpc": "2.0",
        "error": {"code": kind, "message": failure.message, "data": failure.json(Audience::Remote)},
    });
    let mut response = http::Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = refusal.status();
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

impl Form {
    /// An answer in this form. Without a body there is nothing to put into it.
    async fn of(self, response: Response) -> Response {
        let has_json = response.headers().get(CONTENT_TYPE).is_some_and(|form| form == JSON);
        match self {
            Self::Events if has_json && response.status().is_success() => {
                let (mut head, body) = response.into_parts();
                let json = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
                head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(accept::EVENTS));
                let event = [b"event: message\ndata: ", &json[..], b"\n\n"].concat();
                Response::from_parts(head, Body::from(event))
            }
            Self::Events | Self::Json => response,
        }
    }
}
