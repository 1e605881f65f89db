//! A question's straight line: collection, ranking, legs, fusion, texts, verdicts.
//!
//! The whole answer is from the generation that the request began with, whatever is published meanwhile.
//!
//! Deliberately left out: waiting. While a model is being loaded the answer is [`Error::WarmingUp`](crate::Error::WarmingUp), at once, and
//! whoever asked may ask again: no thread is held by a request that could not use it.

mod ranking;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::ranking::Ranking;
use crate::citation::{Reason, Verdict};
use crate::dense::Among;
use crate::engine::Engine;
use crate::error::Result;
use crate::fusion::{self, DEPTH, DenseWeight, Fused};
use crate::generation::Generation;
use crate::index::Collection;
use crate::lexical::record::ChunkRecord;
use crate::lexical::{Candidate, Selection, WordQuery};
use crate::model::Embed;
use crate::query::{Caller, Hit, LegPlace, Notice, Passage, Search, SearchAnswer, Stats, Truncation};
use crate::stop::Stop;
use crate::verify::{Finding, Generations};

/// Ranks passages of one collection and checks each against its source.
pub(crate) fn search(engine: &Engine, search: &Search, caller: &Caller, stop: &Stop) -> Result<SearchAnswer> {
    stop.check()?;
    let collection = engine.index().resolve(search.collection.as_ref(), caller)?;
    let (ranking, mut notices) = Ranking::choose(search.mode, &collection, engine.models())?;
    let generation = collection.generation();
    let mut question = Question { search, generation, selection: None, stop, stats: Stats::default() };
    notices.extend(question.select()?);
    let ranked = question.rank(&ranking)?;
    let records = question.load(&ranked)?;
    let (returned, truncated) = cut(&records, search.max_bytes);
    let findings = question.verify(engine, &collection, &records[..returned])?;
    notices.extend(not_verified(&findings));
    let stats = question.stats;
    let scale = ranking.scale();
    let hits = ranked.into_iter().zip(records).zip(findings);
    let hits = hits.map(|((place, record), finding)| {
        let path = caller.open_paths.then(|| {
            engine.verifier().path_of(collection.name(), collection.generation(), &finding.place.source)
        });
        let (name, generation) = (collection.name(), collection.generation().id());
        Hit {
            passage: Passage::new(name, generation, record, finding, path.flatten()),
            score: place.score,
            score_scale: scale,
            bm25: place.bm25,
            dense: place.dense,
        }
    });
    Ok(SearchAnswer {
        collection: collection.name().clone(),
        generation: collection.generation().id(),
        mode: ranking.mode(),
        hits: hits.collect(),
        truncated,
        notices,
        stats,
    })
}

/// A search on its way, and the time it took so far.
struct Question<'a> {
    search: &'a Search,
    generation: &'a Generation,
    /// The rows that the filter leaves; `None` where there is no filter.
    selection: Option<Arc<Selection>>,
    stop: &'a Stop,
    stats: Stats,
}

