//! From open places to answered requests: lets connections in, keeps count of them, and lets them end.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Response, Version};
use http_body::Body as HttpBody;
use http_body_util::{BodyExt as _, Full};
use proto::Code;
use proto::places::SocketPath;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use crate::bind::Listener;
use crate::config::Config;
use crate::connection::{self, Answers};
use crate::door::{Door, House};
use crate::error::Error;
use crate::front::Front;
use crate::guests::Guests;
use crate::health::Health;
use crate::listen::{Listen, Reach};
use crate::memory;
use crate::metrics::{self, Metrics};
use crate::policy::{Names, Policy};
use crate::rate_limit::{self, Rate, RateLimit};
use crate::refusal::Refusal;
use crate::socket::Stream;
use crate::turned::Turned;

/// How long nothing is accepted after the system gave no connection, for example for want of file descriptors.
const RECOVER: Duration = Duration::from_millis(50);

/// How often quiet clients are forgotten, and the memory of a crowd that left is given back.
const TIDY: Duration = Duration::from_secs(10);

/// Those that are told at once that there is no room; any more are closed without a word.
const TOLD_AT_ONCE: usize = 32;

/// How long one of them may take to hear it.
const TELL: Duration = Duration::from_millis(500);

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
        S: tower::Service<
                http::Request<crate::Body>,
                Response = Response<B>,
                Error = std::convert::Infallible,
                Future: Send,
            > + Clone
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

/// What stands behind every door: who is inside, and what one hears for whom there is no room.
struct Hall {
    house: Arc<House>,
    full: Bytes,
    telling: Arc<Semaphore>,
}

impl Hall {
    async fn new(house: Arc<House>) -> Self {
        let full = house.front.answer(&Refusal::of(Code::Overloaded));
        Self { full: written(full).await, house, telling: Arc::new(Semaphore::new(TOLD_AT_ONCE)) }
    }

    /// Keeps one door until it is told to drain, and then until everybody who came in by it has left.
    async fn keep<S, B>(
        self: Arc<Self>,
        listener: Listener,
        door: Arc<Door<S>>,
        draining: watch::Receiver<bool>,
    ) where
        S: Answers<B>,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let mut connections = JoinSet::new();
        let mut told = draining.clone();
        let mut tidy = tokio::time::interval(TIDY);
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => match self.house.guests.enter() {
                        Some(guest) => {
                            self.house.metrics.accepted();
                            let served = connection::serve(stream, peer, guest, Arc::clone(&door), draining.clone());
                            connections.spawn(served);
                        }
                        None => self.turn_away(stream),
                    },
                    Err(error) => self.recover(&error).await,
                },
                Some(_) = connections.join_next() => {}
                _ = tidy.tick() => {
                    if let Some(rate) = &door.rate {
                        rate.forget_quiet();
                    }
                    if self.house.guests.a_crowd_has_left() {
                        tokio::task::spawn_blocking(memory::give_back);
                    }
                }
                () = connection::told(&mut told) => break,
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
    }

    /// Everybody is at work: the newcomer is told so, as far as that costs nothing.
    fn turn_away(&self, mut stream: Stream) {
        self.house.metrics.turned_away();
        let Ok(place) = Arc::clone(&self.telling).try_acquire_owned() else { return };
        let full = self.full.clone();
        tokio::spawn(async move {
            let tell = async {
                stream.write_all(&full).await?;
                stream.shutdown().await?;
                // It is read, so that closing does not take back what was said.
                let mut waste = [0; 4096];
                while stream.read(&mut waste).await? > 0 {}
                io::Result::Ok(())
            };
            drop(timeout(TELL, tell).await);
            drop(place);
        });
    }

    /// The system gave no connection. One that was given up by its other end is nobody's loss.
    async fn recover(&self, error: &io::Error) {
        use io::ErrorKind::{
            ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, NotConnected,
        };
        let lost = [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, NotConnected];
        if lost.contains(&error.kind()) {
            return;
        }
        self.house.metrics.accept_error();
        let made_room = self.house.guests.send_away();
        warn!(%error, made_room, "no connection");
        sleep(RECOVER).await;
    }
}

/// An answer as HTTP/1.1 writes it, before anybody has asked.
async fn written(response: Response<Full<Bytes>>) -> Bytes {
    let (head, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    let mut bytes = format!("{:?} {}\r\n", Version::HTTP_11, head.status).into_bytes();
    for (name, value) in &head.headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
        .extend_from_slice(format!("connection: close\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(&body);
    bytes.into()
}
