//! The second look: a reranker reads the best candidates together with the question.
//!
//! It judges better than either leg and takes a thousand times as long, so it reads few, on threads of low priority,
//! and leaves off in time. Its judgment is joined with the standing that a candidate had: alone it forgets what both
//! legs agreed on (`docs/decisions/0010-reranking.md`). Deliberately left out: who may ask for it at once
//! (`core-server`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Found, count};
use crate::engine::Engine;
use crate::error::Result;
use crate::fusion::can_read;
use crate::model::LoadedReranker;
use crate::query::{Notice, Reranked, ScoreScale};
use crate::stop::Stop;

/// Candidates that are read, however many hits are asked for: so the first hits are the same.
pub(super) const DEPTH: usize = 20;

/// The judgment's share of a score; the standing, in shares of the best, has the rest. With more, questions of
/// specialists lose: the reranker learnt from what people type into a search box.
const JUDGMENT: f64 = 0.4;

/// By how much the logistic function is softer than plain.
const SOFTNESS: f64 = 2.0;

/// What is kept of the time given, for checking hits against their sources and for the way back.
const RESERVE: Duration = Duration::from_millis(100);

/// Below everything that answers plain questions.
const NICE: i32 = 10;

/// A reranker and on how many threads it is asked.
pub(super) struct Reranking {
    model: LoadedReranker,
    threads: usize,
}

impl Reranking {
    /// With the engine's reranker; it fails as [`Reranker::now`](crate::model::Reranker::now) does.
    pub(super) fn with(engine: &Engine) -> Result<Self> {
        Ok(Self { model: engine.reranker().now()?, threads: engine.config().rerank_sessions })
    }

    /// Reads the best of `found` and puts them in a new order; those behind keep theirs. Says what was reranked, or
    /// why nothing or not all was.
    pub(super) fn apply(
        &self,
        query: &str,
        found: &mut [Found],
        stop: &Stop,
    ) -> Result<(Option<Reranked>, Option<Notice>)> {
        let model = self.model.name().to_owned();
        if !can_read(self.model.languages(), query) {
            return Ok((None, Some(Notice::RerankSkipped { model })));
        }
        let wanted = found.len().min(DEPTH);
        let scores = self.scores(query, &found[..wanted], stop)?;
        rearrange(&mut found[..scores.len()], &scores);
        let depth = count(scores.len());
        let cut_short = scores.len() < wanted;
        let notice = cut_short.then(|| Notice::RerankCutShort { depth, wanted: count(wanted) });
        Ok((Some(Reranked { model, depth }), notice))
    }

    /// What the model gives the first of `found`: to all of them, or to as many as there is time for.
    fn scores(&self, query: &str, found: &[Found], stop: &Stop) -> Result<Vec<f64>> {
        let next = AtomicUsize::new(0);
        let read = || -> Result<Vec<(usize, f64)>> {
            // Of this thread only, which ends with the question. Where it is refused, the work is merely less polite.
            rustix::process::nice(NICE).ok();
            let mut scored = Vec::new();
            let mut slowest = Duration::ZERO;
            while has_time(stop, slowest) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(found) = found.get(index) else { break };
                stop.check()?;
                let begun = Instant::now();
                scored.push((index, self.model.score(query, &found.record.embedded_text())?));
                slowest = slowest.max(begun.elapsed());
            }
            Ok(scored)
        };
        let threads = self.threads.clamp(1, found.len().max(1));
        let read: Vec<_> = thread::scope(|scope| {
            let reading: Vec<_> = (0..threads).map(|_| scope.spawn(read)).collect();
            reading.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let mut scores = vec![None; found.len()];
        for scored in read {
            for (index, score) in scored.unwrap_or_else(|panic| std::panic::resume_unwind(panic))? {
                scores[index] = Some(score);
            }
        }
        Ok(scores.into_iter().map_while(|score| score).collect())
    }
}

/// Whether another pair can be read that takes as long as the slowest so far.
fn has_time(stop: &Stop, slowest: Duration) -> bool {
    stop.deadline().is_none_or(|deadline| Instant::now() + slowest + RESERVE < deadline)
}

/// Orders by judgment and standing; what stands first for being exact stays first.
fn rearrange(found: &mut [Found], scores: &[f64]) {
    let best = found.iter().map(|found| found.place.score).fold(0.0, f64::max);
    for (found, &score) in found.iter_mut().zip(scores) {
        let standing = if best > 0.0 { (found.place.score / best).max(0.0) } else { 1.0 };
        found.rerank_score = Some(score);
        found.place.score = JUDGMENT * probability(score) + (1.0 - JUDGMENT) * standing;
        found.scale = ScoreScale::Rerank;
    }
    // Stable: equal scores keep the order that they had.
    found.sort_by(|left, right| {
        right.place.exact.cmp(&left.place.exact).then(right.place.score.total_cmp(&left.place.score))
    });
}

/// The logistic function, which the scores of cross-encoders are trained through, softened: at its plain steepness all
/// that shares the question's words is near 1, and what answers it is not told from what mentions it.
fn probability(score: f64) -> f64 {
    1.0 / (1.0 + (-score / SOFTNESS).exp())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::exact::Exact;
    use crate::model::Rerank;
    use crate::search::tests::{found, record};

    /// Scores a passage by the number that is its text, after as long as it was told to work.
    struct ByNumber(Duration);

    impl Rerank for ByNumber {
        fn name(&self) -> &'static str {
            "by-number"
        }

        fn languages(&self) -> &[String] {
            &[]
        }

        fn score(&self, _: &str, passage: &str) -> Result<f64> {
            thread::sleep(self.0);
            Ok(passage.parse().unwrap())
        }
    }

