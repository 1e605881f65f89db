//! From what a generation is to hold to the generation: with words alone, with the vectors that are there, or with all of them.
//!
//! Deliberately left out: the durable steps (`publish`).

use std::thread;

use engine::analysis::ANALYZER;
use engine::generation::current::Current;
use engine::generation::manifest::{Manifest, ModelIdentity, SCHEMA_VERSION};
use engine::generation::{Generation, LEXICAL_FOLDER, SKIPPED_FILE, VECTORS_FOLDER, text_file};
use engine::id::DocumentId;
use engine::lexical::Lexical;
use engine::model::Loaded;
use serde_json::json;

use super::contents::Contents;
use super::{Model, Run, Update};
use crate::chunk::CHUNKER;
use crate::embed::{self, identity_in_words};
use crate::error::{Error, Result};
use crate::file_table;
use crate::parent::Parent;
use crate::publish::{self, Draft};
use crate::skipped;
use crate::summary::Vectors;
use crate::vectors::{self, Survey, Written, has_vectors_of};

/// With fewer chunks to embed than this, some three seconds, a first ingest publishes once and not twice.
const WORTH_TWO_GENERATIONS: usize = 256;

/// Embeddings that the catalog keeps at least, and how many per chunk of the collection.
const KEPT_EMBEDDINGS: u64 = 20_000;
const KEPT_EMBEDDINGS_PER_CHUNK: u64 = 2;

impl<'a> Run<'a> {
    pub(super) fn publish(&mut self, parent: Option<Parent>, needed: &mut u64) -> Result<()> {
        let (staged, draft) = self.stage(parent.as_ref())?;
        let contents = self.contents(parent.as_ref(), staged.as_ref())?;
        self.summarise(&contents, parent.as_ref(), staged);
        let news = draft.is_some() || self.is_news(parent.as_ref(), &contents)?;
        let before = parent.as_ref().filter(|parent| parent.generation.manifest().vectors);
        match &self.model {
            Model::Installed(model) | Model::Away(model)
                if !news && before.is_some_and(|parent| has_vectors_of(&parent.generation, model)) =>
            {
                self.summary.vectors = Vectors::Complete { model: model.name.clone() };
                self.nothing_new(parent)
            }
            Model::Installed(model) => {
                let model = model.clone();
                self.publish_with_vectors(parent, draft, &contents, &model, needed)
            }
            Model::Away(model) if before.is_some() => {
                let model = model.clone();
                self.publish_with_what_is_there(parent.as_ref(), draft, &contents, &model)
            }
            Model::Away(model) => {
                self.summary.vectors = Vectors::ModelAway { model: model.name.clone() };
                self.publish_words_only(parent, draft, &contents, news)
            }
            Model::NoneInstalled(names) => {
                self.summary.vectors = Vectors::NoModel { installed: names.clone() };
                self.publish_words_only(parent, draft, &contents, news)
            }
            Model::Refused => {
                self.summary.vectors = Vectors::Refused;
                let bound =
                    parent.as_ref().is_some_and(|parent| parent.generation.manifest().model.is_some());
                self.publish_words_only(parent, draft, &contents, news || bound)
            }
        }
    }

    /// The last generation says all there is to say; what was compared need not be compared again.
    fn nothing_new(&mut self, parent: Option<Parent>) -> Result<()> {
        self.catalog.keep_seen(self.look.same.iter().map(|(source, seen)| (source.as_str(), seen)))?;
        if let Some(parent) = parent {
            self.summary.generation = parent.generation.id().number();
            publish::prune(self.folder, parent.generation.id())?;
        }
        Ok(())
    }

    fn publish_words_only(
        &mut self,
        parent: Option<Parent>,
        draft: Option<Draft<'a>>,
        contents: &Contents,
        news: bool,
    ) -> Result<()> {
        if !news {
            return self.nothing_new(parent);
        }
        let draft = match draft {
            Some(draft) => draft,
            None => self.draft_of(parent.as_ref())?,
        };
        let bound = match &self.model {
            Model::Away(model) => Some(model.clone()),
            Model::Installed(_) | Model::NoneInstalled(_) | Model::Refused => None,
        };
        self.seal(parent.as_ref(), draft, contents, Side { vectors: false, bound })?;
        Ok(())
    }

