//! What a run asks, and what of the collection answers it: queries and judgments, held against the corpus.
//!
//! Deliberately left out: refusing a collection that lacks what was judged. As in `trec_eval` it counts as not found,
//! and is warned about.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::id::ChunkId;

use super::corpus::{Corpus, Named};
use super::judgments::{Grades, Query};

/// So many names are listed in a warning.
const FIRST: usize = 5;

/// Queries, and what answers each.
#[derive(Debug)]
pub struct Questions {
    /// What is asked.
    pub queries: Vec<Query>,
    /// By query: what answers it, and how well. A query that is not in it has no judgment.
    pub grades: Grades,
    /// What was judged.
    pub unit: Unit,
    /// What is wrong with the judgments, for whoever made them.
    pub warnings: Vec<String>,
}

/// What is judged, and so what is ranked.
#[derive(Debug)]
pub enum Unit {
    /// Documents, each by its best passage.
    Document,
    /// Passages: what each answers, by its id.
    Passage(HashMap<ChunkId, Vec<String>>),
}

impl Questions {
    /// Judgments by document: their names become sources.
    pub fn by_document(queries: Vec<Query>, named: Grades, corpus: &Corpus<'_>) -> Self {
        let mut grades = Grades::new();
        let (mut unknown, mut several) = (BTreeSet::new(), BTreeSet::new());
        for (query, documents) in named {
            let mut sources = BTreeMap::new();
            for (name, grade) in documents {
                let source = match corpus.named(&name) {
                    Named::Source(source) => source.to_owned(),
                    Named::None => {
                        unknown.insert(name.clone());
                        name
                    }
                    Named::Several => {
                        several.insert(name.clone());
                        name
                    }
                };
                let best: &mut u32 = sources.entry(source).or_default();
                *best = grade.max(*best);
            }
            grades.insert(query, sources);
        }
        let mut questions = Self { queries, grades, unit: Unit::Document, warnings: Vec::new() };
        questions.warn(&unknown, "judged, but not in the collection; it counts as not found");
        questions
            .warn(&several, "judged by a name that several files have; write the path relative to the root");
        questions.warn_of_unasked();
        questions
    }

    /// Whether a query has anything relevant.
    pub fn is_answerable(&self, query: &Query) -> bool {
        self.grades.get(&query.id).is_some_and(|grades| grades.values().any(|grade| *grade > 0))
    }

    /// Adds queries that nothing in the collection answers.
    pub fn add_unanswerable(&mut self, queries: Vec<Query>) -> Result<(), String> {
        let known: BTreeSet<String> = self.queries.iter().map(|query| query.id.clone()).collect();
        for query in queries {
            if self.is_answerable(&query) {
                return Err(format!(
                    "the query {} is said to be unanswerable, and has a relevant judgment",
                    query.id
                ));
            }
            if !known.contains(&query.id) {
                self.queries.push(query);
            }
        }
        Ok(())
    }

    /// Warns of a set of names, where there are any.
    pub fn warn(&mut self, names: &BTreeSet<String>, what: &str) {
        if !names.is_empty() {
            self.warnings.push(format!("{what} ({}): {}", names.len(), listed(names)));
        }
    }

    fn warn_of_unasked(&mut self) {
        let asked: BTreeSet<&str> = self.queries.iter().map(|query| &*query.id).collect();
        let unasked: BTreeSet<String> =
            self.grades.keys().filter(|query| !asked.contains(query.as_str())).cloned().collect();
        self.warn(&unasked, "judged, but not asked");
    }
}

/// The first few of `names`.
fn listed(names: &BTreeSet<String>) -> String {
    let first: Vec<&str> = names.iter().take(FIRST).map(String::as_str).collect();
    let more = if names.len() > FIRST { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}