    /// Candidates in this order, each with the score that the reranker is to give it.
    fn candidates(scores: &[f64]) -> Vec<Found> {
        let candidate = |(row, score): (u32, &f64)| {
            let found = found(row, "a", 1.0 - f64::from(row) / 100.0);
            Found { record: record("a", score.to_string()), ..found }
        };
        (0..).zip(scores).map(candidate).collect()
    }

    fn apply(work: Duration, threads: usize, found: &mut [Found], stop: &Stop) -> (u32, Option<Notice>) {
        let reranking = Reranking { model: Arc::new(ByNumber(work)), threads };
        let (reranked, notice) = reranking.apply("question", found, stop).unwrap();
        (reranked.unwrap().depth, notice)
    }

    fn rows(found: &[Found]) -> Vec<u32> {
        found.iter().map(|found| found.place.address.doc_id).collect()
    }

    #[test]
    fn what_holds_a_literal_stays_before_what_the_reranker_prefers() {
        let literals = crate::exact::literals("ERR_CONN_7781");
        let mut found = candidates(&[-9.0, -8.0, 9.0, 8.0]);
        for (found, text) in found.iter_mut().zip(["ERR_CONN_7781", "err_conn_7781", "another", "a third"]) {
            found.place.exact = Exact::of(&literals, text);
        }
        apply(Duration::ZERO, 2, &mut found, &Stop::never());
        assert_eq!(rows(&found), [0, 1, 2, 3]);
        let raised: Vec<f64> =
            found.iter().map(|found| found.place.exact.raised_share(found.place.score)).collect();
        assert!(raised.is_sorted_by(|left, right| left >= right), "{raised:?}");
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let scores: Vec<f64> = (0..30).map(|row| f64::from(row * 7 % 30) - 15.0).collect();
        let order = |threads| {
            let mut found = candidates(&scores);
            assert_eq!(apply(Duration::ZERO, threads, &mut found, &Stop::never()), (20, None));
            found.iter().map(|found| (found.place.address.doc_id, found.place.score)).collect::<Vec<_>>()
        };
        let alone = order(1);
        assert!([2, 3, 50].into_iter().all(|threads| order(threads) == alone));
    }

    #[test]
    fn equal_judgments_keep_the_order() {
        let mut found = candidates(&[2.0; 5]);
        apply(Duration::ZERO, 2, &mut found, &Stop::never());
        assert_eq!(rows(&found), [0, 1, 2, 3, 4]);
        assert_eq!(apply(Duration::ZERO, 2, &mut [], &Stop::never()), (0, None));
    }

    #[test]
    fn a_judgment_moves_a_candidate_and_does_not_rule_alone() {
        let mut found = candidates(&[-9.0, -9.0, 9.0]);
        apply(Duration::ZERO, 1, &mut found, &Stop::never());
        assert_eq!(rows(&found), [2, 0, 1]);
        let mut found = candidates(&[-9.0, 9.0]);
        found[1].place.score = 0.3;
        apply(Duration::ZERO, 1, &mut found, &Stop::never());
        assert_eq!(rows(&found), [0, 1]);
    }

    #[test]
    fn what_there_is_no_time_for_keeps_its_place() {
        let mut found = candidates(&(0..20).map(f64::from).collect::<Vec<_>>());
        let stop = Stop::at(Instant::now() + RESERVE + Duration::from_millis(400));
        let (depth, notice) = apply(Duration::from_millis(50), 1, &mut found, &stop);
        assert!((1..20).contains(&depth), "{depth}");
        assert_eq!(notice, Some(Notice::RerankCutShort { depth, wanted: 20 }));
        let behind = &found[depth as usize..];
        assert_eq!(rows(behind), (depth..20).collect::<Vec<_>>());
        assert!(behind.iter().all(|found| found.rerank_score.is_none() && found.scale == ScoreScale::Fused));
        assert!(found[..depth as usize].iter().all(|found| found.rerank_score.is_some()));
        stop.check().unwrap();
    }

    #[test]
    fn a_question_that_nobody_waits_for_ends() {
        let stop = Stop::never();
        stop.cancel();
        let reranking = Reranking { model: Arc::new(ByNumber(Duration::ZERO)), threads: 2 };
        let ended = reranking.apply("question", &mut candidates(&[1.0, 2.0]), &stop);
        assert!(matches!(ended, Err(crate::Error::Cancelled)));
    }
}