    /// The model is not there: vectors are kept where every chunk has one all the same.
    fn publish_with_what_is_there(
        &mut self,
        parent: Option<&Parent>,
        draft: Option<Draft<'a>>,
        contents: &Contents,
        model: &ModelIdentity,
    ) -> Result<()> {
        let mut draft = match draft {
            Some(draft) => draft,
            None => self.draft_of(parent)?,
        };
        let lexical = Lexical::open_counted(&draft.path().join(LEXICAL_FOLDER), &contents.tokens)?;
        let base = parent.map(|parent| &parent.generation);
        let survey = vectors::survey(&lexical, base, model, self.catalog)?;
        let complete = survey.missing.is_empty()
            && vectors::write(&mut draft, &survey, base, model, self.catalog)? == Written::Complete;
        if complete {
            self.summary.vectors = Vectors::Complete { model: model.name.clone() };
        } else {
            draft.forget(VECTORS_FOLDER)?;
            self.summary.vectors = Vectors::ModelAway { model: model.name.clone() };
        }
        self.seal(parent, draft, contents, Side { vectors: complete, bound: Some(model.clone()) })?;
        Ok(())
    }

    fn publish_with_vectors(
        &mut self,
        mut parent: Option<Parent>,
        mut draft: Option<Draft<'a>>,
        contents: &Contents,
        model: &ModelIdentity,
        needed: &mut u64,
    ) -> Result<()> {
        let folder = match (&draft, &parent) {
            (None, Some(parent)) => parent.generation.folder().join(LEXICAL_FOLDER),
            (draft, _) => {
                let draft = draft.as_ref().ok_or(Error::NothingToIngest)?;
                draft.path().join(LEXICAL_FOLDER)
            }
        };
        let mut lexical = Lexical::open_counted(&folder, &contents.tokens)?;
        let base = parent.as_ref().map(|parent| &parent.generation);
        let mut survey = vectors::survey(&lexical, base, model, self.catalog)?;
        *needed += survey.missing.len() as u64 * u64::from(model.dimensions) * 6;
        let had_vectors = base.is_some_and(|base| base.manifest().vectors);
        if survey.missing.len() >= WORTH_TWO_GENERATIONS
            && !had_vectors
            && let Some(draft) = draft.take()
        {
            let published =
                self.seal(parent.as_ref(), draft, contents, Side { vectors: false, bound: None })?;
            self.say_searchable(&published);
            lexical = Lexical::open_counted(&published.folder().join(LEXICAL_FOLDER), &contents.tokens)?;
            parent = Some(Parent::of(published, true)?);
        }
        loop {
            self.embed(&survey, &lexical, model)?;
            let mut complete = match draft.take() {
                Some(draft) => draft,
                None => self.draft_of(parent.as_ref())?,
            };
            let base = parent.as_ref().map(|parent| &parent.generation);
            if vectors::write(&mut complete, &survey, base, model, self.catalog)? == Written::Complete {
                self.summary.vectors = Vectors::Complete { model: model.name.clone() };
                let side = Side { vectors: true, bound: Some(model.clone()) };
                self.seal(parent.as_ref(), complete, contents, side)?;
                return Ok(());
            }
            // The catalog was damaged while it was in use: what it lost is made again.
            complete.forget(VECTORS_FOLDER)?;
            draft = Some(complete);
            survey = vectors::survey(&lexical, base, model, self.catalog)?;
        }
    }

    /// The model, in memory until the collection is done.
    pub(super) fn loaded(&mut self, name: &str, sessions: usize) -> Result<Loaded> {
        if let Some(loaded) = &self.loaded {
            return Ok(Loaded::clone(loaded));
        }
        let loaded = self.update.store.load(name, sessions)?;
        self.loaded = Some(Loaded::clone(&loaded));
        Ok(loaded)
    }

    fn say_searchable(&self, published: &Generation) {
        let (collection, chunks) = (&self.target.collection, published.manifest().chunks);
        self.update.progress.say(
            "searchable",
            &format!("{collection} can be searched by words (bm25) now: {chunks} chunks"),
            json!({"collection": collection, "generation": published.id().number(), "chunks": chunks}),
        );
    }

