//! What is true of the daemon whatever the index: asked over a real socket, answered by a stand-in that fails
//! on purpose.
#![expect(clippy::unwrap_used, reason = "clippy knows tests, not what they are made of")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use core_server::config::Limits;
use core_server::listener::{Listener, Place};
use core_server::server;
use core_server::service::Answers;
use engine::collection::CollectionName;
use engine::generation::GenerationId;
use engine::query::{
    Caller, CollectionSummary, FetchChunk, FetchedChunk, IndexStatus, Mode, Notice, Search, SearchAnswer,
    Stats,
};
use engine::stop::Stop;
use hyper_util::client::legacy::Client as LegacyClient;
use hyper_util::rt::{TokioExecutor, TokioIo};
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{ListCollectionsRequest, SearchRequest, SearchResponse};
use proto::{Code, Failure};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tonic_reflection::pb::v1 as reflection;

/// Does what the query says: `panic`, `wait` (for [`StandIn::open`] or its stop), `warm` (until
/// [`StandIn::open`]); answers all else.
#[derive(Default)]
struct StandIn {
    opened: Mutex<bool>,
    changed: Condvar,
    waiting: AtomicUsize,
    stopped: AtomicUsize,
    refreshed: AtomicBool,
}

impl StandIn {
    fn open(&self) {
        *self.opened.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn is_open(&self) -> bool {
        *self.opened.lock().unwrap()
    }

    fn wait(&self, stop: &Stop) -> engine::Result<()> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut opened = self.opened.lock().unwrap();
        while !*opened {
            if let Err(stopped) = stop.check() {
                self.stopped.fetch_add(1, Ordering::SeqCst);
                return Err(stopped);
            }
            opened = self.changed.wait_timeout(opened, Duration::from_millis(1)).unwrap().0;
        }
        Ok(())
    }
}

impl Answers for StandIn {
    fn search(&self, search: &Search, _: &Caller, stop: &Stop) -> engine::Result<SearchAnswer> {
        match search.query.as_str() {
            "panic" => panic!("planted"),
            "wait" => self.wait(stop)?,
            "warm" if !self.is_open() => return Err(engine::Error::WarmingUp),
            _ => {}
        }
        Ok(SearchAnswer {
            evidence: engine::evidence::Evidence::NO_HITS,
            collection: "docs".parse().unwrap(),
            generation: GenerationId::FIRST,
            mode: Mode::Bm25,
            hits: vec![],
            reranked: None,
            truncated: None,
            notices: vec![Notice::NoVectors],
            explanation: None,
            stats: Stats::default(),
        })
    }

    fn fetch_chunk(&self, _: &FetchChunk, _: &Caller, _: &Stop) -> engine::Result<FetchedChunk> {
        Err(engine::Error::ReadFile {
            path: "/secret/index".into(),
            source: std::io::Error::other("the disk said no"),
        })
    }

    fn list_collections(&self, _: &Stop) -> engine::Result<(Vec<CollectionSummary>, Vec<Notice>)> {
        let summary = |number: u32| CollectionSummary {
            name: format!("c{number:03}").parse().unwrap(),
            documents: number,
            chunks: number,
            generation: GenerationId::FIRST,
            published_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            modes: vec![Mode::Bm25],
        };
        Ok(((0..120).map(summary).collect(), vec![]))
    }

    fn index_status(&self, _: Option<&CollectionName>, _: &Caller, _: &Stop) -> engine::Result<IndexStatus> {
        Err(engine::Error::NothingIngested)
    }

    fn refresh(&self) -> engine::Result<()> {
        self.refreshed.store(true, Ordering::SeqCst);
        Ok(())
    }
}

struct Daemon {
    folder: tempfile::TempDir,
    stand_in: Arc<StandIn>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

const LIMITS: Limits = Limits { max_in_flight: 64, workers: 2 };

impl Daemon {
    async fn start() -> Self {
        Self::start_with(LIMITS, None).await
    }

    async fn start_with(limits: Limits, idle_exit: Option<Duration>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            socket: socket(folder.path()).try_into().unwrap(),
            index_lock: folder.path().join("run/index.lock"),
            group: None,
            allowed_uids: vec![],
        };
        let listener = Listener::bind(&place).await.unwrap();
        let stand_in = Arc::new(StandIn::default());
        let (stop, stopped) = oneshot::channel::<()>();
        let answers = Arc::clone(&stand_in);
        let served = tokio::spawn(async move {
            let told = async { _ = stopped.await };
            server::serve(listener, answers, limits, idle_exit, told).await.unwrap();
        });
        Self { folder, stand_in, stop: Some(stop), served }
    }

