//! What a run found: the JSON of `footnote eval --json`, by which runs are kept and compared.
//!
//! It holds everything that the other forms (table, HTML, history) show, and names what it was measured with. A
//! `schema_version` that this program does not know is refused. Deliberately left out: paths of this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use engine::id::Sha256;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::asking::AskedMode;
use super::bootstrap::Estimate;
use super::corpus::Identity;
use super::metrics::Metric;
use crate::error::{Error, Result};

/// The version of the format that this program writes and reads.
pub const SCHEMA_VERSION: u32 = 1;

/// What a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this format.
    pub schema_version: u32,
    /// The program, name and version.
    pub program: String,
    /// When the run ended.
    pub measured_at: Timestamp,
    /// What was asked.
    pub corpus: Identity,
    /// By what it was judged.
    pub judgments: Judgments,
    /// How it was measured.
    pub settings: Settings,
    /// What may make the figures say something else than they seem to.
    pub warnings: Vec<String>,
    /// The rankings, each alone.
    pub modes: Vec<ModeReport>,
    /// Hybrid beside each of its legs.
    pub comparisons: Vec<Comparison>,
    /// Each ranking beside the same one in an earlier run.
    pub baseline: Option<Baseline>,
    /// Every query.
    pub queries: Vec<QueryReport>,
}

/// By what a run was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgments {
    /// `document` or `passage`: what was judged, and so what is ranked.
    pub unit: String,
    /// Queries with something relevant: the means are over these.
    pub answerable: usize,
    /// Queries without.
    pub unanswerable: usize,
    /// A hash over the queries and their judgments.
    pub sha256: Sha256,
}

/// How a run was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// So many documents or passages were ranked for each query.
    pub depth: usize,
    /// So many passages were asked for when the clock ran.
    pub served: usize,
    /// How often queries were drawn anew for the intervals.
    pub resamples: usize,
    /// The seed of those draws.
    pub seed: u64,
    /// The share of the drawn means that an interval holds.
    pub confidence: f64,
}

/// One ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeReport {
    /// The mode.
    pub mode: AskedMode,
    /// Means over the answerable queries; empty where there is none.
    pub metrics: BTreeMap<Metric, Estimate>,
    /// Mean recall at depths.
    pub recall: Vec<Recall>,
    /// Milliseconds by stage.
    pub latency: BTreeMap<String, Latency>,
    /// How often it says that there is no answer.
    pub abstention: Abstention,
}

/// A point of the recall curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recall {
    /// So many of the first.
    pub depth: usize,
    /// Mean recall there.
    pub recall: f64,
}

/// How long a stage takes, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of the queries took no longer.
    pub p50: f64,
    /// Nineteen of twenty took no longer.
    pub p95: f64,
}

/// How often an answer says that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    /// Of the unanswerable queries, where it is right.
    pub unanswerable: usize,
    /// Of the answerable queries, where it is wrong.
    pub answerable: usize,
}

/// Two rankings of the same queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The mode that is looked at.
    pub mode: AskedMode,
    /// The mode it is held against.
    pub against: AskedMode,
    /// Mean differences; above 0 where `mode` is better.
    pub metrics: BTreeMap<Metric, Difference>,
}

/// A mean difference over the same queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The difference, and where it may lie.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Queries that are better.
    pub better: usize,
    /// Queries that are worse.
    pub worse: usize,
}

/// An earlier run, and what changed since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The program that measured it.
    pub program: String,
    /// When.
    pub measured_at: Timestamp,
    /// Answerable queries that both runs asked: only these are compared.
    pub shared_queries: usize,
    /// Each mode against itself.
    pub comparisons: Vec<Comparison>,
}

/// One query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryReport {
    /// Its id.
    pub id: String,
    /// What was asked.
    pub text: String,
    /// How many documents or quotations are relevant.
    pub relevant: usize,
    /// What each mode made of it.
    pub modes: BTreeMap<AskedMode, QueryValues>,
}

/// One query in one mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryValues {
    /// Its values; none where nothing is relevant.
    pub metrics: BTreeMap<Metric, f64>,
    /// The rank of the first relevant item, from 1.
    pub first: Option<usize>,
    /// Whether the answer says that there is none.
    pub abstained: bool,
}

impl Report {
    /// Reads an earlier run.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(Error::file("read", path))?;
        let not_one = |error: &dyn std::fmt::Display| {
            Error::Usage(format!("{} is no run written by `footnote eval --json`: {error}", path.display()))
        };
        let Version { schema_version } = serde_json::from_slice(&bytes).map_err(|error| not_one(&error))?;
        if schema_version != SCHEMA_VERSION {
            return Err(Error::Usage(format!(
                "{} is a run in format {schema_version}, this program reads {SCHEMA_VERSION}; measure the baseline anew",
                path.display()
            )));
        }
        serde_json::from_slice(&bytes).map_err(|error| not_one(&error))
    }

    /// The run as it is kept.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What is worse than in the baseline by more than chance would have it, in any of `metrics`.
    pub fn regressions(&self, metrics: &[Metric]) -> Vec<(AskedMode, Metric, Difference)> {
        let comparisons = self.baseline.iter().flat_map(|baseline| &baseline.comparisons);
        comparisons
            .flat_map(|comparison| {
                let looked_at = comparison.metrics.iter().filter(|(metric, _)| metrics.contains(metric));
                looked_at.map(|(metric, difference)| (comparison.mode, *metric, *difference))
            })
            .filter(|(_, _, difference)| difference.estimate.is_loss())
            .collect()
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}
