//! What an ingest did, for a person and for a machine.
//!
//! A person sees counts, and the first few of what was left out; `footnote skipped` lists all later. Deliberately left
//! out: what is said while it runs (`progress`).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

use engine::collection::CollectionName;
use indicatif::HumanCount;
use serde::Serialize;
use serde_json::{Value, json};

use crate::admit::IgnoreReason;
use crate::scope::Target;
use crate::skipped::SkippedFile;

/// So many of each are named to a person.
const FIRST: usize = 5;

/// What became of the vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// Every chunk has one.
    Complete {
        /// The model's name.
        model: String,
    },
    /// There are none, since it is not clear which model is meant, or there is none.
    NoModel {
        /// The models that are installed.
        installed: Vec<String>,
    },
    /// There are none, since the model that the collection is bound to is not installed.
    ModelAway {
        /// The model's name.
        model: String,
    },
    /// There are none, since the person wanted none.
    Refused,
}

/// What an ingest of one collection did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The collection.
    pub collection: CollectionName,
    /// Its root.
    pub root: PathBuf,
    /// The generation that is current now.
    pub generation: u32,
    /// Whether that is a new one.
    pub published: bool,
    /// How many documents it holds.
    pub documents: usize,
    /// How many chunks.
    pub chunks: u32,
    /// Files that came.
    pub added: usize,
    /// Files whose content changed.
    pub changed: usize,
    /// Files that have another name now.
    pub renamed: usize,
    /// Files that left.
    pub removed: usize,
    /// Files that are what they were.
    pub unchanged: usize,
    /// Files that stay although they were not found, since their file system is not there.
    pub unmounted: usize,
    /// Files that were indexed before and cannot be read any more.
    pub lost: usize,
    /// Texts that were embedded.
    pub embedded: usize,
    /// Of them, those longer than the model's window.
    pub truncated: usize,
    /// What became of the vectors.
    pub vectors: Vectors,
    /// What should have worked, by source.
    pub skipped: Vec<SkippedFile>,
    /// What was not meant for the index, by reason.
    pub ignored: BTreeMap<String, u32>,
    /// Sources and what was not understood in them.
    pub warnings: Vec<(String, String)>,
    /// How long it took.
    pub seconds: f64,
    first_ignored: BTreeMap<IgnoreReason, Vec<String>>,
}

impl Summary {
    /// Nothing was done yet.
    pub fn new(target: &Target) -> Self {
        Self {
            collection: target.collection.clone(),
            root: target.scope.root.clone(),
            generation: 0,
            published: false,
            documents: 0,
            chunks: 0,
            added: 0,
            changed: 0,
            renamed: 0,
            removed: 0,
            unchanged: 0,
            unmounted: 0,
            lost: 0,
            embedded: 0,
            truncated: 0,
            vectors: Vectors::Refused,
            skipped: Vec::new(),
            ignored: BTreeMap::new(),
            warnings: Vec::new(),
            seconds: 0.0,
            first_ignored: BTreeMap::new(),
        }
    }

    /// Remembers a source that was left out, as long as there are few of that reason.
    pub fn name_ignored(&mut self, reason: IgnoreReason, source: &str) {
        let names = self.first_ignored.entry(reason).or_default();
        if names.len() < FIRST {
            names.push(source.to_owned());
        }
    }

    /// Whether something that should have worked did not.
    pub fn is_partial(&self) -> bool {
        !self.skipped.is_empty()
    }

