//! Asks every query, as everybody asks the engine, and takes down what was answered and how long it took.
//!
//! A caller gets fifty passages at most, so a query is asked twice: once as a caller would, alone, for the order and the
//! times; and once more deeply, with no one looking at the clock, for what would come behind. What the first answer
//! holds stays in front, so that nothing deeper can change what is measured of the first ten.
//!
//! Deliberately left out: judging the answers (`metrics`).

use std::collections::HashSet;
use std::time::Instant;

use engine::Engine;
use engine::collection::CollectionName;
use engine::evidence::Level;
use engine::query::{Caller, Hit, Mode, Search, SearchAnswer, Stats};
use engine::stop::Stop;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::{Deserialize, Serialize};

use super::corpus::Corpus;
use super::judgments::Query;
use super::questions::{Questions, Unit};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// The most passages that a caller may ask for, by the contract.
pub const SERVED: usize = 50;

/// The first deeper look goes to so many passages per item wanted: most documents have few.
const PASSAGES_PER_ITEM: usize = 4;

/// The stages of a request, in their order; the last is all of it.
pub const STAGES: [&str; 10] =
    ["embed", "bm25", "dense", "fusion", "load", "rerank", "verify", "highlight", "evidence", "total"];

/// How passages are ranked, as it is typed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum AskedMode {
    /// Words alone.
    Bm25,
    /// Meaning alone.
    Dense,
    /// Words and meaning together.
    Hybrid,
    /// Both, and then the reranker.
    Rerank,
}

impl AskedMode {
    /// Those that are asked where nobody says which, each after what it is compared with. Reranking takes a hundred
    /// times as long and is asked for by name.
    pub const ALL: [Self; 3] = [Self::Bm25, Self::Dense, Self::Hybrid];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
            Self::Rerank => "rerank",
        }
    }
}

impl From<AskedMode> for Mode {
    fn from(mode: AskedMode) -> Self {
        match mode {
            AskedMode::Bm25 => Self::Bm25,
            AskedMode::Dense => Self::Dense,
            AskedMode::Hybrid | AskedMode::Rerank => Self::Hybrid,
        }
    }
}

/// What is asked, and where.
#[derive(Debug)]
pub struct Asking<'a> {
    /// Who answers.
    pub engine: &'a Engine,
    /// The collection.
    pub collection: &'a CollectionName,
    /// Its documents.
    pub corpus: &'a Corpus<'a>,
    /// What is asked of it.
    pub questions: &'a Questions,
    /// So many documents or passages are ranked for each query.
    pub depth: usize,
    /// Whether to end.
    pub interrupt: &'a Interrupt,
    /// Who listens.
    pub progress: &'a Progress,
}

/// The answers in one mode, in the order of the queries.
#[derive(Debug)]
pub struct Answers {
    /// The mode.
    pub mode: AskedMode,
    /// What came, best first.
    pub rankings: Vec<Vec<String>>,
    /// Milliseconds by stage, as in [`STAGES`].
    pub times: Vec<[f64; STAGES.len()]>,
    /// Whether the answer says that there is none.
    pub abstained: Vec<bool>,
}

impl Asking<'_> {
    /// Asks all queries in `mode`.
    pub fn ask(&self, mode: AskedMode) -> Result<Answers> {
        let queries = &self.questions.queries;
        self.progress.begin("asking", queries.len() as u64);
        let (mut served, mut times) = (Vec::new(), Vec::new());
        for query in queries {
            self.interrupt.check()?;
            let begun = Instant::now();
            let answer = self.search(query, mode, SERVED, true)?;
            times.push(in_milliseconds(&answer.stats, begun));
            served.push(answer);
            self.progress.advance(1);
        }
        self.progress.end();
        let abstained = served.iter().map(abstains).collect();
        let asked: Vec<(&Query, SearchAnswer)> = queries.iter().zip(served).collect();
        let rankings = asked.par_iter().map(|(query, served)| self.rank(query, mode, served));
        Ok(Answers { mode, rankings: rankings.collect::<Result<_>>()?, times, abstained })
    }

    /// The served answer's items, and more behind them until there are enough.
    fn rank(&self, query: &Query, mode: AskedMode, served: &SearchAnswer) -> Result<Vec<String>> {
        let mut items = self.items(&served.hits);
        let mut passages = self.depth * PASSAGES_PER_ITEM;
        let mut exhausted = served.hits.len() < SERVED;
        while items.len() < self.depth && !exhausted {
            self.interrupt.check()?;
            let deeper = self.search(query, mode, passages, false)?;
            let known: HashSet<&String> = items.iter().collect();
            let further = self.items(&deeper.hits);
            let further: Vec<String> = further.into_iter().filter(|item| !known.contains(item)).collect();
            items.extend(further);
            exhausted = deeper.hits.len() < passages;
            passages *= PASSAGES_PER_ITEM;
        }
        items.truncate(self.depth);
        Ok(items)
    }

    fn search(&self, query: &Query, mode: AskedMode, top_k: usize, verify: bool) -> Result<SearchAnswer> {
        let search = Search {
            collection: Some(self.collection.clone()),
            top_k,
            mode: Some(mode.into()),
            verify,
            // What comes behind the served answer is not reranked there either.
            rerank: mode == AskedMode::Rerank && top_k == SERVED,
            ..Search::new(&query.text)
        };
        Ok(self.engine.search(&search, &Caller::default(), &Stop::never())?)
    }

    /// What the passages stand for, in their order, each once.
    fn items(&self, hits: &[Hit]) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        for Hit { passage, .. } in hits {
            match &self.questions.unit {
                Unit::Document => {
                    let source = self.corpus.source(passage.document_id).unwrap_or(&passage.citation.source);
                    items.extend(seen.insert(source.to_owned()).then(|| source.to_owned()));
                }
                Unit::Passage(answers) => {
                    let answers = answers.get(&passage.chunk_id).into_iter().flatten();
                    let new: Vec<String> =
                        answers.filter(|item| seen.insert((*item).clone())).cloned().collect();
                    items.extend(if new.is_empty() { vec![passage.chunk_id.to_string()] } else { new });
                }
            }
        }
        items
    }
}

/// Whether an answer says that the collection has none.
fn abstains(answer: &SearchAnswer) -> bool {
    answer.evidence.level == Level::None
}

fn in_milliseconds(stats: &Stats, begun: Instant) -> [f64; STAGES.len()] {
    let total = begun.elapsed();
    let Stats {
        embed,
        bm25,
        dense,
        fusion,
        load,
        rerank,
        verify,
        highlight,
        evidence,
        filter: _,
        explain: _,
    } = *stats;
    [embed, bm25, dense, fusion, load, rerank, verify, highlight, evidence, total]
        .map(|time| 1e3 * time.as_secs_f64())
}
