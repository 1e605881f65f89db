//! The legs of a ranking: what each is asked, what each finds, and the two made one.

use tantivy::DocAddress;

use super::ranking::Ranking;
use super::{Question, count, timed};
use crate::dense::Among;
use crate::error::Result;
use crate::evidence::LEADING;
use crate::exact::{self, Exact, Literal};
use crate::fusion::{self, DenseWeight, Fused};
use crate::lexical::{Candidate, Holders, LITERAL_CANDIDATES_READ};
use crate::query::{LegPlace, Notice};

/// What a question asks of the legs beside its words: made once, however deep they are looked into. What a leg that is not asked would need
/// is empty.
#[derive(Default)]
pub(super) struct Asked {
    literals: Vec<Literal>,
    vector: Vec<f32>,
}

impl Question<'_> {
    /// What the ranking's legs are asked.
    pub(super) fn asked(&mut self, ranking: &Ranking) -> Result<Asked> {
        let (query, lexical) = (&self.search.query, self.generation.lexical()?);
        let mut asked = Asked::default();
        if !matches!(ranking, Ranking::Dense(_)) {
            asked.literals = timed(&mut self.stats.bm25, || lexical.telling(exact::literals(query)))?;
            self.legs.literals.clone_from(&asked.literals);
        }
        if let Some(model) = ranking.model() {
            asked.vector = timed(&mut self.stats.embed, || model.embed_query(query))?;
            self.stop.check()?;
        }
        Ok(asked)
    }

    /// The best chunks with their places, so many.
    pub(super) fn rank(&mut self, ranking: &Ranking, asked: &Asked, wanted: usize) -> Result<Vec<Fused>> {
        let Asked { literals, vector } = asked;
        let mut ranked = match ranking {
            Ranking::Bm25 => {
                let bm25 = self.bm25(wanted)?;
                self.leading.passages = first(&bm25);
                bm25.into_iter().zip(1..).map(place_in_bm25).collect()
            }
            Ranking::Dense(_) => {
                let dense = self.dense(vector, wanted)?;
                self.leading.passages = first(&dense);
                dense.into_iter().zip(1..).map(place_in_dense).collect()
            }
            Ranking::Hybrid(model) => {
                let (bm25, dense) = (self.bm25(wanted)?, self.dense(vector, wanted)?);
                self.leading.passages = first(&bm25);
                let spoken = self.generation.lexical()?.languages();
                let weight = DenseWeight::of(&self.search.query, spoken, model.languages());
                self.legs.dense_weight = Some(weight.share());
                timed(&mut self.stats.fusion, || fusion::fuse(&bm25, &dense, weight))
            }
        };
        self.best = ranked.first().map_or(0.0, |best| best.score);
        if !literals.is_empty() {
            let Holders { best: holders, cut_short } = self.holders(literals, wanted)?;
            self.literals_cut_short = cut_short;
            // By words alone a chunk that is not among the best has its score; what both legs say is not known.
            let alone = |candidate: &Candidate| match ranking {
                Ranking::Bm25 => Fused { score: candidate.score.into(), ..Fused::alone(candidate) },
                Ranking::Dense(_) | Ranking::Hybrid(_) => Fused::alone(candidate),
            };
            fusion::put_first(&mut ranked, &holders, Exact::none_of(literals.len()), alone);
            let most = ranked.first().map_or(Exact::none_of(literals.len()), |first| first.exact);
            // What was not read to the end may stand in what was not read, and what may be a word or a quantity
            // stands in passages about anything.
            let is_known = most.holds_all() || !cut_short;
            let is_name = literals.iter().all(|literal| !literal.may_be_a_word());
            self.leading.exact = if is_known && is_name { most } else { Exact::default() };
        }
        ranked.truncate(wanted);
        self.stop.check()?;
        Ok(ranked)
    }

    /// The best chunks that hold what the question names literally.
    fn holders(&mut self, literals: &[Literal], k: usize) -> Result<Holders> {
        let lexical = self.generation.lexical()?;
        timed(&mut self.stats.bm25, || {
            lexical.holders(literals, self.words, k, self.selection.as_deref(), self.stop)
        })
    }

    pub(super) fn cut_short(&self) -> Option<Notice> {
        self.literals_cut_short.then_some(Notice::LiteralsCutShort { read: count(LITERAL_CANDIDATES_READ) })
    }

    fn bm25(&mut self, k: usize) -> Result<Vec<Candidate>> {
        let (lexical, selection) = (self.generation.lexical()?, self.selection.as_deref());
        let found = timed(&mut self.stats.bm25, || lexical.search_in(self.words, k, selection, self.stop))?;
        self.legs.bm25 = Some(found.len());
        Ok(found)
    }

    fn dense(&mut self, vector: &[f32], k: usize) -> Result<Vec<Candidate>> {
        let (lexical, vectors) = (self.generation.lexical()?, self.generation.vectors()?);
        let readers = lexical.searcher().segment_readers();
        let selection = self.selection.as_deref();
        let segments = (0..).zip(vectors).zip(readers).map(|((segment, vectors), reader)| match selection {
            Some(selection) => (vectors, Some(Among::Selected(selection.rows(segment)))),
            None => (vectors, reader.alive_bitset().map(Among::Alive)),
        });
        let segments: Vec<_> = segments.collect();
        let tie = |address| lexical.tie(address);
        let scanned =
            timed(&mut self.stats.dense, || crate::dense::scan(&segments, vector, k, &tie, self.stop))?;
        self.legs.dense = Some(scanned.len());
        self.leading.cosine = scanned.first().map(|(_, cosine)| f64::from(*cosine));
        let candidate = |(address, score)| Candidate { address, score, tie: lexical.tie(address) };
        Ok(scanned.into_iter().map(candidate).collect())
    }
}

/// The rows that lead a leg.
fn first(leg: &[Candidate]) -> Vec<DocAddress> {
    leg.iter().take(LEADING).map(|candidate| candidate.address).collect()
}

fn place_in_bm25((candidate, rank): (Candidate, u32)) -> Fused {
    let place = LegPlace { score: candidate.score.into(), rank, part: candidate.score.into() };
    Fused { score: place.score, bm25: Some(place), ..Fused::alone(&candidate) }
}

fn place_in_dense((candidate, rank): (Candidate, u32)) -> Fused {
    let place = LegPlace { score: candidate.score.into(), rank, part: candidate.score.into() };
    Fused { score: place.score, dense: Some(place), ..Fused::alone(&candidate) }
}