    /// The last line of `--json`.
    pub fn to_json(&self) -> Value {
        let (vectors, model) = match &self.vectors {
            Vectors::Complete { model } => (true, Some(model)),
            Vectors::ModelAway { model } => (false, Some(model)),
            Vectors::NoModel { .. } | Vectors::Refused => (false, None),
        };
        json!({
            "event": "summary",
            "collection": self.collection,
            "root": self.root,
            "generation": self.generation,
            "published": self.published,
            "documents": self.documents,
            "chunks": self.chunks,
            "added": self.added,
            "changed": self.changed,
            "renamed": self.renamed,
            "removed": self.removed,
            "unchanged": self.unchanged,
            "not_mounted": self.unmounted,
            "embedded": self.embedded,
            "beyond_window": self.truncated,
            "vectors": vectors,
            "model": model,
            "skipped": self.skipped,
            "ignored": self.ignored,
            "warnings": self.warnings.iter()
                .map(|(source, warning)| json!({"source": source, "warning": warning}))
                .collect::<Vec<_>>(),
            "partial": self.is_partial(),
            "seconds": self.seconds,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: usize| HumanCount(number as u64);
        writeln!(
            f,
            "{}: {} documents, {} chunks from {}{}",
            self.collection,
            count(self.documents),
            HumanCount(u64::from(self.chunks)),
            self.root.display(),
            if self.published {
                format!(", generation {}", self.generation)
            } else {
                format!(", unchanged since generation {}", self.generation)
            }
        )?;
        let parts: Vec<String> = [
            (self.added, "added"),
            (self.changed, "changed"),
            (self.renamed, "renamed"),
            (self.removed, "removed"),
            (self.unchanged, "unchanged"),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", count(number)))
        .collect();
        if !parts.is_empty() {
            writeln!(f, "  {}", parts.join(", "))?;
        }
        if self.embedded > 0 {
            writeln!(f, "  {} texts embedded", count(self.embedded))?;
        }
        if self.truncated > 0 {
            writeln!(
                f,
                "  {} of them are longer than the model's window; their ends are found by words only",
                count(self.truncated)
            )?;
        }
        self.write_left_out(f)?;
        self.write_advice(f)
    }
}

impl Summary {
    fn write_left_out(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.ignored.is_empty() {
            let total: u32 = self.ignored.values().sum();
            writeln!(f, "  ignored {}:", HumanCount(u64::from(total)))?;
            for (reason, number) in &self.ignored {
                let names = self.first_ignored.iter().find(|(known, _)| known.as_str() == reason);
                let names = names.map(|(_, names)| names.as_slice()).unwrap_or_default();
                writeln!(
                    f,
                    "    {reason} {}: {}",
                    HumanCount(u64::from(*number)),
                    first(names, *number as usize)
                )?;
            }
        }
        if !self.skipped.is_empty() {
            writeln!(f, "  skipped {}, which should have worked:", HumanCount(self.skipped.len() as u64))?;
            for file in self.skipped.iter().take(FIRST) {
                let detail =
                    if file.detail.is_empty() { String::new() } else { format!(" ({})", file.detail) };
                writeln!(f, "    {}: {}{detail}", file.source, file.reason.sentence())?;
            }
            if self.skipped.len() > FIRST {
                writeln!(
                    f,
                    "    and {} more: `footnote skipped {}` lists all",
                    self.skipped.len() - FIRST,
                    self.collection
                )?;
            }
        }
        if !self.warnings.is_empty() {
            writeln!(f, "  {} warnings:", HumanCount(self.warnings.len() as u64))?;
            for (source, warning) in self.warnings.iter().take(FIRST) {
                writeln!(f, "    {source}: {warning}")?;
            }
        }
        Ok(())
    }

    fn write_advice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lost > 0 {
            writeln!(
                f,
                "  {} of the skipped files were indexed before; their passages left, for nobody could check them",
                self.lost
            )?;
        }
        if self.unmounted > 0 {
            writeln!(
                f,
                "  {} files were not found because their file system is not mounted; they stay as they were",
                HumanCount(self.unmounted as u64)
            )?;
        }
        match &self.vectors {
            Vectors::Complete { .. } | Vectors::Refused => Ok(()),
            Vectors::NoModel { installed } if installed.is_empty() => writeln!(
                f,
                "  searched by words only: no model is installed. `footnote model install`, then `footnote ingest` again, \
                 adds search by meaning"
            ),
            Vectors::NoModel { installed } => writeln!(
                f,
                "  searched by words only: `footnote ingest --model NAME` says which model to use: {}",
                installed.join(", ")
            ),
            Vectors::ModelAway { model } => writeln!(
                f,
                "  searched by words only: its model {model} is not installed. `footnote model install {model}`, then \
                 `footnote ingest` again, brings search by meaning back"
            ),
        }
    }
}

/// What a dry run found.
#[derive(Clone, Debug, Serialize)]
pub struct DryRun {
    /// The collection.
    pub collection: CollectionName,
    /// Its root.
    pub root: PathBuf,
    /// Files that are what they were.
    pub unchanged: usize,
    /// Files that would be read for the first time.
    pub add: Vec<String>,
    /// Files that would be read again.
    pub change: Vec<String>,
    /// Files that would leave.
    pub remove: Vec<String>,
    /// What should work and would not.
    pub skipped: Vec<SkippedFile>,
    /// What is not meant for the index, by reason, as far as names and metadata tell.
    pub ignored: BTreeMap<String, u32>,
}

impl DryRun {
    /// The line of `--json`.
    pub fn to_json(&self) -> Value {
        let mut object = json!({"event": "dry_run"});
        if let (Value::Object(object), Ok(Value::Object(fields))) = (&mut object, serde_json::to_value(self))
        {
            object.extend(fields);
        }
        object
    }
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} from {}: nothing was written", self.collection, self.root.display())?;
        for (what, sources) in [
            ("would be read", &self.add),
            ("would be read again", &self.change),
            ("would leave", &self.remove),
        ] {
            if !sources.is_empty() {
                writeln!(
                    f,
                    "  {} {what}: {}",
                    HumanCount(sources.len() as u64),
                    first(sources, sources.len())
                )?;
            }
        }
        writeln!(f, "  {} unchanged", HumanCount(self.unchanged as u64))?;
        for file in self.skipped.iter().take(FIRST) {
            writeln!(f, "  {} would be skipped: {}", file.source, file.reason.sentence())?;
        }
        for (reason, number) in &self.ignored {
            writeln!(f, "  ignored as {reason}: {}", HumanCount(u64::from(*number)))?;
        }
        Ok(())
    }
}

fn first(names: &[String], total: usize) -> String {
    let mut text = names.iter().take(FIRST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if total > FIRST {
        write!(text, ", …").ok();
    }
    text
}