    fn channel(&self) -> Channel {
        let address = format!("unix:{}", socket(self.folder.path()).display());
        Endpoint::try_from(address).unwrap().connect_lazy()
    }

    /// Asks with a deadline that only the daemon knows of: tonic's own channel would give up by itself.
    async fn search_within(
        &self,
        query: &str,
        timeout: &'static str,
    ) -> Result<Response<SearchResponse>, Status> {
        let path = socket(self.folder.path());
        let connector = tower::service_fn(move |_: http::Uri| {
            let path = path.clone();
            Box::pin(async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(path).await?)) })
        });
        let client = LegacyClient::builder(TokioExecutor::new()).http2_only(true).build(connector);
        let origin = http::Uri::from_static("http://localhost");
        let mut request = Request::new(question(query));
        request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        RetrievalServiceClient::with_origin(client, origin).search(request).await
    }

    fn client(&self) -> RetrievalServiceClient<Channel> {
        RetrievalServiceClient::new(self.channel())
    }

    async fn search(&self, query: &str) -> Result<Response<SearchResponse>, Status> {
        self.client().search(question(query)).await
    }

    async fn until_waiting(&self, requests: usize) {
        until(|| self.stand_in.waiting.load(Ordering::SeqCst) >= requests).await;
    }
}

fn socket(folder: &Path) -> std::path::PathBuf {
    folder.join("run/core.sock")
}

fn question(query: &str) -> SearchRequest {
    SearchRequest { query: query.to_owned(), ..SearchRequest::default() }
}

fn failure(answer: Result<Response<SearchResponse>, Status>) -> Failure {
    Failure::from(answer.unwrap_err())
}

async fn until(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "waited in vain");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn an_answer_carries_the_requests_id_and_the_daemons_version() {
    let daemon = Daemon::start().await;
    let mut request = Request::new(question("anything"));
    request.metadata_mut().insert("x-request-id", "mine-1".parse().unwrap());
    let response = daemon.client().search(request).await.unwrap();
    assert_eq!(response.metadata().get("x-request-id").unwrap(), "mine-1");
    assert_eq!(proto::metadata::version(response.metadata()), Some(proto::metadata::VERSION));
    let answer = response.into_inner();
    assert_eq!((answer.collection.as_str(), answer.generation), ("docs", 1));
    assert_eq!(answer.notices[0].code, "no_vectors");
    assert!(answer.stats.unwrap().total_ms > 0.0);
}

#[tokio::test]
async fn a_panic_is_that_requests_internal_and_the_next_is_served() {
    let daemon = Daemon::start().await;
    for _ in 0..2 * LIMITS.max_in_flight {
        assert_eq!(failure(daemon.search("panic").await).code, Code::Internal);
    }
    assert!(daemon.search("anything").await.is_ok());
}

#[tokio::test]
async fn a_cause_stays_in_the_log() {
    let daemon = Daemon::start().await;
    let fetch = proto::v1::FetchChunkRequest { chunk_id: Some("0".repeat(32)), ..Default::default() };
    let status = daemon.client().fetch_chunk(fetch).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::DataLoss);
    assert!(
        !format!("{status:?}").contains("secret") && !format!("{status:?}").contains("disk"),
        "{status:?}"
    );
    assert!(Failure::from(status).request_id.is_some());
}

#[tokio::test]
async fn a_full_house_is_overloaded_at_once_and_says_when_to_come_back() {
    let daemon = Daemon::start().await;
    let inside: Vec<_> = (0..LIMITS.max_in_flight)
        .map(|_| {
            let mut client = daemon.client();
            tokio::spawn(async move { client.search(question("wait")).await })
        })
        .collect();
    daemon.until_waiting(LIMITS.workers).await;
    let refusal = loop {
        // Those of the 64 that are still on their way have places to come.
        if let Err(refused) = tokio::time::timeout(Duration::from_millis(20), daemon.search("wait"))
            .await
            .unwrap_or_else(|_| Ok(Response::new(SearchResponse::default())))
        {
            break Failure::from(refused);
        }
    };
    assert_eq!(refusal.code, Code::Overloaded);
    assert!(refusal.retry_after.is_some());
    daemon.stand_in.open();
    for request in inside {
        request.await.unwrap().unwrap();
    }
    assert!(daemon.search("anything").await.is_ok());
}

