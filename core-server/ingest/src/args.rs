//! What can be typed.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use proto::settings::{CollectionArgs, LogArgs, StoreArgs};

use crate::commands::model::ModelArgs;
use crate::eval::asking::AskedMode;
use crate::eval::bootstrap::RESAMPLES;
use crate::eval::metrics::Metric;

/// Answers from your own documents, each with a footnote that is checked.
#[derive(Debug, Parser)]
#[command(name = "footnote-index", bin_name = "footnote", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Where index and models are.
    #[command(flatten)]
    pub stores: StoreArgs,
    /// What is logged.
    #[command(flatten)]
    pub log: LogArgs,
}

/// What works on a whole index.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Index files, or bring a collection up to date
    Ingest(IngestArgs),
    /// Check every citation of a collection against its source
    Verify(VerifyArgs),
    /// List the files that should have been indexed and could not be
    Skipped(OneCollection),
    /// Go back to an earlier generation of a collection
    Rollback(RollbackArgs),
    /// Remove a collection from the index; its files are not touched
    Remove(RemoveArgs),
    /// Install models, list them, check them
    Model(ModelCommand),
    /// Measure how well a collection or a folder answers queries whose answers are known
    Eval(EvalArgs),
}

/// `ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Files and folders; they join what the collection looks at. Without any, all of that is looked at again
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The collection [default: the one whose root holds PATH, else a new one named after the folder]
    #[command(flatten)]
    pub collection: CollectionArgs,
    /// The root of a new collection [default: the folder given, or the common parent]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Index files of this name too, whatever their kind; replaces what was recorded, '' forgets it
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Leave files of this name out; replaces what was recorded, '' forgets it
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Embed with this model; another one than before embeds everything anew
    #[arg(long, value_name = "NAME", env = "FOOTNOTE_MODEL", conflicts_with = "no_model")]
    pub model: Option<String>,
    /// Make a collection without vectors, searched by words only
    #[arg(long)]
    pub no_model: bool,
    /// Skip larger files [default: 16 MiB, or what was recorded]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_file_bytes: Option<u64>,
    /// Say what would be done, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON lines: events, and a summary at the end
    #[arg(long)]
    pub json: bool,
}

/// A collection by its name, or the only one.
#[derive(Debug, Args)]
pub struct OneCollection {
    /// The collection [default: the one that holds the working directory, or the only one]
    #[arg(value_name = "COLLECTION")]
    pub name: Option<String>,
    /// Named by a flag or by the environment instead.
    #[command(flatten)]
    pub collection: CollectionArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Which collection.
    #[command(flatten)]
    pub which: OneCollection,
}

/// `rollback`.
#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Which collection.
    #[command(flatten)]
    pub which: OneCollection,
    /// The generation to go back to [default: the one before the current one]
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
}

/// `remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// The collection
    #[arg(value_name = "COLLECTION")]
    pub name: String,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `model`.
#[derive(Debug, Args)]
pub struct ModelCommand {
    /// What to do with models.
    #[command(flatten)]
    pub args: ModelArgs,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// `eval`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 12: --fail-on-regression found something worse than the baseline.")]
pub struct EvalArgs {
    /// A collection, or a folder, which is ingested into an index that is thrown away
    #[arg(value_name = "COLLECTION|FOLDER")]
    pub what: PathBuf,
    /// The queries: JSON lines with `id` and `text`
    #[arg(long, value_name = "FILE", required_unless_present_any = ["quotes", "unanswerable"])]
    pub queries: Option<PathBuf>,
    /// Judgments by document: lines of query, document and grade with tabs between them. A document is named by its path
    /// relative to the root or by its file's stem
    #[arg(long, value_name = "FILE", conflicts_with = "quotes", requires = "queries")]
    pub qrels: Option<PathBuf>,
    /// Judgments by quotation: JSON lines with `id`, `text`, `quote` and, where it matters, `source`
    #[arg(long, value_name = "FILE")]
    pub quotes: Option<PathBuf>,
    /// Queries that nothing answers, beside those that have no judgment above 0: JSON lines with `id` and `text`
    #[arg(long, value_name = "FILE")]
    pub unanswerable: Option<PathBuf>,
    /// The rankings to measure; `rerank` is hybrid, reranked [default: all but that, as far as the collection has them]
    #[arg(long, value_name = "MODE", value_delimiter = ',')]
    pub modes: Vec<AskedMode>,
    /// Embed the folder with this model
    #[arg(long, value_name = "NAME", env = "FOOTNOTE_MODEL", conflicts_with = "no_model")]
    pub model: Option<String>,
    /// Do not embed the folder; it is measured by words only
    #[arg(long)]
    pub no_model: bool,
    /// Rank so many documents, or passages, for each query
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = depth)]
    pub depth: usize,
    /// An earlier run, written by --json, to hold this one against
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// End with exit code 12 where a mode is worse than in the baseline and the interval of the difference excludes 0; looks
    /// at nDCG@10, or at the metrics named
    #[arg(
        long,
        value_name = "METRIC",
        requires = "baseline",
        num_args = 0..,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = "ndcg@10"
    )]
    pub fail_on_regression: Vec<Metric>,
    /// Write the whole run as JSON; `-` is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the run as one HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Add a line to this file of earlier runs
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// The seed of the draws that intervals are made of
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many draws
    #[arg(long, value_name = "N", default_value_t = RESAMPLES, value_parser = resamples)]
    pub resamples: usize,
}

fn depth(typed: &str) -> Result<usize, String> {
    within(typed, 10..=1000)
}

fn resamples(typed: &str) -> Result<usize, String> {
    within(typed, 100..=1_000_000)
}

fn within(typed: &str, bounds: RangeInclusive<usize>) -> Result<usize, String> {
    let (least, most) = (bounds.start(), bounds.end());
    let number = typed.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
}
