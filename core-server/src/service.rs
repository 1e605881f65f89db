//! The four operations, each a row: how its message is checked, what is asked of the engine, how it is answered.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use engine::collection::CollectionName;
use engine::query::{
    Caller, CollectionSummary, FetchChunk, FetchedChunk, IndexStatus, Notice, Search, SearchAnswer,
};
use engine::stop::Stop;
use proto::failure::Failure;
use proto::v1::retrieval_service_server::RetrievalService;
use proto::{Code, Violation, v1};
use tonic::{Request, Response, Status};
use tracing::{debug, error, trace, warn};

use crate::admission::{Admission, FullHouse, Lane};
use crate::call::Call;
use crate::convert::{self, Occasion, Page, Process};
use crate::failure;

/// How long a request waits for its model where its deadline is later.
const WARM_UP: Duration = Duration::from_secs(10);

/// How often it is asked again meanwhile. Nothing is held between, so that others are served.
const WARM_UP_RETRY: Duration = Duration::from_millis(20);

/// What is asked: the engine, or a stand-in that fails on purpose.
pub trait Answers: Send + Sync + 'static {
    /// See [`Engine::search`].
    fn search(&self, search: &Search, caller: &Caller, stop: &Stop) -> engine::Result<SearchAnswer>;
    /// See [`Engine::fetch_chunk`].
    fn fetch_chunk(&self, fetch: &FetchChunk, caller: &Caller, stop: &Stop) -> engine::Result<FetchedChunk>;
    /// See [`Engine::list_collections`].
    fn list_collections(&self, stop: &Stop) -> engine::Result<(Vec<CollectionSummary>, Vec<Notice>)>;
    /// See [`Engine::index_status`].
    fn index_status(
        &self,
        collection: Option<&CollectionName>,
        caller: &Caller,
        stop: &Stop,
    ) -> engine::Result<IndexStatus>;
    /// See [`Engine::refresh`].
    fn refresh(&self) -> engine::Result<()>;
}

impl Answers for Engine {
    fn search(&self, search: &Search, caller: &Caller, stop: &Stop) -> engine::Result<SearchAnswer> {
        self.search(search, caller, stop)
    }

    fn fetch_chunk(&self, fetch: &FetchChunk, caller: &Caller, stop: &Stop) -> engine::Result<FetchedChunk> {
        self.fetch_chunk(fetch, caller, stop)
    }

    fn list_collections(&self, stop: &Stop) -> engine::Result<(Vec<CollectionSummary>, Vec<Notice>)> {
        self.list_collections(stop)
    }

    fn index_status(
        &self,
        collection: Option<&CollectionName>,
        caller: &Caller,
        stop: &Stop,
    ) -> engine::Result<IndexStatus> {
        self.index_status(collection, caller, stop)
    }

    fn refresh(&self) -> engine::Result<()> {
        self.refresh()
    }
}

/// The service of the contract over what answers.
#[derive(Debug)]
pub struct Service<A> {
    answers: Arc<A>,
    admission: Admission,
    process: Arc<Process>,
}

impl<A> Service<A> {
    /// Serves what `answers`, as many at once as `admission` lets in.
    pub fn new(answers: Arc<A>, admission: Admission, process: Process) -> Self {
        Self { answers, admission, process: Arc::new(process) }
    }
}

/// One operation: the steps of the line that differ.
struct Line<A, M, Asked, Answered, Reply> {
    validate: fn(&M) -> Result<(), Violation>,
    check: fn(M) -> Result<Asked, Failure>,
    lane: fn(&Asked) -> Lane,
    ask: fn(&A, &Asked, &Caller, &Stop) -> engine::Result<Answered>,
    reply: fn(&Asked, Answered, Occasion<'_>) -> (Reply, usize),
}

#[tonic::async_trait]
impl<A: Answers> RetrievalService for Service<A> {
    async fn search(
        &self,
        request: Request<v1::SearchRequest>,
    ) -> Result<Response<v1::SearchResponse>, Status> {
        let line = Line {
            validate: v1::SearchRequest::validate,
            check: convert::search,
            lane: |search| if search.rerank { Lane::Rerank } else { Lane::Plain },
            ask: |answers: &A, search: &Search, caller, stop| {
                trace!(query = search.query, "asked");
                answers.search(search, caller, stop)
            },
            reply: |_, answer, occasion| convert::search_response(answer, occasion),
        };
        self.answer(request, line).await
    }

    async fn fetch_chunk(
        &self,
        request: Request<v1::FetchChunkRequest>,
    ) -> Result<Response<v1::FetchChunkResponse>, Status> {
        let line = Line {
            validate: v1::FetchChunkRequest::validate,
            check: convert::fetch_chunk,
            lane: |_| Lane::Plain,
            ask: |answers: &A, fetch, caller, stop| answers.fetch_chunk(fetch, caller, stop),
            reply: |_, fetched, occasion| convert::fetch_chunk_response(fetched, occasion),
        };
        self.answer(request, line).await
    }