#[tokio::test]
async fn a_passed_deadline_is_said_in_our_words_and_ends_the_work() {
    let daemon = Daemon::start().await;
    let began = Instant::now();
    let status = daemon.search_within("wait", "50m").await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{status:?}");
    assert_eq!(Failure::from(status).code, Code::DeadlineExceeded);
    assert!(began.elapsed() < Duration::from_secs(10));
    until(|| daemon.stand_in.stopped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn a_deadline_also_ends_the_waiting_for_a_worker() {
    let daemon = Daemon::start_with(Limits { max_in_flight: 8, workers: 1 }, None).await;
    let mut client = daemon.client();
    let first = tokio::spawn(async move { client.search(question("wait")).await });
    daemon.until_waiting(1).await;
    assert_eq!(failure(daemon.search_within("anything", "30m").await).code, Code::DeadlineExceeded);
    daemon.stand_in.open();
    first.await.unwrap().unwrap();
}

#[tokio::test]
async fn work_stops_when_its_caller_goes_away() {
    let daemon = Daemon::start().await;
    let mut client = daemon.client();
    let request = tokio::spawn(async move { client.search(question("wait")).await });
    daemon.until_waiting(1).await;
    request.abort();
    until(|| daemon.stand_in.stopped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn a_request_that_waits_for_its_model_holds_up_nobody() {
    let daemon = Daemon::start_with(Limits { max_in_flight: 8, workers: 1 }, None).await;
    let mut client = daemon.client();
    let waits = tokio::spawn(async move { client.search(question("warm")).await });
    for _ in 0..5 {
        assert!(daemon.search("anything").await.is_ok());
    }
    daemon.stand_in.open();
    assert!(waits.await.unwrap().is_ok());
}

#[tokio::test]
async fn reranked_questions_are_overloaded_among_themselves_and_hold_up_nobody() {
    let daemon = Daemon::start_with(Limits { max_in_flight: 8, workers: 1 }, None).await;
    let reranked = |query: &str| SearchRequest { rerank: Some(true), ..question(query) };
    let mut inside = Vec::new();
    for _ in 0..4 {
        let (mut client, request) = (daemon.client(), reranked("wait"));
        inside.push(tokio::spawn(async move { client.search(request).await }));
    }
    daemon.until_waiting(1).await;
    let refused = loop {
        // Until all four are in, this one may be let in itself, and is late.
        let mut request = Request::new(reranked("anything"));
        request.set_timeout(Duration::from_millis(50));
        let failed = failure(daemon.client().search(request).await);
        if failed.code != Code::DeadlineExceeded {
            break failed;
        }
    };
    assert_eq!(refused.code, Code::Overloaded);
    assert!(refused.retry_after.is_some() && refused.message.contains("reranked"), "{refused:?}");
    for _ in 0..5 {
        assert!(daemon.search("anything").await.is_ok());
    }
    daemon.stand_in.open();
    for request in inside {
        request.await.unwrap().unwrap();
    }
    assert!(daemon.client().search(reranked("anything")).await.is_ok());
}

#[tokio::test]
async fn a_model_that_is_not_there_by_the_deadline_is_warming_up_or_late() {
    let daemon = Daemon::start().await;
    assert_eq!(failure(daemon.search_within("warm", "60m").await).code, Code::DeadlineExceeded);
}

#[tokio::test]
async fn values_out_of_bounds_are_refused_before_anything_is_asked() {
    let daemon = Daemon::start().await;
    for request in [question(""), SearchRequest { top_k: Some(51), ..question("wait") }] {
        let refused = failure(daemon.client().search(request).await);
        assert_eq!(refused.code, Code::InvalidArgument);
        assert!(refused.field.is_some());
    }
    assert_eq!(daemon.stand_in.waiting.load(Ordering::SeqCst), 0);
}

/// Sends a message of one kind to the method of another.
async fn send<M: prost::Message + 'static>(channel: Channel, method: &'static str, message: M) -> Status {
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static(method);
    grpc.unary(Request::new(message), path, ProstCodec::<M, SearchResponse>::default()).await.unwrap_err()
}

#[tokio::test]
async fn bytes_that_are_no_message_are_refused_in_our_words() {
    let daemon = Daemon::start().await;
    let number = ListCollectionsRequest { page_size: Some(7), ..Default::default() };
    let status = send(daemon.channel(), "/footnote.v1.RetrievalService/Search", number).await;
    assert_eq!(status.code(), tonic::Code::InvalidArgument);
    assert!(!status.message().contains("decode"), "{status:?}");
    assert_eq!(Failure::from(status).code, Code::InvalidArgument);

    let large = question(&"x".repeat(1 << 20));
    let status = send(daemon.channel(), "/footnote.v1.RetrievalService/Search", large).await;
    assert_eq!(status.code(), tonic::Code::ResourceExhausted);
    assert_eq!(Failure::from(status).code, Code::TooLarge);

    let status = send(daemon.channel(), "/footnote.v1.RetrievalService/Delete", question("x")).await;
    assert_eq!((status.code(), status.message()), (tonic::Code::Unimplemented, "there is no such operation"));
    assert!(daemon.search("anything").await.is_ok());
}

#[tokio::test]
async fn pages_follow_each_other_to_the_last() {
    let daemon = Daemon::start().await;
    let mut names = vec![];
    let mut page_token = None;
    loop {
        let request = ListCollectionsRequest { page_size: Some(50), page_token };
        let page = daemon.client().list_collections(request).await.unwrap().into_inner();
        names.extend(page.collections.into_iter().map(|collection| collection.name));
        page_token = page.next_page_token;
        if page_token.is_none() {
            break;
        }
    }
    let all: Vec<_> = (0..120).map(|number| format!("c{number:03}")).collect();
    assert_eq!(names, all);
    let request = ListCollectionsRequest { page_token: Some("../etc".into()), page_size: None };
    let status = daemon.client().list_collections(request).await.unwrap_err();
    assert_eq!(Failure::from(status).field.as_deref(), Some("page_token"));
}

#[tokio::test]
async fn nothing_ingested_says_what_to_do() {
    let daemon = Daemon::start().await;
    let status = daemon.client().index_status(proto::v1::IndexStatusRequest::default()).await.unwrap_err();
    let failure = Failure::from(status);
    assert_eq!(failure.code, Code::CollectionNotFound);
    assert!(failure.action(proto::Audience::Local).contains("footnote ingest"));
}

#[tokio::test]
async fn health_and_reflection_are_served() {
    let daemon = Daemon::start().await;
    let mut health = tonic_health::pb::health_client::HealthClient::new(daemon.channel());
    for service in ["", "footnote.v1.RetrievalService"] {
        let request = tonic_health::pb::HealthCheckRequest { service: service.to_owned() };
        let status = health.check(request).await.unwrap().into_inner().status();
        assert_eq!(status, tonic_health::pb::health_check_response::ServingStatus::Serving, "{service}");
    }
    let request = reflection::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(reflection::server_reflection_request::MessageRequest::ListServices(
            String::new(),
        )),
    };
    let mut client = reflection::server_reflection_client::ServerReflectionClient::new(daemon.channel());
    let mut answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let answer = format!("{:?}", answers.message().await.unwrap());
    assert!(answer.contains("footnote.v1.RetrievalService"), "{answer}");
}

#[tokio::test]
async fn what_is_inside_ends_before_the_daemon_does() {
    let mut daemon = Daemon::start().await;
    let mut client = daemon.client();
    let inside = tokio::spawn(async move { client.search(question("wait")).await });
    daemon.until_waiting(1).await;
    daemon.stop.take().unwrap().send(()).unwrap();
    let path = socket(daemon.folder.path());
    until(|| !path.exists()).await;
    assert!(daemon.search("anything").await.is_err(), "no longer listens");
    daemon.stand_in.open();
    inside.await.unwrap().unwrap();
    daemon.served.await.unwrap();
}

#[tokio::test]
async fn a_watched_health_does_not_hold_up_the_end() {
    let mut daemon = Daemon::start().await;
    let mut health = tonic_health::pb::health_client::HealthClient::new(daemon.channel());
    let request = tonic_health::pb::HealthCheckRequest::default();
    let mut watched = health.watch(request).await.unwrap().into_inner();
    watched.message().await.unwrap();
    let began = Instant::now();
    daemon.stop.take().unwrap().send(()).unwrap();
    daemon.served.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(8));
}

#[tokio::test]
async fn a_daemon_that_nobody_asks_leaves() {
    let daemon = Daemon::start_with(LIMITS, Some(Duration::from_secs(2))).await;
    let path = socket(daemon.folder.path());
    assert!(daemon.search("anything").await.is_ok());
    daemon.served.await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn new_generations_are_looked_for() {
    let daemon = Daemon::start().await;
    until(|| daemon.stand_in.refreshed.load(Ordering::SeqCst)).await;
}
