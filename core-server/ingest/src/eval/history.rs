//! The history of a collection's figures: one JSON line a run, only ever added to.
//!
//! Deliberately left out: single queries, so that years of runs stay small. What is compared query by query is a run's
//! own JSON (`report`).

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use engine::id::Sha256;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::asking::AskedMode;
use super::judgments::{bad_line, cause, lines};
use super::metrics::Metric;
use super::report::Report;
use crate::error::{Error, Result};

/// The version of a line's format.
const SCHEMA_VERSION: u32 = 1;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of this format.
    pub schema_version: u32,
    /// When it was measured.
    pub measured_at: Timestamp,
    /// The program, name and version.
    pub program: String,
    /// The collection's name.
    pub collection: String,
    /// A hash over its documents.
    pub corpus: Sha256,
    /// A hash over queries and judgments.
    pub judgments: Sha256,
    /// What made terms of the documents.
    pub analyzer: String,
    /// What cut them.
    pub chunker: String,
    /// The model's name.
    pub model: Option<String>,
    /// By mode.
    pub modes: BTreeMap<AskedMode, Figures>,
}

/// One mode's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The means.
    #[serde(flatten)]
    pub metrics: BTreeMap<Metric, f64>,
    /// Milliseconds that half of the requests took at most.
    pub p50: f64,
    /// Milliseconds that nineteen of twenty requests took at most.
    pub p95: f64,
}

impl Entry {
    /// The line of a run.
    pub fn of(report: &Report) -> Self {
        let modes = report.modes.iter().map(|mode| {
            let metrics = mode.metrics.iter().map(|(metric, estimate)| (*metric, estimate.mean)).collect();
            let total = mode.latency.get("total");
            let (p50, p95) = total.map_or((0.0, 0.0), |total| (total.p50, total.p95));
            (mode.mode, Figures { metrics, p50, p95 })
        });
        Self {
            schema_version: SCHEMA_VERSION,
            measured_at: report.measured_at,
            program: report.program.clone(),
            collection: report.corpus.name.clone(),
            corpus: report.corpus.sha256,
            judgments: report.judgments.sha256,
            analyzer: report.corpus.analyzer.clone(),
            chunker: report.corpus.chunker.clone(),
            model: report.corpus.model.as_ref().map(|model| model.name.clone()),
            modes: modes.collect(),
        }
    }

    /// Whether two runs measured the same: the same documents, queries and judgments.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.corpus == other.corpus && self.judgments == other.judgments
    }
}

/// The runs in the file at `path`, oldest first; none where it is not there yet.
pub fn read(path: &Path) -> Result<Vec<Entry>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let parse = |(line, text): (usize, String)| {
        serde_json::from_str(&text).map_err(|error| {
            let what =
                format!("{}; it is no run of `footnote eval --history`: name another file", cause(&error));
            bad_line(path, line)(what)
        })
    };
    lines(path)?.into_iter().map(parse).collect()
}

/// Adds a run to the file at `path`.
pub fn append(path: &Path, entry: &Entry) -> Result<()> {
    let line = format!("{}\n", serde_json::to_string(entry).unwrap_or_default());
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(Error::file("add to", path))
}
