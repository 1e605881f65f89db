//! What the socket, admission and the log line cost: a request that asks nothing of the engine, beside the
//! health check, which passes neither.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot start has nothing to measure")]

use std::sync::Arc;

use core_server::config::Limits;
use core_server::listener::{Listener, Place};
use core_server::server;
use core_server::service::Answers;
use criterion::{Criterion, criterion_group, criterion_main};
use engine::collection::CollectionName;
use engine::query::{
    Caller, CollectionSummary, FetchChunk, FetchedChunk, IndexStatus, Mode, Notice, Search, SearchAnswer,
};
use engine::stop::Stop;
use proto::v1::SearchRequest;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// Finds nothing, at once.
struct Nothing;

impl Answers for Nothing {
    fn search(&self, _: &Search, _: &Caller, _: &Stop) -> engine::Result<SearchAnswer> {
        Ok(SearchAnswer {
            evidence: engine::evidence::Evidence::NO_HITS,
            collection: "docs".parse().unwrap(),
            generation: engine::generation::GenerationId::FIRST,
            mode: Mode::Bm25,
            hits: vec![],
            reranked: None,
            truncated: None,
            notices: vec![],
            explanation: None,
            stats: engine::query::Stats::default(),
        })
    }

    fn fetch_chunk(&self, _: &FetchChunk, _: &Caller, _: &Stop) -> engine::Result<FetchedChunk> {
        Err(engine::Error::NothingIngested)
    }

    fn list_collections(&self, _: &Stop) -> engine::Result<(Vec<CollectionSummary>, Vec<Notice>)> {
        Ok((vec![], vec![]))
    }

    fn index_status(&self, _: Option<&CollectionName>, _: &Caller, _: &Stop) -> engine::Result<IndexStatus> {
        Err(engine::Error::NothingIngested)
    }

    fn refresh(&self) -> engine::Result<()> {
        Ok(())
    }
}

fn empty_request(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let log = proto::settings::Log {
        filter: "info".to_owned(),
        format: proto::settings::LogFormat::Text,
        file: Some(folder.path().join("log")),
    };
    proto::telemetry::start(&log).unwrap();
    let socket = folder.path().join("run/core.sock");
    let place = Place {
        socket: socket.clone().try_into().unwrap(),
        index_lock: folder.path().join("run/index.lock"),
        group: None,
        allowed_uids: vec![],
    };
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (daemon, client) =
        (runtime(), tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    let listener = daemon.block_on(Listener::bind(&place)).unwrap();
    let limits = Limits { max_in_flight: 64, workers: 2 };
    daemon.spawn(server::serve(listener, Arc::new(Nothing), limits, None, std::future::pending()));
    let channel = client.block_on(async {
        Endpoint::try_from(format!("unix:{}", socket.display())).unwrap().connect().await.unwrap()
    });
    let mut group = criterion.benchmark_group("socket");
    group.bench_function("health check", |bencher| {
        let mut health = HealthClient::new(channel.clone());
        bencher.iter(|| client.block_on(health.check(HealthCheckRequest::default())).unwrap());
    });
    group.bench_function("empty search", |bencher| {
        let mut service = RetrievalServiceClient::new(channel.clone());
        let request = SearchRequest { query: "nothing".to_owned(), ..SearchRequest::default() };
        bencher.iter(|| client.block_on(service.search(request.clone())).unwrap());
    });
    group.finish();
}

criterion_group!(benches, empty_request);
criterion_main!(benches);
