//! A question's straight line: collection, ranking, legs, fusion, texts, verdicts.
//!
//! The whole answer is from the generation that the request began with, whatever is published meanwhile.
//!
//! Deliberately left out: waiting. While a model is being loaded the answer is [`Error::WarmingUp`](crate::Error::WarmingUp), at once, and
//! whoever asked may ask again: no thread is held by a request that could not use it.

mod copies;
mod explain;
mod hits;
mod legs;
mod neighbors;
mod ranking;
mod rerank;
mod room;
mod variety;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tantivy::DocAddress;

use self::explain::{Legs, explanation};
pub(crate) use self::hits::Speaker;
pub(crate) use self::neighbors::{Beside, Surroundings, surroundings};
use self::ranking::Ranking;
use self::rerank::Reranking;
use self::room::{bytes, fitting, sections_left_out, truncation};
use self::variety::{Candidates, spread};
use crate::citation::{Reason, Verdict};
use crate::engine::Engine;
use crate::error::Result;
use crate::evidence::{Evidence, Seen, Similarity};
use crate::exact::Exact;
use crate::fusion::{self, DEPTH, Fused};
use crate::generation::Generation;
use crate::highlight::Highlighter;
use crate::index::Collection;
use crate::lexical::record::ChunkRecord;
use crate::lexical::{Selection, WordQuery};
use crate::query::{Caller, Explanation, Notice, Reranked, ScoreScale, Search, SearchAnswer, Stats};
use crate::stop::Stop;
use crate::verify::{Finding, Generations};

/// Candidates are looked at so many times as deep where copies of few texts are the best of them.
const DEEPER: usize = 8;

/// They are looked at no deeper: thousands of copies are a collection's own fault.
const DEEPEST: usize = 6_400;

/// Ranks passages of one collection and checks each against its source.
pub(crate) fn search(engine: &Engine, search: &Search, caller: &Caller, stop: &Stop) -> Result<SearchAnswer> {
    stop.check()?;
    let collection = engine.index().resolve(search.collection.as_ref(), caller)?;
    let (ranking, mut notices) = Ranking::choose(search.mode, &collection, engine.models())?;
    let reranking = search.rerank.then(|| Reranking::with(engine)).transpose()?;
    let generation = collection.generation();
    let lexical = generation.lexical()?;
    let mut stats = Stats::default();
    let words = timed(&mut stats.evidence, || lexical.query(&search.query));
    let highlighter = Highlighter::of(&search.query, lexical.languages());
    let mut question = Question {
        search,
        words: &words,
        generation,
        selection: None,
        highlighter,
        legs: Legs::default(),
        literals_cut_short: false,
        leading: Leading::default(),
        best: 0.0,
        stop,
        stats,
    };
    notices.extend(question.select()?);
    let mut candidates = question.candidates(&ranking)?;
    notices.extend(question.cut_short());
    let (front, reranked) = question.rerank(reranking.as_ref(), &mut candidates, &mut notices)?;
    let mut found = question.spread(front, &mut candidates)?;
    let returned = fitting(&found, search.max_bytes);
    let mut checked = question.verify(engine, &collection, &found, returned)?;
    if question.exchange(engine, &collection, &mut found[..returned], &checked.hits)? {
        checked = question.verify(engine, &collection, &found, returned)?;
    }
    let truncated = truncation(&found, returned, &checked.beside);
    notices.extend(sections_left_out(&checked.beside));
    notices.extend(not_verified(&checked.hits));
    let evidence = question.evidence(&ranking, found.is_empty())?;
    let explanation = question.explain(&ranking)?;
    let speaker = Speaker { engine, collection: &collection, generation, caller };
    let hits = question.hits(&speaker, &ranking, found, checked)?;
    Ok(SearchAnswer {
        collection: collection.name().clone(),
        generation: generation.id(),
        mode: ranking.mode(),
        hits,
        reranked,
        evidence,
        truncated,
        notices,
        explanation,
        stats: question.stats,
    })
}

/// A candidate with its text.
struct Found {
    place: Fused,
    record: ChunkRecord,
    /// What its score measures.
    scale: ScoreScale,
    /// What the reranker gave it, where it read it.
    rerank_score: Option<f64>,
    /// Which of its document's hits it is, from 1.
    nth_of_document: u32,
}

