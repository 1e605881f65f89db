//! Hits as an answer gives them: the passage and its standing, what is around it, and what it was ranked by.

use super::explain::passage_window;
use super::ranking::Ranking;
use super::{Beside, Checked, Found, Question, timed};
use crate::citation::ByteRange;
use crate::engine::Engine;
use crate::error::Result;
use crate::exact::{self, Literal};
use crate::generation::Generation;
use crate::index::Collection;
use crate::lexical::record::ChunkRecord;
use crate::query::{Caller, Hit, Neighbor, Passage, ScoreScale, Window};
use crate::verify::Finding;

/// Who tells whom of the chunks of one generation.
#[derive(Clone, Copy)]
pub(crate) struct Speaker<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) collection: &'a Collection,
    pub(crate) generation: &'a Generation,
    pub(crate) caller: &'a Caller,
}

impl Speaker<'_> {
    /// What an answer says of a chunk that was checked.
    pub(crate) fn passage(&self, record: ChunkRecord, finding: Finding) -> Passage {
        let Self { engine, collection, generation, caller } = self;
        let source = &finding.place.source;
        let path_of = || engine.verifier().path_of(collection.name(), collection.generation(), source);
        let path = caller.open_paths.then(path_of).flatten();
        Passage::new(collection.name(), generation.id(), record, finding, path)
    }
}

impl Question<'_> {
    /// The first of `found`, as many as were checked.
    pub(super) fn hits(
        &mut self,
        speaker: &Speaker<'_>,
        ranking: &Ranking,
        found: Vec<Found>,
        checked: Checked,
    ) -> Result<Vec<Hit>> {
        let mut findings_beside = checked.findings_beside.into_iter();
        let mut hits = Vec::with_capacity(checked.hits.len());
        for ((found, finding), beside) in found.into_iter().zip(checked.hits).zip(checked.beside.of_hits) {
            let neighbor = |(beside, finding): (Beside, Finding)| Neighbor {
                side: beside.side,
                passage: speaker.passage(beside.record, finding),
            };
            let neighbors = beside.into_iter().zip(findings_beside.by_ref()).map(neighbor).collect();
            hits.push(self.hit(speaker, ranking, found, finding, neighbors)?);
        }
        Ok(hits)
    }

    fn hit(
        &mut self,
        speaker: &Speaker<'_>,
        ranking: &Ranking,
        found: Found,
        finding: Finding,
        neighbors: Vec<Neighbor>,
    ) -> Result<Hit> {
        let Found { place, record, scale, rerank_score, nth_of_document } = found;
        let also_at = self.also_at(speaker.collection, place.address, &record)?;
        let window = self.window(ranking, &record)?;
        let literals = self.held(&record);
        let passage = speaker.passage(record, finding);
        Ok(Hit {
            highlights: self.highlights(passage.text.as_deref()),
            passage,
            score: match scale {
                ScoreScale::Bm25 => place.exact.raised(place.score, self.best),
                ScoreScale::Cosine => place.score,
                ScoreScale::Fused | ScoreScale::Rerank => place.exact.raised_share(place.score),
            },
            score_scale: scale,
            bm25: place.bm25,
            dense: place.dense,
            rerank_score,
            nth_of_document,
            also_at,
            neighbors,
            window,
            literal_rank: place.literal_rank,
            literals,
        })
    }

    fn highlights(&mut self, text: Option<&str>) -> Vec<ByteRange> {
        let ranges = |text| self.highlighter.ranges(text);
        timed(&mut self.stats.highlight, || text.map(ranges).unwrap_or_default())
    }

    /// What a hit holds of what the question names literally.
    fn held(&mut self, record: &ChunkRecord) -> Vec<String> {
        if !self.search.explain {
            return Vec::new();
        }
        timed(&mut self.stats.explain, || {
            let text = exact::Text::new(&record.text);
            let held = |literal: &&Literal| text.occurrence(literal).is_some();
            self.legs.literals.iter().filter(held).map(|literal| literal.text().to_owned()).collect()
        })
    }

    /// How much of a hit the model read.
    fn window(&mut self, ranking: &Ranking, record: &ChunkRecord) -> Result<Option<Window>> {
        let model = ranking.model().filter(|_| self.search.explain);
        timed(&mut self.stats.explain, || model.map(|model| passage_window(model, record)).transpose())
    }
}
