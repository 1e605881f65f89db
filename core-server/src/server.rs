//! Connections from their first byte to the drain.
//!
//! HTTP/2 is served by hyper directly and not by tonic's own server, which would answer a passed deadline
//! before we do and in other words.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use proto::v1::retrieval_service_server::RetrievalServiceServer;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic::service::Routes;
use tower::Service as _;
use tracing::{debug, info};

use crate::admission::Admission;
use crate::call;
use crate::config::Limits;
use crate::convert::{Process, rfc3339};
use crate::listener::Listener;
use crate::refresh::Refresher;
use crate::service::{Answers, Service};

/// What is inside gets this long to end after the signal.
const DRAIN: Duration = Duration::from_secs(10);

/// Streams that never end, such as a watched health, are cut this long after the last request was answered.
const FLUSH: Duration = Duration::from_millis(500);

/// The largest request: the longest query in four-byte characters is 16 KiB.
const MAX_MESSAGE_BYTES: usize = 256 * 1024;

/// Requests of one connection: above what is let in, so that the excess is told and does not queue unseen.
const STREAMS_BEYOND_LIMIT: usize = 192;

/// Why the daemon stopped before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The contract's descriptors do not read: a fault of the build.
    #[error("reflection cannot be served")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// When it was asked last, for a daemon that leaves by itself.
#[derive(Debug)]
struct Activity(Mutex<Instant>);

impl Activity {
    fn touch(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle_for(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// Serves until `shutdown`, or until nobody asked for `idle_exit`; then lets what is inside end.
pub async fn serve<A: Answers>(
    mut listener: Listener,
    answers: Arc<A>,
    limits: Limits,
    idle_exit: Option<Duration>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let admission = Admission::new(limits);
    let activity = Arc::new(Activity(Mutex::new(Instant::now())));
    let (health, routes) = routes(Arc::clone(&answers), admission.clone()).await?;
    let _refresher = Refresher::start(answers);
    let (drain, draining) = watch::channel(false);
    let mut connections = JoinSet::new();
    let max_streams = u32::try_from(limits.max_in_flight + STREAMS_BEYOND_LIMIT).unwrap_or(u32::MAX);
    {
        let idle = idle(idle_exit, &activity, &admission);
        tokio::pin!(shutdown, idle);
        loop {
            tokio::select! {
                stream = listener.accept() => {
                    connections.spawn(connection(stream, routes.clone(), Arc::clone(&activity), draining.clone(), max_streams));
                }
                Some(_) = connections.join_next() => {}
                () = &mut shutdown => break info!("told to stop"),
                () = &mut idle => break info!("nobody asked for long"),
            }
        }
    }
    listener.close();
    health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    health.set_not_serving::<RetrievalServiceServer<Service<A>>>().await;
    drain.send_replace(true);
    let drained = tokio::time::timeout(DRAIN, drained(&mut connections, &admission)).await;
    info!(complete = drained.is_ok(), "stopped");
    Ok(())
}

/// The operations, health and reflection.
async fn routes<A: Answers>(
    answers: Arc<A>,
    admission: Admission,
) -> Result<(tonic_health::server::HealthReporter, Routes), Error> {
    let process = Process { version: proto::metadata::VERSION, started_at: rfc3339(jiff::Timestamp::now()) };
    let service = RetrievalServiceServer::new(Service::new(answers, admission, process))
        .max_decoding_message_size(MAX_MESSAGE_BYTES);
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<RetrievalServiceServer<Service<A>>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::v1::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let routes = Routes::new(service)
        .add_service(health)
        .add_service(reflection().build_v1()?)
        // What tools ask for that are a few years old, and nothing else.
        .add_service(reflection().build_v1alpha()?);
    Ok((reporter, routes.prepare()))
}

async fn connection(
    stream: UnixStream,
    routes: Routes,
    activity: Arc<Activity>,
    mut draining: watch::Receiver<bool>,
    max_streams: u32,
) {
    let service = tower::service_fn(move |request: http::Request<_>| {
        let request = request.map(Body::new);
        let mut routes = routes.clone();
        // A look at the daemon's health keeps nobody here.
        let activity = call::asks(&request).then(|| Arc::clone(&activity));
        async move {
            activity.as_deref().map(Activity::touch);
            let serve = async move |request| match routes.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let response = call::answer(request, serve).await;
            activity.as_deref().map(Activity::touch);
            Ok::<_, Infallible>(response)
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new()).http2_only();
    builder.http2().max_concurrent_streams(max_streams);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async { _ = draining.wait_for(|draining| *draining).await } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!(error, "a connection broke");
    }
}

/// Ends once nobody asked for as long as `after`, and nobody is in; never where there is no such time.
async fn idle(after: Option<Duration>, activity: &Activity, admission: &Admission) {
    let Some(after) = after else { return std::future::pending().await };
    loop {
        let idle_for = activity.idle_for();
        if idle_for >= after && admission.in_flight() == 0 {
            return;
        }
        tokio::time::sleep(after.saturating_sub(idle_for).max(Duration::from_millis(10))).await;
    }
}

/// Ends once every connection did, or nothing but endless streams are left.
async fn drained(connections: &mut JoinSet<()>, admission: &Admission) {
    let flushed = async {
        loop {
            tokio::time::sleep(FLUSH).await;
            if admission.in_flight() == 0 {
                break;
            }
        }
    };
    tokio::select! {
        () = flushed => {}
        () = async { while connections.join_next().await.is_some() {} } => {}
    }
}