    async fn list_collections(
        &self,
        request: Request<v1::ListCollectionsRequest>,
    ) -> Result<Response<v1::ListCollectionsResponse>, Status> {
        let line = Line {
            validate: v1::ListCollectionsRequest::validate,
            check: convert::list_collections,
            lane: |_| Lane::Plain,
            ask: |answers: &A, _: &Page, _, stop| answers.list_collections(stop),
            reply: convert::list_collections_response,
        };
        self.answer(request, line).await
    }

    async fn index_status(
        &self,
        request: Request<v1::IndexStatusRequest>,
    ) -> Result<Response<v1::IndexStatusResponse>, Status> {
        let line = Line {
            validate: v1::IndexStatusRequest::validate,
            check: convert::index_status,
            lane: |_| Lane::Plain,
            ask: |answers: &A, collection: &Option<CollectionName>, caller, stop| {
                answers.index_status(collection.as_ref(), caller, stop)
            },
            reply: |_, status, occasion| convert::index_status_response(status, occasion),
        };
        self.answer(request, line).await
    }
}

impl<A: Answers> Service<A> {
    /// The straight line: message → checked query → admission → engine on a worker → message.
    async fn answer<M, Asked, Answered, Reply>(
        &self,
        request: Request<M>,
        line: Line<A, M, Asked, Answered, Reply>,
    ) -> Result<Response<Reply>, Status>
    where
        Asked: Send + Sync + 'static,
        Answered: 'static,
        Reply: Send + 'static,
    {
        let (_, mut extensions, message) = request.into_parts();
        let call: Call = extensions.remove().unwrap_or_default();
        match self.reply(message, line, &call).await {
            Ok((reply, results)) => {
                call.answered(results);
                Ok(Response::new(reply))
            }
            Err(failure) => Err(call.failed(failure)),
        }
    }

    async fn reply<M, Asked, Answered, Reply>(
        &self,
        message: M,
        line: Line<A, M, Asked, Answered, Reply>,
        call: &Call,
    ) -> Result<(Reply, usize), Failure>
    where
        Asked: Send + Sync + 'static,
        Answered: 'static,
        Reply: Send + 'static,
    {
        let Line { validate, check, lane, ask, reply } = line;
        validate(&message)?;
        let asked = Arc::new(check(message)?);
        let ticket = self.admission.enter(lane(&asked)).map_err(|full| full_house(&full))?;
        let caller = Arc::new(caller(call));
        loop {
            let (answers, process) = (Arc::clone(&self.answers), Arc::clone(&self.process));
            let (asked, caller, call_there) = (Arc::clone(&asked), Arc::clone(&caller), call.clone());
            let answered = ticket.run(move |queued| {
                call_there.stop.check()?;
                let answered = ask(&answers, &asked, &caller, &call_there.stop)?;
                let (began, audience) = (call_there.began, call_there.audience());
                Ok(reply(&asked, answered, Occasion { began, queued, audience, process: &process }))
            });
            match answered.await {
                Ok(Err(engine::Error::WarmingUp)) if call.began.elapsed() < WARM_UP => {
                    tokio::time::sleep(WARM_UP_RETRY).await;
                }
                Ok(Ok(replied)) => return Ok(replied),
                Ok(Err(error)) => return Err(said(&error)),
                Err(panicked) => {
                    error!(panic = panicked.0, "a request panicked");
                    return Err(Failure::new(Code::Internal));
                }
            }
        }
    }
}

fn caller(call: &Call) -> Caller {
    let front = &call.caller;
    Caller { working_directory: front.working_directory.clone(), open_paths: front.open_paths }
}

fn full_house(full: &FullHouse) -> Failure {
    let overloaded = Code::Overloaded;
    match full.0 {
        Lane::Plain => Failure::new(overloaded),
        Lane::Rerank => {
            let action = "wait a moment and ask again, or leave `rerank` out";
            Failure::with_message(overloaded, "as many questions are being reranked as may be")
                .advise(action, action)
        }
    }
}

/// Says a failure to the caller, and its cause to the log where someone must act.
fn said(error: &engine::Error) -> Failure {
    let failure = failure::of(error);
    let cause = Chain(error);
    if matches!(failure.code, Code::Internal | Code::IndexDamaged) {
        error!(error = %cause, "a request failed");
    } else if matches!(failure.code, Code::ModelMismatch | Code::ModeUnavailable) {
        warn!(error = %cause, "a request failed");
    } else {
        debug!(error = %cause, "a request was refused");
    }
    failure
}

/// An error with all its causes.
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn std::error::Error + 'static));

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut cause = Some(self.0);
        let mut before = "";
        while let Some(error) = cause {
            write!(f, "{before}{error}")?;
            (before, cause) = (": ", error.source());
        }
        Ok(())
    }
}