impl Found {
    /// Gives it another score, and its parts as much of it as they had.
    fn rescore(&mut self, score: f64) {
        if self.place.score != 0.0 {
            let less = score / self.place.score;
            for leg in self.place.bm25.iter_mut().chain(&mut self.place.dense) {
                leg.part *= less;
            }
        }
        self.place.score = score;
    }
}

/// What checking an answer's passages showed.
struct Checked {
    /// Of each hit.
    hits: Vec<Finding>,
    /// What stands around the hits.
    beside: Surroundings,
    /// Of each passage there, one after the other.
    findings_beside: Vec<Finding>,
}

/// What leads the legs: the same however many hits are asked for, and whatever a reranker makes of them.
#[derive(Default)]
struct Leading {
    /// The first passages by words; by similarity where words do not rank.
    passages: Vec<DocAddress>,
    /// The closest passage's cosine.
    cosine: Option<f64>,
    /// The most that a passage holds of what the question names literally.
    exact: Exact,
}

/// A search on its way, and the time it took so far.
struct Question<'a> {
    search: &'a Search,
    /// Its words: what BM25 looks for, and what evidence is about in every mode.
    words: &'a WordQuery,
    generation: &'a Generation,
    /// The rows that the filter leaves; `None` where there is no filter.
    selection: Option<Arc<Selection>>,
    highlighter: Highlighter,
    /// What the legs did so far.
    legs: Legs,
    /// Whether there may be more that hold what the question names literally than were read.
    literals_cut_short: bool,
    /// What leads them.
    leading: Leading,
    /// The best score, before anything came first for what it holds.
    best: f64,
    stop: &'a Stop,
    stats: Stats,
}

impl<'a> Question<'a> {
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

    /// The best chunks without copies: more than were asked for, and deeper where copies crowd out the rest.
    fn candidates(&mut self, ranking: &Ranking) -> Result<Candidates<'a>> {
        let generation = self.generation;
        let lexical = generation.lexical()?;
        if self.selection.as_ref().is_some_and(|selection| selection.is_empty()) {
            return Ok(Candidates::new(lexical, Vec::new(), ranking.scale()));
        }
        let asked = self.asked(ranking)?;
        let mut depth = self.search.top_k.max(DEPTH);
        loop {
            let ranked = self.rank(ranking, &asked, depth)?;
            let more = ranked.len() >= depth && depth < DEEPEST;
            let mut candidates = Candidates::new(lexical, ranked, ranking.scale());
            let enough = timed(&mut self.stats.load, || candidates.has(self.search.top_k))?;
            if enough || !more {
                return Ok(candidates);
            }
            depth *= DEEPER;
        }
    }

    /// Takes the best candidates and lets the reranker read them, where that was asked for.
    fn rerank(
        &mut self,
        reranking: Option<&Reranking>,
        candidates: &mut Candidates<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<(Vec<Found>, Option<Reranked>)> {
        let Some(reranking) = reranking else { return Ok((Vec::new(), None)) };
        let mut front = timed(&mut self.stats.load, || candidates.take(rerank::DEPTH))?;
        let (query, stop) = (&self.search.query, self.stop);
        let (reranked, notice) = timed(&mut self.stats.rerank, || reranking.apply(query, &mut front, stop))?;
        notices.extend(notice);
        let depth = reranked.as_ref().map_or(0, |reranked| reranked.depth as usize);
        candidates.put_back(front.split_off(depth));
        Ok((front, reranked))
    }

    fn spread(&mut self, front: Vec<Found>, candidates: &mut Candidates<'_>) -> Result<Vec<Found>> {
        timed(&mut self.stats.load, || spread(front, candidates, self.search.top_k))
    }

    /// What stands around the hits, as far as it was asked for and fits.
    fn surroundings(&mut self, found: &[Found], returned: usize) -> Result<Surroundings> {
        let hits = &found[..returned];
        let room = self.search.max_bytes.saturating_sub(bytes(hits));
        let lexical = self.generation.lexical()?;
        let hits = hits.iter().map(|found| (found.place.address, &found.record));
        timed(&mut self.stats.load, || surroundings(lexical, hits, self.search.reach, room))
    }

    /// Checks the first `returned` hits and what stands around them, each source once.
    fn verify(
        &mut self,
        engine: &Engine,
        collection: &Collection,
        found: &[Found],
        returned: usize,
    ) -> Result<Checked> {
        let beside = self.surroundings(found, returned)?;
        let of_hits = found[..returned].iter().map(|found| &found.record);
        let records: Vec<&ChunkRecord> =
            of_hits.chain(beside.of_hits.iter().flatten().map(|beside| &beside.record)).collect();
        let mut hits = self.check(engine, collection, &records)?;
        let findings_beside = hits.split_off(returned);
        Ok(Checked { hits, beside, findings_beside })
    }

    fn check(
        &mut self,
        engine: &Engine,
        collection: &Collection,
        records: &[&ChunkRecord],
    ) -> Result<Vec<Finding>> {
        if !self.search.verify {
            return Ok(records
                .iter()
                .map(|record| Finding::unchecked(record, Reason::NotRequested))
                .collect());
        }
        let generations = Generations { cited: self.generation, current: self.generation };
        timed(&mut self.stats.verify, || {
            engine.verifier().check(collection.name(), generations, records, self.stop)
        })
    }

    /// Whether there is an answer to the question, by what leads each leg.
    fn evidence(&mut self, ranking: &Ranking, nothing_found: bool) -> Result<Evidence> {
        if nothing_found {
            return Ok(Evidence::NO_HITS);
        }
        let (lexical, calibration) = (self.generation.lexical()?, &self.generation.manifest().evidence);
        let Leading { passages, cosine, exact } = &self.leading;
        timed(&mut self.stats.evidence, || {
            let words = lexical.known_words(self.words, passages)?;
            let similarity = ranking.model().zip(*cosine).map(|(model, best)| Similarity {
                best,
                can_read: fusion::can_read(model.languages(), &self.search.query),
                alone: matches!(ranking, Ranking::Dense(_)),
            });
            let (only_common, chunks) = (self.words.is_common, lexical.chunks());
            let question = self.search.query.as_str();
            let seen = Seen { question, words: &words, only_common, exact: *exact, similarity, chunks };
            Ok(Evidence::of(&seen, calibration.as_ref()))
        })
    }

    fn explain(&mut self, ranking: &Ranking) -> Result<Option<Explanation>> {
        if !self.search.explain {
            return Ok(None);
        }
        let selection = self.selection.as_deref();
        timed(&mut self.stats.explain, || {
            let (query, words) = (&self.search.query, self.words);
            explanation(self.generation, query, words, selection, ranking, &self.legs).map(Some)
        })
    }
}