impl Question<'_> {
    /// Finds what the filter leaves, before anything is ranked.
    fn select(&mut self) -> Result<Option<Notice>> {
        let Search { filter, .. } = self.search;
        if filter.is_empty() {
            return Ok(None);
        }
        let selection = timed(&mut self.stats.filter, || self.generation.selection(filter, self.stop))?;
        let nothing = selection.is_empty().then_some(Notice::NothingLeft);
        self.selection = Some(selection);
        Ok(nothing)
    }

    /// The best chunks with their places, as many as were asked for.
    fn rank(&mut self, ranking: &Ranking) -> Result<Vec<Fused>> {
        if self.selection.as_ref().is_some_and(|selection| selection.is_empty()) {
            return Ok(Vec::new());
        }
        let top_k = self.search.top_k;
        let mut ranked = match ranking {
            Ranking::Bm25 => self.bm25(top_k)?.into_iter().zip(1..).map(place_in_bm25).collect(),
            Ranking::Dense(model) => {
                self.dense(&**model, top_k)?.into_iter().zip(1..).map(place_in_dense).collect()
            }
            Ranking::Hybrid(model) => {
                let depth = top_k.max(DEPTH);
                let (bm25, dense) = (self.bm25(depth)?, self.dense(&**model, depth)?);
                let weight = DenseWeight::of(&self.search.query, model.languages());
                timed(&mut self.stats.fusion, || fusion::fuse(&bm25, &dense, weight))
            }
        };
        ranked.truncate(top_k);
        self.stop.check()?;
        Ok(ranked)
    }

    fn bm25(&mut self, k: usize) -> Result<Vec<Candidate>> {
        let lexical = self.generation.lexical()?;
        let (query, selection) = (WordQuery::of(&self.search.query), self.selection.as_deref());
        timed(&mut self.stats.bm25, || lexical.search_in(&query, k, selection, self.stop))
    }

    fn dense(&mut self, model: &dyn Embed, k: usize) -> Result<Vec<Candidate>> {
        let (lexical, vectors) = (self.generation.lexical()?, self.generation.vectors()?);
        let vector = timed(&mut self.stats.embed, || model.embed_query(&self.search.query))?;
        self.stop.check()?;
        let readers = lexical.searcher().segment_readers();
        let selection = self.selection.as_deref();
        let segments = (0..).zip(vectors).zip(readers).map(|((segment, vectors), reader)| match selection {
            Some(selection) => (vectors, Some(Among::Selected(selection.rows(segment)))),
            None => (vectors, reader.alive_bitset().map(Among::Alive)),
        });
        let segments: Vec<_> = segments.collect();
        let tie = |address| lexical.tie(address);
        let scanned =
            timed(&mut self.stats.dense, || crate::dense::scan(&segments, &vector, k, &tie, self.stop))?;
        let candidate = |(address, score)| Candidate { address, score, tie: lexical.tie(address) };
        Ok(scanned.into_iter().map(candidate).collect())
    }

    fn load(&mut self, ranked: &[Fused]) -> Result<Vec<ChunkRecord>> {
        let lexical = self.generation.lexical()?;
        timed(&mut self.stats.load, || ranked.iter().map(|place| lexical.record(place.address)).collect())
    }

    fn verify(
        &mut self,
        engine: &Engine,
        collection: &Collection,
        records: &[ChunkRecord],
    ) -> Result<Vec<Finding>> {
        if !self.search.verify {
            let unchecked = |record| Finding::unchecked(record, Reason::NotRequested);
            return Ok(records.iter().map(unchecked).collect());
        }
        let generations = Generations { cited: self.generation, current: self.generation };
        let records: Vec<&ChunkRecord> = records.iter().collect();
        timed(&mut self.stats.verify, || {
            engine.verifier().check(collection.name(), generations, &records, self.stop)
        })
    }
}

fn place_in_bm25((candidate, rank): (Candidate, u32)) -> Fused {
    let place = LegPlace { score: candidate.score.into(), rank };
    Fused { score: place.score, bm25: Some(place), ..Fused::alone(&candidate) }
}

fn place_in_dense((candidate, rank): (Candidate, u32)) -> Fused {
    let place = LegPlace { score: candidate.score.into(), rank };
    Fused { score: place.score, dense: Some(place), ..Fused::alone(&candidate) }
}

/// How many of the records fit into `max_bytes` of text, the first in any case, and what is left out.
fn cut(records: &[ChunkRecord], max_bytes: usize) -> (usize, Option<Truncation>) {
    let mut bytes = 0;
    let fits = |record: &&ChunkRecord| {
        bytes += record.text.len();
        bytes <= max_bytes
    };
    let returned = records.iter().take_while(fits).count().max(records.len().min(1));
    if returned == records.len() {
        return (returned, None);
    }
    let size = |records: &[ChunkRecord]| {
        u32::try_from(records.iter().map(|record| record.text.len()).sum::<usize>()).unwrap_or(u32::MAX)
    };
    let count = |hits: usize| u32::try_from(hits).unwrap_or(u32::MAX);
    let truncation = Truncation {
        total_hits: count(records.len()),
        returned_hits: count(returned),
        total_bytes: size(records),
        returned_bytes: size(&records[..returned]),
    };
    (returned, Some(truncation))
}

/// How many hits do not stand where they were indexed, by verdict.
fn not_verified(findings: &[Finding]) -> Option<Notice> {
    let verdicts = [Verdict::Relocated, Verdict::Drifted, Verdict::Missing, Verdict::Unresolvable];
    let count = |verdict| findings.iter().filter(|finding| finding.verdict() == verdict).count();
    let counts: Vec<(Verdict, u32)> = verdicts
        .into_iter()
        .map(|verdict| (verdict, u32::try_from(count(verdict)).unwrap_or(u32::MAX)))
        .filter(|(_, count)| *count > 0)
        .collect();
    (!counts.is_empty()).then_some(Notice::NotVerified { counts })
}

fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    *time += begun.elapsed();
    done
}
