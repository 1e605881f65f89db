//! The door: what is looked at, in this order, before a gateway sees a request.
//!
//! 1. framing (hyper's, and a target that is a path), exactly one host, its grammar: 400
//! 2. `/livez` and `/readyz` are answered: whoever watches the process need not know its names
//! 3. the lists: a host that is not ours 421, a web page that is not ours 403
//! 4. how often this client asks: 429
//! 5. size and type of the body, from its headers: 413, 415
//! 6. credentials, of which there are none yet: 401
//!
//! Then the gateway answers. What was refused is told to the operator ([`Turned`]) and never to the caller. No
//! forwarded header has a say in any of this.

use std::error::Error as StdError;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, HOST, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode, Uri, Version};
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use proto::{Code, Failure};
use tower::ServiceExt as _;
use tracing::{Instrument as _, info_span};

use crate::access_log::Line;
use crate::answer::{self, Answer};
use crate::body::Body;
use crate::client_address::{self, TrustedProxy};
use crate::config::Patience;
use crate::connection::Answers;
use crate::content::{self, Follows};
use crate::front::Front;
use crate::guests::{Guests, Seat};
use crate::health::{Health, Probe};
use crate::host::Host;
use crate::metrics::Metrics;
use crate::origin::Page;
use crate::panic;
use crate::policy::Policy;
use crate::rate_limit::RateLimit;
use crate::refusal::Refusal;
use crate::target;
use crate::turned::Turned;
use crate::visit::{Client, Visit};

/// The door at one place.
pub(crate) struct Door<S> {
    pub(crate) policy: Policy,
    pub(crate) house: Arc<House>,
    pub(crate) rate: Option<Arc<RateLimit>>,
    pub(crate) service: S,
}

/// What the doors of a process share.
pub(crate) struct House {
    pub(crate) front: Front,
    pub(crate) patience: Patience,
    pub(crate) trusted_proxies: Vec<TrustedProxy>,
    /// Paths of public URLs, which stand before every route.
    pub(crate) prefixes: Vec<String>,
    pub(crate) health: Health,
    pub(crate) metrics: Metrics,
    pub(crate) turned: Turned,
    pub(crate) guests: Arc<Guests>,
}

/// A request that was let in.
enum Admitted {
    Probe(Probe),
    Request,
}

impl<S> Door<S> {
    pub(crate) fn patience(&self) -> Patience {
        self.house.patience
    }

    /// Answers a request, whatever it is.
    pub(crate) async fn answer<B>(
        &self,
        request: Request<Incoming>,
        peer: Client,
        seat: Seat,
    ) -> Response<Answer>
    where
        S: Answers<B>,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let house = &self.house;
        let (mut head, body) = request.into_parts();
        let seat = Arc::new(seat);
        let body = Body::new(body, house.patience.body, Arc::clone(&seat));
        let client = client_address::client(peer, &head.headers, &house.trusted_proxies);
        let visit = Visit::read(&head.headers, client);
        self.strip_prefix(&mut head);
        let line = Line::begin(Arc::clone(house), &visit, &head, seat);
        let version = head.version;

