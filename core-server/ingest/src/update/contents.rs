//! What a generation is to hold, and what a person is told of it: the parent's files with what is new, changed and gone.
//!
//! Deliberately left out: reading and indexing the files (`stage`).

use std::collections::{BTreeMap, HashSet};

use engine::evidence::METHOD;
use engine::id::Sha256;

use super::Run;
use crate::error::Result;
use crate::parent::Parent;
use crate::plan::Files;
use crate::publish::Draft;
use crate::skipped::{self, SkippedFile};
use crate::stage::{self, Outcome, Staged, Work};
use crate::walk::Walked;

/// What a generation says of itself beside its index.
pub(super) struct Contents {
    pub(super) files: Files,
    pub(super) skipped: Vec<SkippedFile>,
    pub(super) ignored: BTreeMap<String, u32>,
    pub(super) chunks: u32,
    pub(super) tokens: BTreeMap<String, u64>,
}

impl<'a> Run<'a> {
    /// Puts the lexical side of a draft together where anything changed.
    pub(super) fn stage(&mut self, parent: Option<&Parent>) -> Result<(Option<Staged>, Option<Draft<'a>>)> {
        let base = parent.filter(|parent| parent.is_usable());
        let read: Vec<_> = self.look.plan.new.iter().chain(&self.look.changed).cloned().collect();
        let changed = self.look.changed.iter().map(|found| found.source.clone());
        let drop: Vec<String> = self.look.plan.gone.iter().cloned().chain(changed).collect();
        if base.is_some() && read.is_empty() && drop.is_empty() {
            return Ok((None, None));
        }
        let mut draft = Draft::begin(self.folder)?;
        let work =
            Work { target: self.target, base: base.map(|base| &base.generation), read: &read, drop: &drop };
        let staged = stage::stage(&mut draft, &work, self.update.interrupt, self.update.progress)?;
        let indexed = staged.outcomes.values().any(|outcome| matches!(outcome, Outcome::Indexed(_)));
        if base.is_some() && drop.is_empty() && !indexed {
            // All that seemed new is not meant for the index, or cannot be read: the index stays as it is.
            return Ok((Some(staged), None));
        }
        Ok((Some(staged), Some(draft)))
    }

    pub(super) fn contents(&self, parent: Option<&Parent>, staged: Option<&Staged>) -> Result<Contents> {
        let mut files =
            parent.filter(|parent| parent.is_usable()).map_or_else(Files::new, |parent| parent.files.clone());
        for source in &self.look.plan.gone {
            files.remove(source);
        }
        for found in &self.look.changed {
            files.remove(&found.source);
        }
        for (source, seen) in self.seen.iter().chain(&self.look.same) {
            if let Some(state) = files.get_mut(source).filter(|state| state.sha256 == seen.sha256) {
                state.fingerprint = seen.fingerprint;
            }
        }
        let mut skipped: Vec<SkippedFile> = self.look.walked.skipped.iter().map(SkippedFile::from).collect();
        let mut ignored = counts_of(&self.look.walked);
        for (source, outcome) in staged.iter().flat_map(|staged| &staged.outcomes) {
            match outcome {
                Outcome::Indexed(indexed) => {
                    files.insert(source.clone(), indexed.state.clone());
                }
                Outcome::Ignored(reason) => *ignored.entry(reason.to_string()).or_default() += 1,
                Outcome::Skipped(reason, detail) => {
                    skipped.push(SkippedFile {
                        source: source.clone(),
                        reason: *reason,
                        detail: detail.clone(),
                    });
                }
                Outcome::Gone => {}
            }
        }
        if let Some(parent) = parent {
            let before = skipped::read(&parent.generation)?;
            skipped.extend(before.into_iter().filter(|file| !self.target.looks_at(&file.source)));
            if self.target.look != self.target.scope.paths {
                // Only a look at everything can count everything.
                ignored.clone_from(&parent.generation.manifest().ignored);
            }
        }
        skipped.sort_by(|a, b| a.source.cmp(&b.source));
        skipped.dedup_by(|a, b| a.source == b.source);
        let (chunks, tokens) = match (staged, parent) {
            (Some(staged), _) => (staged.committed.chunks, staged.committed.tokens.clone()),
            (None, Some(parent)) => {
                let manifest = parent.generation.manifest();
                (u64::from(manifest.chunks), manifest.tokens.clone())
            }
            (None, None) => (0, BTreeMap::new()),
        };
        let chunks = u32::try_from(chunks).unwrap_or(u32::MAX);
        Ok(Contents { files, skipped, ignored, chunks, tokens })
    }

    /// Whether a generation without any change of its index is worth publishing.
    pub(super) fn is_news(&self, parent: Option<&Parent>, contents: &Contents) -> Result<bool> {
        let Some(parent) = parent else { return Ok(true) };
        let manifest = parent.generation.manifest();
        let is_measured = manifest.evidence.as_ref().is_some_and(|evidence| evidence.method == METHOD);
        Ok(!parent.is_current
            || contents.chunks > 0 && !is_measured
            || manifest.scope != self.target.scope
            || manifest.ignored != contents.ignored
            || skipped::read(&parent.generation)? != contents.skipped)
    }

    pub(super) fn summarise(&mut self, contents: &Contents, parent: Option<&Parent>, staged: Option<Staged>) {
        let none = Files::new();
        let before = parent.map_or(&none, |parent| &parent.files);
        let gone: HashSet<Sha256> =
            self.look.plan.gone.iter().filter_map(|source| Some(before.get(source)?.sha256)).collect();
        let summary = &mut self.summary;
        summary.documents = contents.files.len();
        summary.chunks = contents.chunks;
        summary.unchanged = self.look.plan.unchanged + self.look.same.len();
        summary.unmounted = self.look.plan.unmounted;
        summary.removed = self.look.plan.gone.len();
        summary.ignored = counts_of(&self.look.walked);
        summary.skipped = self.look.walked.skipped.iter().map(SkippedFile::from).collect();
        for ignored in &self.look.walked.ignored {
            summary.name_ignored(ignored.reason, &ignored.source);
        }
        for (source, outcome) in staged.map(|staged| staged.outcomes).into_iter().flatten() {
            match outcome {
                Outcome::Indexed(indexed) => {
                    if before.contains_key(&source) {
                        summary.changed += 1;
                    } else if gone.contains(&indexed.state.sha256) {
                        summary.renamed += 1;
                    } else {
                        summary.added += 1;
                    }
                    summary
                        .warnings
                        .extend(indexed.warnings.into_iter().map(|warning| (source.clone(), warning)));
                }
                Outcome::Ignored(reason) => {
                    *summary.ignored.entry(reason.to_string()).or_default() += 1;
                    summary.name_ignored(reason, &source);
                }
                Outcome::Skipped(reason, detail) => {
                    summary.skipped.push(SkippedFile { source, reason, detail });
                }
                Outcome::Gone => summary.removed += usize::from(before.contains_key(&source)),
            }
        }
        summary.removed -= summary.renamed.min(summary.removed);
        summary.skipped.sort_by(|a, b| a.source.cmp(&b.source));
        summary.lost = summary.skipped.iter().filter(|file| before.contains_key(&file.source)).count();
    }
}

/// How many files were ignored, by reason.
pub(super) fn counts_of(walked: &Walked) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for ignored in &walked.ignored {
        *counts.entry(ignored.reason.to_string()).or_default() += 1;
    }
    counts
}
