//! What there is and how fresh it is. Deliberately left out: paths, sources and texts.

use crate::collection::CollectionName;
use crate::engine::Engine;
use crate::error::Result;
use crate::generation::manifest::{Manifest, ModelIdentity};
use crate::index::Collection;
use crate::model::Models;
use crate::query::{Caller, CollectionSummary, IndexStatus, Mode, ModelState, Notice};
use crate::stop::Stop;

pub(crate) fn list_collections(
    engine: &Engine,
    stop: &Stop,
) -> Result<(Vec<CollectionSummary>, Vec<Notice>)> {
    stop.check()?;
    let seen = engine.index().seen();
    let summaries =
        seen.collections.values().map(|collection| summary(collection, engine.models())).collect();
    Ok((summaries, seen.notices()))
}

pub(crate) fn index_status(
    engine: &Engine,
    collection: Option<&CollectionName>,
    caller: &Caller,
    stop: &Stop,
) -> Result<IndexStatus> {
    stop.check()?;
    let collection = engine.index().resolve(collection, caller)?;
    let manifest = collection.generation().manifest();
    let (model_state, mut notices) = standing(manifest, engine.models());
    let pending_chunks = pending_chunks(manifest);
    if pending_chunks > 0 {
        notices.push(Notice::EmbeddingPending { chunks: pending_chunks });
    }
    if engine.reranker().has_failed() {
        notices.push(Notice::RerankerFailed);
    }
    Ok(IndexStatus {
        summary: summary(&collection, engine.models()),
        schema_version: manifest.schema_version,
        pending_chunks,
        skipped: manifest.skipped.iter().map(|(reason, files)| (reason.clone(), *files)).collect(),
        model: manifest.model.clone(),
        model_state,
        loaded_models: engine.models().loaded().into_iter().chain(engine.reranker().loaded()).collect(),
        reranker: engine.reranker().name(),
        open_generations: u32::try_from(engine.index().open_generations()).unwrap_or(u32::MAX),
        notices,
    })
}

fn summary(collection: &Collection, models: &Models) -> CollectionSummary {
    let manifest = collection.generation().manifest();
    CollectionSummary {
        name: collection.name().clone(),
        documents: manifest.documents,
        chunks: manifest.chunks,
        generation: manifest.generation,
        published_at: manifest.published_at,
        modes: modes(manifest, models),
    }
}

/// The rankings that a question is answered with now; while the model loads a question waits for it.
fn modes(manifest: &Manifest, models: &Models) -> Vec<Mode> {
    match standing(manifest, models).0 {
        ModelState::Loading | ModelState::Loaded => vec![Mode::Hybrid, Mode::Bm25, Mode::Dense],
        ModelState::None | ModelState::NotInstalled | ModelState::Failed => vec![Mode::Bm25],
    }
}

/// What this process has of the collection's model, and what that degrades.
fn standing(manifest: &Manifest, models: &Models) -> (ModelState, Vec<Notice>) {
    let Some(bound) = bound(manifest) else { return (ModelState::None, vec![Notice::NoVectors]) };
    let state = models.state(bound);
    let model = bound.name.clone();
    let notices = match state {
        ModelState::NotInstalled => vec![Notice::ModelNotInstalled { model }],
        ModelState::Failed => vec![Notice::ModelFailed { model }],
        ModelState::None | ModelState::Loading | ModelState::Loaded => Vec::new(),
    };
    (state, notices)
}

/// The model that the collection's vectors were made with.
fn bound(manifest: &Manifest) -> Option<&ModelIdentity> {
    manifest.model.as_ref().filter(|_| manifest.vectors)
}

/// Chunks that a model is bound for and that have no vectors yet: all or none.
fn pending_chunks(manifest: &Manifest) -> u32 {
    if manifest.model.is_some() && !manifest.vectors { manifest.chunks } else { 0 }
}