        let follows = if body.is_end_stream() { Follows::Nothing } else { Follows::Body };
        let response = match self.admit(&head, follows, client) {
            Ok(Admitted::Probe(probe)) => self.probe(probe, &head.method).await,
            Ok(Admitted::Request) => {
                let id = visit.request_id.as_str();
                let span = info_span!("request", id, traceparent = visit.trace_parent.as_deref());
                head.extensions.insert(visit.clone());
                let answered = self.service.clone().oneshot(Request::from_parts(head, body));
                match panic::caught(answered).instrument(span).await {
                    Ok(Ok(response)) => Ok(response.map(answer::boxed)),
                    Ok(Err(never)) => match never {},
                    Err(panic::Panicked) => Err(Refusal::of(Code::Internal)),
                }
            }
            Err(refusal) => Err(refusal),
        };
        let mut response = response.unwrap_or_else(|refusal| self.refuse(refusal, &visit, version));
        answer::guard(response.headers_mut(), &visit);
        line.answer(response)
    }

    /// The checks in their order.
    fn admit(&self, head: &Parts, follows: Follows, client: Client) -> Result<Admitted, Refusal> {
        let host = target::host(head.version, &head.uri, &head.headers)
            .map_err(|_| self.turn_from_host(Code::BadHost, head))?;
        if let Some(probe) = Probe::at(head.uri.path()) {
            return Ok(Admitted::Probe(probe));
        }
        self.check_lists(&host, head)?;
        if let Some(Err(wait)) = self.rate.as_ref().map(|rate| rate.take(client)) {
            let mut failure = Failure::new(Code::RateLimited);
            failure.retry_after = Some(wait);
            return Err(failure.into());
        }
        content::check(&head.headers, follows, self.house.front.content_types)?;
        check_credentials(head)?;
        check_target(head)?;
        Ok(Admitted::Request)
    }

    fn check_lists(&self, host: &Host, head: &Parts) -> Result<(), Refusal> {
        if !self.policy.admits_host(host) {
            return Err(self.turn_from_host(Code::HostNotAllowed, head));
        }
        match Page::read(&head.method, &head.headers) {
            Page::None => Ok(()),
            Page::Of(origin) if self.policy.admits_origin(&origin, host) => Ok(()),
            Page::Of(_) | Page::Foreign => Err(self.turn_from_origin(head)),
        }
    }

    /// Turns a request away for the host that it names, and tells the operator what that was.
    fn turn_from_host(&self, code: Code, head: &Parts) -> Refusal {
        let field = head.headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
        let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
        self.house.turned.tell(code, field.chain(authority));
        Refusal::of(code)
    }

    /// The same for the page that asks.
    fn turn_from_origin(&self, head: &Parts) -> Refusal {
        let origin = head.headers.get_all(ORIGIN).iter().map(HeaderValue::as_bytes);
        self.house.turned.tell(Code::OriginNotAllowed, origin);
        Refusal::of(Code::OriginNotAllowed)
    }

    async fn probe(&self, probe: Probe, method: &Method) -> Result<Response<answer::Boxed>, Refusal> {
        if method != Method::GET && method != Method::HEAD {
            return Err(Refusal::method("GET, HEAD"));
        }
        self.house.health.answer(probe).await.map(|response| response.map(answer::boxed))
    }

    fn refuse(&self, refusal: Refusal, visit: &Visit, version: Version) -> Response<answer::Boxed> {
        let house = &self.house;
        house.metrics.refused(refusal.failure().code);
        let refusal = refusal.of_request(visit.request_id.as_str());
        let mut response = house.front.answer(&refusal).map(answer::boxed);
        // What follows a malformed request or an unread body on this connection is nobody's guess.
        let status = refusal.status();
        let distrusted = status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE;
        if distrusted && version != Version::HTTP_2 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Takes the path of a public URL off a request's. A proxy that takes it off itself is as welcome.
    fn strip_prefix(&self, head: &mut Parts) {
        let Some(whole) = head.uri.path_and_query().map(PathAndQuery::as_str) else { return };
        let rest = self
            .house
            .prefixes
            .iter()
            .find_map(|prefix| whole.strip_prefix(prefix.as_str()).filter(|rest| rest.starts_with('/')));
        let Some(Ok(rest)) = rest.map(str::parse::<PathAndQuery>) else { return };
        let mut parts = std::mem::take(&mut head.uri).into_parts();
        parts.path_and_query = Some(rest);
        // Only its path is another; the URI stays whole.
        head.uri = Uri::from_parts(parts).unwrap_or_default();
    }
}

/// There are no tokens yet: whoever sends one believes that it protects something.
fn check_credentials(head: &Parts) -> Result<(), Refusal> {
    let is_bearer = |value: &HeaderValue| {
        let scheme = value.as_bytes().split(|&byte| byte == b' ').next().unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"bearer")
    };
    if head.headers.get_all(AUTHORIZATION).iter().any(is_bearer) {
        let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
        return Err(Refusal::of(Code::Unauthenticated).with_header(WWW_AUTHENTICATE, challenge));
    }
    Ok(())
}

/// `CONNECT host:port` and `OPTIONS *` name nothing that a gateway has.
fn check_target(head: &Parts) -> Result<(), Refusal> {
    if head.method == Method::CONNECT {
        return Err(Refusal::method("GET, HEAD, POST"));
    }
    if head.uri.path().starts_with('/') { Ok(()) } else { Err(Refusal::of(Code::NotFound)) }
}
