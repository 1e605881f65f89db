//! A folder of documents and an index of it, written without the writer: chunks are named by their text.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use engine::citation::{ByteRange, SourceClass};
use engine::generation::current::Current;
use engine::generation::files::{FileRecord, FileState};
use engine::generation::manifest::{Manifest, SCHEMA_VERSION, Scope, SealedFile};
use engine::generation::{self, GenerationId};
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::directory::Exclusive;
use engine::lexical::record::ChunkRecord;
use engine::lexical::schema::{fields, settings};
use engine::lines::LineIndex;
use engine::model::RerankerChoice;
use engine::source::Root;
use engine::{Config, Engine, SourceRoot, extract};

/// Documents beneath a root, and the collection made of them.
pub(crate) struct World {
    folder: tempfile::TempDir,
    /// The collection's name.
    pub(crate) name: String,
    /// Its root, beneath the folder of all.
    pub(crate) root: String,
    pub(crate) source_roots: Vec<SourceRoot>,
    /// Whether files count as left alone for long when they are indexed.
    pub(crate) settled: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("root")).expect("a folder");
        Self {
            folder,
            name: "docs".to_owned(),
            root: "root".to_owned(),
            source_roots: Vec::new(),
            settled: false,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("there").join(&self.root)
    }

    pub(crate) fn collection(&self) -> PathBuf {
        self.index_dir().join(&self.name)
    }

    pub(crate) fn index_dir(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    pub(crate) fn write(&self, source: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(source);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("written");
    }

    /// Publishes a generation that holds of each source the chunks with these texts, in document order.
    pub(crate) fn publish(&self, sources: &[(&str, &[&str])]) -> GenerationId {
        let id = generation::list(&self.collection())
            .expect("listed")
            .last()
            .map_or(GenerationId::FIRST, |id| id.next());
        let folder = self.collection().join(generation::FOLDER).join(id.folder());
        let mut chunks = Vec::new();
        let mut lines = String::new();
        let mut sources = sources.to_vec();
        sources.sort_unstable();
        for (source, texts) in &sources {
            let (state, made) = self.index(source, texts);
            lines += &(FileRecord { source: (*source).to_owned(), state: Some(state) }.line() + "\n");
            chunks.extend(made);
        }
        write_lexical(&folder.join(generation::LEXICAL_FOLDER), &chunks);
        fs::create_dir_all(folder.join("files")).expect("a folder");
        fs::write(folder.join("files/0.jsonl"), lines).expect("written");
        let manifest =
            serde_json::to_vec(&self.manifest(id, &folder, sources.len(), chunks.len())).expect("json");
        fs::write(folder.join("manifest.json"), &manifest).expect("written");
        let current = Current { generation: id, manifest_sha256: Sha256::of(&manifest) };
        fs::write(self.collection().join("CURRENT"), current.to_string()).expect("written");
        id
    }

    pub(crate) fn model_dir(&self) -> PathBuf {
        self.folder.path().join("models")
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::open(self.config()).expect("opened")
    }

    pub(crate) fn config(&self) -> Config {
        Config {
            index_dir: self.index_dir(),
            model_dir: self.model_dir(),
            source_roots: self.source_roots.clone(),
            sessions: 1,
            reranker: RerankerChoice::Installed,
            rerank_sessions: 2,
        }
    }

    fn index(&self, source: &str, texts: &[&str]) -> (FileState, Vec<ChunkRecord>) {
        let file = Root::at(&self.root()).open_source(source).expect("a file");
        let stored = file.read_whole().expect("read");
        let extractor = extract::for_bytes(&stored);
        let text = extractor.map_or_else(
            || stored.clone(),
            |extractor| (extractor.extract)(&stored).expect("well-formed").into_bytes(),
        );
        let mut fingerprint = *file.fingerprint();
        if self.settled {
            fingerprint.seen_ns += 3_000_000_000;
        }
        let state = FileState {
            bytes: stored.len() as u64,
            sha256: Sha256::of(&stored),
            source_class: extractor.map_or(SourceClass::Text, |_| SourceClass::Extracted),
            extractor: extractor.map(|extractor| extractor.identity.to_owned()),
            chunks: u32::try_from(texts.len()).expect("few"),
            fingerprint,
        };
        let records = records(source, &state, &text, texts);
        (state, records)
    }

    fn manifest(&self, generation: GenerationId, folder: &Path, documents: usize, chunks: usize) -> Manifest {
        Manifest {
            schema_version: SCHEMA_VERSION,
            written_by: "a test".to_owned(),
            collection: self.name.parse().expect("a name"),
            generation,
            parent: None,
            published_at: jiff::Timestamp::UNIX_EPOCH,
            scope: Scope {
                root: self.root(),
                label: None,
                paths: vec![".".to_owned()],
                include: Vec::new(),
                exclude: Vec::new(),
                max_file_bytes: 16 << 20,
            },
            chunker: "test/1".to_owned(),
            analyzer: "test/1".to_owned(),
            model: None,
            vectors: false,
            documents: u32::try_from(documents).expect("few"),
            chunks: u32::try_from(chunks).expect("few"),
            tokens: BTreeMap::new(),
            skipped: BTreeMap::new(),
            ignored: BTreeMap::new(),
            evidence: None,
            file_segments: vec!["0.jsonl".to_owned()],
            files: sealed(folder, folder),
        }
    }
}

