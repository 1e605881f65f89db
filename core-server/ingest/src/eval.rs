//! Measures a ranking against judgments: what `footnote eval` reports.
//!
//! ```text
//! judgments, quotes ─┐
//!           corpus ──┼─► asking (the engine, as everybody asks it) ─► metrics ─► bootstrap ─► report ─► html, history
//!            echo ───┘
//! ```
//!
//! What is ranked are documents, each by its best passage, or passages where the judgments are quotations. Only queries
//! with a relevant document count in the means, as in `trec_eval`; those without one are unanswerable, and all that is
//! looked at is whether the answer abstains.
//!
//! Deliberately left out: a ranking of its own. What is asked is the engine that answers everybody.

pub mod asking;
pub mod bootstrap;
pub mod corpus;
pub mod echo;
pub mod history;
pub mod html;
pub mod judgments;
pub mod measure;
pub mod metrics;
pub mod questions;
pub mod quotes;
pub mod report;
pub mod table;
