//! From answers to a report: every query judged, means, intervals and differences.

use std::collections::{BTreeMap, HashMap};

use engine::id::Sha256;
use jiff::Timestamp;

use super::asking::{Answers, AskedMode, SERVED, STAGES};
use super::bootstrap::{Bootstrap, CONFIDENCE};
use super::corpus::Identity;
use super::metrics::{Graded, Metric};
use super::questions::{Questions, Unit};
use super::report::{
    Abstention, Baseline, Comparison, Difference, Judgments, Latency, ModeReport, QueryReport, QueryValues,
    Recall, Report, SCHEMA_VERSION, Settings,
};

/// Depths of the recall curve, as far as was ranked.
const DEPTHS: [usize; 12] = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100];

/// What a report is made of.
#[derive(Debug)]
pub struct Measured<'a> {
    /// What was asked.
    pub corpus: Identity,
    /// The queries and their judgments.
    pub questions: &'a Questions,
    /// The answers, one ranking each.
    pub answers: &'a [Answers],
    /// How many were ranked.
    pub depth: usize,
    /// How to draw.
    pub bootstrap: Bootstrap,
}

impl Measured<'_> {
    /// The report, without a baseline.
    pub fn report(&self) -> Report {
        let graded: Vec<Vec<Graded>> = self.answers.iter().map(|answers| self.grade(answers)).collect();
        let queries = self.queries(&graded);
        let modes = self.answers.iter().zip(&graded);
        let mut modes: Vec<ModeReport> =
            modes.map(|(answers, graded)| self.mode(answers, graded, &queries)).collect();
        let pairs: Vec<(AskedMode, AskedMode)> = pairs(self.answers);
        let comparisons = self.estimate(&queries, &mut modes, &pairs);
        let answerable = queries.iter().filter(|query| query.relevant > 0).count();
        Report {
            schema_version: SCHEMA_VERSION,
            program: concat!("footnote ", env!("CARGO_PKG_VERSION")).to_owned(),
            measured_at: Timestamp::now(),
            corpus: self.corpus.clone(),
            judgments: Judgments {
                unit: match self.questions.unit {
                    Unit::Document => "document",
                    Unit::Passage(_) => "passage",
                }
                .to_owned(),
                answerable,
                unanswerable: queries.len() - answerable,
                sha256: self.judgments_hash(),
            },
            settings: Settings {
                depth: self.depth,
                served: SERVED,
                resamples: self.bootstrap.resamples,
                seed: self.bootstrap.seed,
                confidence: CONFIDENCE,
            },
            warnings: self.questions.warnings.clone(),
            modes,
            comparisons,
            baseline: None,
            queries,
        }
    }

    fn grade(&self, answers: &Answers) -> Vec<Graded> {
        let none = BTreeMap::new();
        let queries = self.questions.queries.iter().zip(&answers.rankings);
        queries
            .map(|(query, ranking)| {
                let grades = self.questions.grades.get(&query.id).unwrap_or(&none);
                Graded::new(ranking.iter().map(String::as_str), grades)
            })
            .collect()
    }

    fn queries(&self, graded: &[Vec<Graded>]) -> Vec<QueryReport> {
        let report = |(at, query): (usize, &super::judgments::Query)| {
            let judged = self.questions.grades.get(&query.id);
            let relevant = judged.map_or(0, |judged| judged.values().filter(|grade| **grade > 0).count());
            let values = |(answers, graded): (&Answers, &Vec<Graded>)| {
                let metrics = Metric::ALL.into_iter().filter(|_| relevant > 0);
                let metrics = metrics.map(|metric| (metric, metric.of(&graded[at]))).collect();
                let (first, abstained) = (graded[at].first(), answers.abstained[at]);
                (answers.mode, QueryValues { metrics, first, abstained })
            };
            let modes = self.answers.iter().zip(graded).map(values).collect();
            QueryReport { id: query.id.clone(), text: query.text.clone(), relevant, modes }
        };
        self.questions.queries.iter().enumerate().map(report).collect()
    }

    fn mode(&self, answers: &Answers, graded: &[Graded], queries: &[QueryReport]) -> ModeReport {
        let judged: Vec<&Graded> = graded
            .iter()
            .zip(queries)
            .filter(|(_, query)| query.relevant > 0)
            .map(|(graded, _)| graded)
            .collect();
        let recall = |depth: usize| {
            let values: Vec<f64> = judged.iter().map(|graded| graded.recall(depth)).collect();
            Recall { depth, recall: mean(&values) }
        };
        let depths = DEPTHS.into_iter().filter(|depth| *depth <= self.depth && !judged.is_empty());
        let abstained = |answerable: bool| {
            let asked = answers.abstained.iter().zip(queries);
            asked.filter(|(abstained, query)| **abstained && (query.relevant > 0) == answerable).count()
        };
        ModeReport {
            mode: answers.mode,
            metrics: BTreeMap::new(),
            recall: depths.map(recall).collect(),
            latency: latency(&answers.times),
            abstention: Abstention { unanswerable: abstained(false), answerable: abstained(true) },
        }
    }

    /// Fills in the means of `modes` and returns the comparisons: all from the same draws.
    fn estimate(
        &self,
        queries: &[QueryReport],
        modes: &mut [ModeReport],
        pairs: &[(AskedMode, AskedMode)],
    ) -> Vec<Comparison> {
        let judged = || queries.iter().filter(|query| query.relevant > 0);
        let alone: Vec<AskedMode> = modes.iter().map(|mode| mode.mode).collect();
        let row = |query: &QueryReport| {
            let alone = alone.iter().flat_map(|mode| values(&query.modes[mode]));
            let differences = pairs
                .iter()
                .flat_map(|(mode, against)| difference(&query.modes[mode], &query.modes[against]));
            alone.chain(differences).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = judged().map(row).collect();
        let Some(estimates) = self.bootstrap.estimate(&rows) else { return Vec::new() };
        let mut columns = (0..).zip(estimates);
        for mode in modes {
            mode.metrics =
                Metric::ALL.into_iter().zip(columns.by_ref().map(|(_, estimate)| estimate)).collect();
        }
        let comparison = |&(mode, against): &(AskedMode, AskedMode)| {
            let columns = columns.by_ref().take(Metric::ALL.len());
            let differences = columns.map(|(column, estimate): (usize, _)| counted(&rows, column, estimate));
            Comparison { mode, against, metrics: Metric::ALL.into_iter().zip(differences).collect() }
        };
        pairs.iter().map(comparison).collect()
    }

    fn judgments_hash(&self) -> Sha256 {
        let texts: Vec<(&str, &str)> =
            self.questions.queries.iter().map(|query| (&*query.id, &*query.text)).collect();
        Sha256::of(&serde_json::to_vec(&(texts, &self.questions.grades)).unwrap_or_default())
    }
}