/// The id of the `ordinal`-th chunk of `source` with this text.
pub(crate) fn chunk_id(source: &str, text: &str, ordinal: u32) -> ChunkId {
    ChunkId::of_text(DocumentId::of_source(source), Sha256::of(text.as_bytes()), ordinal)
}

fn records(source: &str, state: &FileState, stored: &[u8], texts: &[&str]) -> Vec<ChunkRecord> {
    let index = LineIndex::new(stored);
    let mut ordinals: HashMap<String, u32> = HashMap::new();
    let mut from = 0;
    let mut headings = Vec::new();
    let record = |text: &&str| {
        open_section(&mut headings, text);
        let start =
            from + memchr::memmem::find(&stored[from..], text.as_bytes()).expect("the file holds its chunks");
        from = start + text.len();
        let ordinal = ordinals.entry((*text).to_owned()).or_insert(0);
        *ordinal += 1;
        let offset = |at: usize| u32::try_from(at).expect("small");
        let bytes = ByteRange { start: offset(start), end: offset(from) };
        ChunkRecord {
            chunk_id: chunk_id(source, text, *ordinal - 1),
            document_id: DocumentId::of_source(source),
            source: source.to_owned(),
            source_class: state.source_class,
            extractor: state.extractor.clone(),
            bytes,
            lines: index.lines_of(bytes),
            text_sha256: Sha256::of(text.as_bytes()),
            text: (*text).to_owned(),
            title: None,
            heading_path: headings.clone(),
            tags: Vec::new(),
            date: None,
            updated: None,
        }
    };
    texts.iter().map(record).collect()
}

/// Opens the section whose heading, `## like this`, is a chunk's first line.
fn open_section(headings: &mut Vec<String>, text: &str) {
    let line = text.lines().next().unwrap_or_default();
    let name = line.trim_start_matches('#');
    if let Some(above) = (line.len() - name.len()).checked_sub(1) {
        headings.truncate(above);
        headings.push(name.trim().to_owned());
    }
}

fn write_lexical(folder: &Path, chunks: &[ChunkRecord]) {
    fs::create_dir_all(folder).expect("a folder");
    let directory = Exclusive::open(folder).expect("opened");
    let index = tantivy::Index::create(directory, fields().schema.clone(), settings()).expect("created");
    let mut writer: tantivy::IndexWriter = index.writer_with_num_threads(1, 16 << 20).expect("created");
    for chunk in chunks {
        writer.add_document(chunk.to_document()).expect("added");
    }
    writer.commit().expect("committed");
    writer.wait_merging_threads().expect("ended");
}

fn sealed(root: &Path, folder: &Path) -> Vec<SealedFile> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("listed") {
        let path = entry.expect("listed").path();
        if path.is_dir() {
            files.extend(sealed(root, &path));
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            let bytes = fs::read(&path).expect("read");
            let path = path.strip_prefix(root).expect("beneath").to_string_lossy().into_owned();
            files.push(SealedFile { path, bytes: bytes.len() as u64, sha256: Sha256::of(&bytes) });
        }
    }
    files
}
