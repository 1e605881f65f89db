//! The collection that is measured: its documents, the names by which judgments know them, and what identifies it.
//!
//! Everything is read from the index, so that a collection can be measured when its files are gone.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use engine::generation::Generation;
use engine::generation::manifest::ModelIdentity;
use engine::id::{DocumentId, Sha256};
use engine::lexical::record::ChunkRecord;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::file_table;

/// What a run was measured on. Two runs can be compared where `sha256` is the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The collection's name, or the folder's.
    pub name: String,
    /// How many documents.
    pub documents: u32,
    /// How many chunks they make.
    pub chunks: u32,
    /// A hash over the sources and the hashes of their bytes: the same wherever the corpus lies.
    pub sha256: Sha256,
    /// What cut the documents.
    pub chunker: String,
    /// What made terms of them.
    pub analyzer: String,
    /// The model that embedded them; none where there are no vectors.
    pub model: Option<ModelIdentity>,
}

/// The documents of one generation.
#[derive(Debug)]
pub struct Corpus<'a> {
    generation: &'a Generation,
    sha256: Sha256,
    by_id: HashMap<DocumentId, String>,
    /// By file stem; none where several have it.
    by_stem: HashMap<String, Option<DocumentId>>,
}

/// What a judgment's name of a document means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// This source.
    Source(&'a str),
    /// The stem of several files.
    Several,
    /// No file of the collection.
    None,
}

impl<'a> Corpus<'a> {
    /// Reads the list of documents.
    pub fn of(generation: &'a Generation) -> Result<Self> {
        let files = file_table::read(generation)?;
        let lines = files.iter().map(|(source, state)| format!("{source}\n{}\n", state.sha256));
        let sha256 = Sha256::of(lines.collect::<String>().as_bytes());
        let mut by_id = HashMap::with_capacity(files.len());
        let mut by_stem = HashMap::with_capacity(files.len());
        for source in files.into_keys() {
            let id = DocumentId::of_source(&source);
            by_stem.entry(stem(&source)).and_modify(|known| *known = None).or_insert(Some(id));
            by_id.insert(id, source);
        }
        Ok(Self { generation, sha256, by_id, by_stem })
    }

    /// What identifies it, under the `name` that it was given.
    pub fn identity(&self, name: &str) -> Identity {
        let manifest = self.generation.manifest();
        Identity {
            name: name.to_owned(),
            documents: manifest.documents,
            chunks: manifest.chunks,
            sha256: self.sha256,
            chunker: manifest.chunker.clone(),
            analyzer: manifest.analyzer.clone(),
            model: manifest.model.clone().filter(|_| manifest.vectors),
        }
    }

    /// The document that a judgment calls `name`: a source, else the stem of one.
    pub fn named(&self, name: &str) -> Named<'_> {
        if let Some(source) = self.by_id.get(&DocumentId::of_source(name)) {
            return Named::Source(source);
        }
        match self.by_stem.get(name) {
            Some(Some(id)) => self.by_id.get(id).map_or(Named::None, |source| Named::Source(source)),
            Some(None) => Named::Several,
            None => Named::None,
        }
    }

    /// A document's source.
    pub fn source(&self, document: DocumentId) -> Option<&str> {
        self.by_id.get(&document).map(String::as_str)
    }

    /// Calls `visit` with every document's source and its chunks in their order.
    pub fn for_each_document(&self, mut visit: impl FnMut(&str, &[ChunkRecord])) -> Result<()> {
        let lexical = self.generation.lexical()?;
        let sources: BTreeMap<&String, DocumentId> =
            self.by_id.iter().map(|(id, source)| (source, *id)).collect();
        for (source, id) in sources {
            let chunks: Vec<ChunkRecord> =
                lexical.chunks_of(id)?.into_iter().map(|(_, record)| record).collect();
            visit(source, &chunks);
        }
        Ok(())
    }
}

fn stem(source: &str) -> String {
    Path::new(source).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