    fn embed(&mut self, survey: &Survey, lexical: &Lexical, model: &ModelIdentity) -> Result<()> {
        if survey.missing.is_empty() {
            return Ok(());
        }
        let sessions = thread::available_parallelism().map_or(1, usize::from).min(survey.missing.len());
        let loaded = self.loaded(&model.name, sessions)?;
        if loaded.identity() != model {
            return Err(Error::OtherModel {
                name: self.target.collection.clone(),
                bound: identity_in_words(model),
                asked: identity_in_words(loaded.identity()),
                asked_name: model.name.clone(),
            });
        }
        let Update { interrupt, progress, .. } = self.update;
        let embedded =
            embed::embed(loaded.as_ref(), lexical, &survey.missing, self.catalog, interrupt, progress)?;
        self.summary.embedded += embedded.texts;
        self.summary.truncated += embedded.truncated;
        Ok(())
    }

    /// A draft with the parent's index as it is.
    fn draft_of(&self, parent: Option<&Parent>) -> Result<Draft<'a>> {
        let mut draft = Draft::begin(self.folder)?;
        if let Some(parent) = parent {
            draft.link_all(&parent.generation, LEXICAL_FOLDER)?;
        }
        Ok(draft)
    }

    /// Writes what belongs to a generation beside its index, publishes it, and opens it.
    fn seal(
        &mut self,
        parent: Option<&Parent>,
        mut draft: Draft<'a>,
        contents: &Contents,
        side: Side,
    ) -> Result<Generation> {
        let base = parent.map(|parent| (&parent.generation, &parent.files));
        let file_segments = file_table::write(&mut draft, base, &contents.files)?;
        let skipped = skipped::lines(&contents.skipped);
        draft.write(SKIPPED_FILE, skipped.as_bytes())?;
        if let Some(parent) = parent {
            keep_texts(&mut draft, &parent.generation, contents)?;
        }
        self.update.interrupt.check()?;
        let evidence = self.calibrate(parent, &draft, contents, &side)?;
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            written_by: concat!("footnote-index ", env!("CARGO_PKG_VERSION")).to_owned(),
            collection: self.target.collection.clone(),
            generation: draft.generation(),
            parent: parent.map(|parent| parent.generation.id()),
            published_at: jiff::Timestamp::now(),
            scope: self.target.scope.clone(),
            chunker: CHUNKER.to_owned(),
            analyzer: ANALYZER.to_owned(),
            model: side.bound,
            vectors: side.vectors,
            documents: u32::try_from(contents.files.len()).unwrap_or(u32::MAX),
            chunks: contents.chunks,
            tokens: contents.tokens.clone(),
            skipped: skipped::counts(&contents.skipped),
            ignored: contents.ignored.clone(),
            evidence,
            file_segments,
            files: Vec::new(),
        };
        let current = draft.publish(manifest)?;
        self.published(&current, contents.chunks)?;
        Ok(Generation::open_current(self.folder.path(), &current)?)
    }

    /// What is to be done once a generation is current. None of it matters to a reader.
    fn published(&mut self, current: &Current, chunks: u32) -> Result<()> {
        self.summary.generation = current.generation.number();
        self.summary.published = true;
        publish::prune(self.folder, current.generation)?;
        let kept = (u64::from(chunks) * KEPT_EMBEDDINGS_PER_CHUNK).max(KEPT_EMBEDDINGS);
        self.catalog.forget_seen()?;
        self.catalog.prune_embeddings(kept)?;
        self.catalog.note("published", &current.generation.to_string())
    }
}

/// Links the extractors' output of every document that the draft holds and did not read anew.
fn keep_texts(draft: &mut Draft<'_>, parent: &Generation, contents: &Contents) -> Result<()> {
    for (source, _) in contents.files.iter().filter(|(_, state)| state.extractor.is_some()) {
        let path = text_file(DocumentId::of_source(source));
        if !draft.path().join(&path).exists() {
            draft.link(parent, &path)?;
        }
    }
    Ok(())
}

/// What a generation has beside words.
pub(super) struct Side {
    pub(super) vectors: bool,
    pub(super) bound: Option<ModelIdentity>,
}