/// How many hits do not stand where they were indexed, by verdict.
fn not_verified(findings: &[Finding]) -> Option<Notice> {
    let verdicts = [Verdict::Relocated, Verdict::Drifted, Verdict::Missing, Verdict::Unresolvable];
    let with = |verdict| findings.iter().filter(|finding| finding.verdict() == verdict).count();
    let counts: Vec<(Verdict, u32)> = verdicts
        .into_iter()
        .map(|verdict| (verdict, count(with(verdict))))
        .filter(|(_, count)| *count > 0)
        .collect();
    (!counts.is_empty()).then_some(Notice::NotVerified { counts })
}

/// A number as answers have it, where none is that large.
fn count(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    *time += begun.elapsed();
    done
}

#[cfg(test)]
mod tests {
    use tantivy::DocAddress;

    use super::*;
    use crate::citation::{ByteRange, LineRange, SourceClass};
    use crate::id::{ChunkId, DocumentId, Sha256};
    use crate::lexical::Candidate;

    /// A candidate in this row of a document, with its row for a text.
    pub(super) fn found(row: u32, source: &str, score: f64) -> Found {
        let candidate = Candidate { address: DocAddress::new(0, row), score: 0.0, tie: row.into() };
        let place = Fused { score, ..Fused::alone(&candidate) };
        let record = record(source, row.to_string());
        Found { place, record, scale: ScoreScale::Fused, rerank_score: None, nth_of_document: 1 }
    }

    pub(super) fn record(source: &str, text: String) -> ChunkRecord {
        let (document_id, text_sha256) = (DocumentId::of_source(source), Sha256::of(text.as_bytes()));
        ChunkRecord {
            chunk_id: ChunkId::of_text(document_id, text_sha256, 0),
            document_id,
            source: source.to_owned(),
            source_class: SourceClass::Text,
            extractor: None,
            bytes: ByteRange { start: 0, end: 1 },
            lines: LineRange { start: 1, end: 1 },
            text_sha256,
            text,
            title: None,
            heading_path: Vec::new(),
            tags: Vec::new(),
            date: None,
            updated: None,
        }
    }
}
