//! One line per request, written when its answer is on its way or nobody waits for it any more.
//!
//! The path stands in it and the query string never does: it may hold what somebody asked.

use std::sync::Arc;
use std::time::Instant;

use http::request::Parts;
use http::{Method, Response};
use proto::metadata::RequestId;
use tracing::{debug, info};

use crate::answer::{Answer, Boxed};
use crate::door::House;
use crate::front::Route;
use crate::guests::Seat;
use crate::health::Probe;
use crate::visit::{Client, Visit};

/// How much of a path is written.
const MAX_PATH: usize = 200;

/// A request's line. It is written when this is dropped.
pub(crate) struct Line {
    house: Arc<House>,
    began: Instant,
    id: RequestId,
    client: Client,
    method: Method,
    path: String,
    route: Option<Route>,
    /// `None` until there is an answer.
    status: Option<u16>,
    whole: bool,
    /// Held as long as the request is under way.
    _seat: Arc<Seat>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Line {
    pub(crate) fn begin(house: Arc<House>, visit: &Visit, head: &Parts, seat: Arc<Seat>) -> Self {
        Self {
            house,
            began: Instant::now(),
            id: visit.request_id.clone(),
            client: visit.client,
            method: head.method.clone(),
            path: head.uri.path().chars().take(MAX_PATH).collect(),
            route: None,
            status: None,
            whole: false,
            _seat: seat,
        }
    }

    /// Goes on with the answer.
    pub(crate) fn answer(mut self, mut response: Response<Boxed>) -> Response<Answer> {
        self.route = response.extensions_mut().remove::<Route>();
        self.status = Some(response.status().as_u16());
        response.map(|body| {
            // An empty body is never looked at.
            self.whole = http_body::Body::is_end_stream(&body) || self.method == Method::HEAD;
            Answer { body, line: self }
        })
    }

    /// The answer's last byte was handed on.
    pub(crate) fn whole(&mut self) {
        self.whole = true;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.house.metrics.answered(&self.method, self.route.as_ref(), self.status, took);
        let ms = (took.as_secs_f64() * 1e5).round() / 1e2;
        let id = self.id.as_str();
        let surface = self.house.front.surface.as_str();
        let (client, method, path) = (&self.client, self.method.as_str(), self.path.as_str());
        let (status, whole) = (self.status, self.whole);
        // Whoever watches the process asks every few seconds, and all is well.
        if status == Some(200) && Probe::at(path).is_some() {
            debug!(id, surface, %client, method, path, status, whole, ms, "answered");
        } else {
            info!(id, surface, %client, method, path, status, whole, ms, "answered");
        }
    }
}
