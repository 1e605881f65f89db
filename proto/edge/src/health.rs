//! `/livez` and `/readyz`: whether this process answers, and whether the daemon behind it does.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::Full;
use proto::places::SocketPath;
use proto::{Code, Failure, health};
use tokio::sync::Mutex;

use crate::refusal::Refusal;

/// How long an answer of the daemon is good: however many ask, it is asked once in that time.
const FRESH: Duration = Duration::from_secs(1);

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Whether this process answers.
    Live,
    /// Whether it can be asked something.
    Ready,
}

impl Probe {
    pub(crate) fn at(path: &str) -> Option<Self> {
        match path {
            "/livez" => Some(Self::Live),
            "/readyz" => Some(Self::Ready),
            _ => None,
        }
    }
}

/// Asks the daemon behind `core`.
#[derive(Debug)]
pub(crate) struct Health {
    core: SocketPath,
    /// Held while the daemon is asked.
    last: Mutex<Option<(Instant, bool)>>,
}

impl Health {
    pub(crate) fn new(core: SocketPath) -> Self {
        Self { core, last: Mutex::new(None) }
    }

    pub(crate) async fn answer(&self, probe: Probe) -> Result<Response<Full<Bytes>>, Refusal> {
        match probe {
            Probe::Live => Ok(said("{\"status\":\"live\"}")),
            Probe::Ready if self.core_serves().await => Ok(said("{\"status\":\"ready\"}")),
            Probe::Ready => Err(Refusal::new(Failure::new(Code::CoreUnavailable))),
        }
    }

    async fn core_serves(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some((_, serves)) = last.filter(|(when, _)| when.elapsed() < FRESH) {
            return serves;
        }
        let serves = matches!(health::check(&self.core).await, Ok(health::Health::Serving { .. }));
        *last = Some((Instant::now(), serves));
        serves
    }
}

fn said(json: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(json));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