/// Holds `report` against an earlier run: the same modes on the queries that both can answer.
pub fn against_baseline(report: &Report, baseline: &Report, bootstrap: Bootstrap) -> Baseline {
    let before: HashMap<&str, &QueryReport> =
        baseline.queries.iter().filter(|query| query.relevant > 0).map(|query| (&*query.id, query)).collect();
    let shared: Vec<(&QueryReport, &QueryReport)> = report
        .queries
        .iter()
        .filter(|query| query.relevant > 0)
        .filter_map(|query| Some((query, *before.get(&*query.id)?)))
        .collect();
    let comparison = |mode: AskedMode| {
        let rows: Option<Vec<Vec<f64>>> = shared
            .iter()
            .map(|(now, before)| Some(difference(now.modes.get(&mode)?, before.modes.get(&mode)?).collect()))
            .collect();
        let rows = rows?;
        let estimates = (0..).zip(bootstrap.estimate(&rows)?);
        let differences = estimates.map(|(column, estimate)| counted(&rows, column, estimate));
        let metrics = Metric::ALL.into_iter().zip(differences).collect();
        Some(Comparison { mode, against: mode, metrics })
    };
    Baseline {
        program: baseline.program.clone(),
        measured_at: baseline.measured_at,
        shared_queries: shared.len(),
        comparisons: report.modes.iter().filter_map(|mode| comparison(mode.mode)).collect(),
    }
}

/// Hybrid with each of its legs.
fn pairs(answers: &[Answers]) -> Vec<(AskedMode, AskedMode)> {
    let has = |mode| answers.iter().any(|answers| answers.mode == mode);
    let legs = [AskedMode::Bm25, AskedMode::Dense].into_iter().filter(|leg| has(*leg));
    let legs = legs.filter(|_| has(AskedMode::Hybrid)).map(|leg| (AskedMode::Hybrid, leg));
    let reranked =
        (has(AskedMode::Rerank) && has(AskedMode::Hybrid)).then_some((AskedMode::Rerank, AskedMode::Hybrid));
    legs.chain(reranked).collect()
}

fn values(values: &QueryValues) -> impl Iterator<Item = f64> + '_ {
    Metric::ALL.iter().map(|metric| values.metrics.get(metric).copied().unwrap_or(0.0))
}

fn difference<'a>(now: &'a QueryValues, before: &'a QueryValues) -> impl Iterator<Item = f64> + 'a {
    values(now).zip(values(before)).map(|(now, before)| now - before)
}

fn counted(rows: &[Vec<f64>], column: usize, estimate: super::bootstrap::Estimate) -> Difference {
    // Sums of the same numbers in another order may differ in the last bit.
    const SAME: f64 = 1e-9;
    let count = |differs: fn(f64) -> bool| rows.iter().filter(|row| differs(row[column])).count();
    Difference { estimate, better: count(|by| by > SAME), worse: count(|by| by < -SAME) }
}

fn latency(times: &[[f64; STAGES.len()]]) -> BTreeMap<String, Latency> {
    let stage = |(at, name): (usize, &&str)| {
        let mut times: Vec<f64> = times.iter().map(|times| times[at]).collect();
        times.sort_unstable_by(f64::total_cmp);
        let latency = Latency { p50: percentile(&times, 50), p95: percentile(&times, 95) };
        (latency.p95 > 0.0).then(|| ((*name).to_owned(), latency))
    };
    STAGES.iter().enumerate().filter_map(stage).collect()
}

/// The smallest of `sorted` that `percent` of them do not exceed (nearest rank).
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "nobody asks 2^52 queries")]
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "a percentile is one of the values, bit for bit")]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&times, 50), 10.0);
        assert_eq!(percentile(&times, 95), 19.0);
        assert_eq!(percentile(&[3.0], 95), 3.0);
        assert_eq!(percentile(&[], 95), 0.0);
    }
}
