//! A gateway's front from its configuration to its end: opens the places, serves, drains.
//!
//! Deliberately left out: how connections are let in (`accept`), and what is looked at in a request (`door`).

use std::convert::Infallible;
use std::error::Error as StdError;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use proto::places::SocketPath;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::Service;
use tracing::{info, warn};

use crate::accept::Hall;
use crate::bind::Listener;
use crate::body::Body;
use crate::config::Config;
use crate::door::{Door, House};
use crate::error::Error;
use crate::front::Front;
use crate::guests::Guests;
use crate::health::Health;
use crate::listen::{Listen, Reach};
use crate::metrics::{self, Metrics};
use crate::policy::{Names, Policy};
use crate::rate_limit::{self, Rate, RateLimit};
use crate::turned::Turned;

/// File descriptors for everything but connections: the daemon, logs, and the runtime's own.
const OTHER_FILES: u64 = 64;

/// Open places, and what is asked at them.
#[derive(Debug)]
pub struct Edge {
    config: Config,
    front: Front,
    listeners: Vec<Listener>,
    metrics: Option<Listener>,
}

/// Opens the places that the configuration names, and logs where they are. To be called within a runtime.
pub fn open(mut config: Config, front: Front) -> Result<Edge, Error> {
    let room = raise_file_limit().saturating_sub(OTHER_FILES).max(1);
    config.max_connections = config.max_connections.min(usize::try_from(room).unwrap_or(usize::MAX));
    let listeners = Listener::open_all(&config)?;
    let metrics = config.metrics.map(Listener::tcp).transpose()?;
    for listener in &listeners {
        info!(address = %listener.place(), surface = front.surface.as_str(), "listening");
    }
    if let Some(listener) = &metrics {
        info!(address = %listener.place(), "metrics");
    }
    if matches!(config.names, Names::Any { .. }) {
        warn!(
            "--any-host: every web page that a browser in reach opens can ask by making its own name mean this address"
        );
    }
    Ok(Edge { config, front, listeners, metrics })
}

impl Edge {
    /// Where it listens, in the words of `--listen` and with the ports that the system chose.
    pub fn addresses(&self) -> Vec<Listen> {
        self.listeners.iter().map(Listener::place).collect()
    }

    /// Where metrics are served.
    pub fn metrics_address(&self) -> Option<Listen> {
        self.metrics.as_ref().map(Listener::place)
    }

    /// Answers requests with `service` until `shutdown`; then lets what is inside end. `/readyz` asks the daemon
    /// behind `core`.
    pub async fn serve<S, B>(self, service: S, core: SocketPath, shutdown: impl Future<Output = ()>)
    where
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let Self { config, front, listeners, metrics } = self;
        let house = Arc::new(House {
            front,
            patience: config.patience,
            trusted_proxies: config.trusted_proxies.clone(),
            prefixes: prefixes(&config),
            health: Health::new(core),
            metrics: Metrics::new(front.surface),
            turned: Turned::new(),
            guests: Guests::new(config.max_connections),
        });
        let hall = Arc::new(Hall::new(Arc::clone(&house)).await);
        let (drain, draining) = watch::channel(false);

        let mut doors = JoinSet::new();
        for listener in listeners {
            let (reach, bound) = (listener.reach(), listener.bound());
            let door = Door {
                policy: Policy::new(config.names.clone(), reach, bound),
                house: Arc::clone(&house),
                rate: RateLimit::new(config.rate.unwrap_or(default_rate(reach))).map(Arc::new),
                service: service.clone(),
            };
            doors.spawn(Arc::clone(&hall).keep(listener, Arc::new(door), draining.clone()));
        }
        if let Some(listener) = metrics {
            let names = Names::OfPlace { besides: config.names.besides().to_vec() };
            let door = Door {
                policy: Policy::new(names, listener.reach(), listener.bound()),
                house: Arc::clone(&house),
                rate: None,
                service: metrics::service(Arc::clone(&house)),
            };
            doors.spawn(Arc::clone(&hall).keep(listener, Arc::new(door), draining.clone()));
        }
        shutdown.await;
        info!("told to stop");
        drain.send_replace(true);
        let drained =
            timeout(config.patience.drain, async { while doors.join_next().await.is_some() {} }).await;
        doors.shutdown().await;
        info!(complete = drained.is_ok(), "stopped");
    }
}

/// Nobody else's requests are at stake where only this host asks.
const fn default_rate(reach: Reach) -> Rate {
    match reach {
        Reach::Published => rate_limit::PUBLISHED,
        Reach::Loopback | Reach::Unix => Rate::per_second(0),
    }
}

/// The longest first, so that none hides another.
fn prefixes(config: &Config) -> Vec<String> {
    let paths = config.public_urls().iter().map(|url| url.path().to_owned());
    let mut prefixes: Vec<String> = paths.filter(|path| !path.is_empty()).collect();
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
    prefixes
}

/// Lifts the number of files that this process may open as far as the system lets it, and says what it is then.
fn raise_file_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    (if raised.is_ok() { maximum } else { current }).unwrap_or(u64::MAX)
}
