//! What is counted, and the page that Prometheus reads. No label holds what a caller sent.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::Full;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use proto::Code;
use proto::metadata::Surface;

use crate::body::Body;
use crate::connection::Answers;
use crate::door::House;
use crate::front::Route;
use crate::refusal::Refusal;

/// Seconds: from a probe to a reranked question behind a queue.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Where the page is.
const PATH: &str = "/metrics";

/// Its type.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels<const N: usize> = [(&'static str, String); N];

/// The counters of a process.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels<3>, Counter>,
    refusals: Family<Labels<1>, Counter>,
    seconds: Histogram,
    connections: Gauge,
    accepted: Counter,
    turned_away: Counter,
    accept_errors: Counter,
}

impl Metrics {
    pub(crate) fn new(surface: Surface) -> Self {
        let labels = [("surface".into(), surface.as_str().into())];
        let mut registry = Registry::with_prefix_and_labels("footnote_http", labels.into_iter());
        let requests = Family::default();
        registry.register("requests", "Requests, by what became of them", requests.clone());
        let refusals = Family::default();
        registry.register("refusals", "Requests that the door refused", refusals.clone());
        let seconds = Histogram::new(BUCKETS);
        let unit = Unit::Seconds;
        registry.register_with_unit("request", "From headers to the answer's end", unit, seconds.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let accepted = Counter::default();
        registry.register("connections_accepted", "Connections that were let in", accepted.clone());
        let turned_away = Counter::default();
        registry.register("connections_turned_away", "Connections that found no room", turned_away.clone());
        let accept_errors = Counter::default();
        registry.register("accept_errors", "Connections that the system did not give", accept_errors.clone());
        Self { registry, requests, refusals, seconds, connections, accepted, turned_away, accept_errors }
    }

    pub(crate) fn answered(
        &self,
        method: &Method,
        route: Option<&Route>,
        status: Option<u16>,
        took: Duration,
    ) {
        let labels = [
            ("method", method_label(method).to_owned()),
            ("route", route.map_or("none", |Route(route)| route).to_owned()),
            ("status", status.map_or_else(|| "cancelled".to_owned(), |status| status.to_string())),
        ];
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn refused(&self, code: Code) {
        self.refusals.get_or_create(&[("code", code.word().to_owned())]).inc();
    }

    pub(crate) fn accepted(&self) {
        self.accepted.inc();
    }

    pub(crate) fn turned_away(&self) {
        self.turned_away.inc();
    }

    pub(crate) fn accept_error(&self) {
        self.accept_errors.inc();
    }

    fn page(&self) -> String {
        let mut page = String::new();
        // Writing to a string does not fail.
        _ = encode(&mut page, &self.registry);
        page
    }
}

/// A caller may make up methods.
fn method_label(method: &Method) -> &str {
    let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS];
    if known.contains(method) { method.as_str() } else { "other" }
}

/// `/metrics`, and nothing else.
pub(crate) fn service(house: Arc<House>) -> impl Answers<Full<Bytes>> {
    tower::service_fn(move |request: Request<Body>| {
        let answer = match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, PATH) => page(&house),
            (_, PATH) => house.front.answer(&Refusal::method("GET, HEAD")),
            _ => house.front.answer(&Refusal::of(Code::NotFound)),
        };
        async move { Ok::<_, Infallible>(answer) }
    })
}

fn page(house: &House) -> Response<Full<Bytes>> {
    house.metrics.connections.set(i64::try_from(house.guests.present()).unwrap_or(i64::MAX));
    let mut response = Response::new(Full::from(house.metrics.page()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
    response.extensions_mut().insert(Route(PATH.into()));
    response
}
