//! The lexical side of a generation: a tantivy index of chunks, opened without a lock and without a write.
//!
//! Deliberately left out: writing one (`ingest`), and vectors (`dense`), whose rows have the same numbers.

pub mod directory;
mod holders;
mod known_words;
mod nearby;
pub mod query;
pub mod record;
pub mod rows;
mod sample;
pub mod schema;
mod selection;
mod statistics;
mod top_k;

pub use holders::{Holders, READ as LITERAL_CANDIDATES_READ};
pub use known_words::KnownWord;
pub use query::WordQuery;
pub use selection::Selection;
pub use top_k::Candidate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tantivy::columnar::Column;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{
    DocAddress, DocId, DocSet as _, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED,
    TantivyDocument, TantivyError, Term,
};

use self::directory::Sealed;
use self::record::ChunkRecord;
use self::schema::{BYTE_START, NO_LANGUAGE, Ranked, TIE, fields, length_name};
use self::statistics::{Lengths, alive_doc_freq, dead_rows};
use crate::analysis::Language;
use crate::error::{Error, Result};
use crate::id::{ChunkId, DocumentId, Sha256};

/// An open lexical index. Its files are mapped, and may be unlinked while it is open.
pub struct Lexical {
    path: PathBuf,
    searcher: Searcher,
    tokens: [u64; 4],
    /// By ranked field, from `tokens`.
    lengths: [Lengths; 4],
    /// By segment, the rows that are deleted.
    dead: Vec<Vec<DocId>>,
    /// By segment, what orders equal scores.
    ties: Vec<Column<u64>>,
    /// By segment, where in its document each chunk begins.
    starts: Vec<Column<u64>>,
    /// By segment, a number of each chunk's source, the same for chunks of one document.
    sources: Vec<Column<u64>>,
    /// The languages of its chunks, the most frequent first.
    languages: Vec<Language>,
}

/// One segment of a lexical index. Its rows are numbered from 0, and keep their numbers when some are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its UUID, 32 hex digits: the name of its files, and of its vectors' file.
    pub id: String,
    /// How many rows it has.
    pub max_doc: u32,
    /// How many of them are alive.
    pub alive: u32,
}

impl Lexical {
    /// Opens the index in the folder `path` and counts the tokens of its ranked fields, which takes a
    /// nanosecond or two per chunk.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_counted(path, &BTreeMap::new())
    }

    /// Opens the index in the folder `path`, whose [`tokens`](Self::tokens) are known: the work does not grow
    /// with the index, but for rows that are deleted. A field that is not in `tokens` is counted.
    pub fn open_counted(path: &Path, tokens: &BTreeMap<String, u64>) -> Result<Self> {
        let searcher = open_searcher(path).map_err(failed("opening it"))?;
        let mut known = [0; 4];
        for ranked in Ranked::ALL {
            known[ranked as usize] = match tokens.get(ranked.name()) {
                Some(&tokens) => tokens,
                None => count_tokens(&searcher, ranked).map_err(failed("counting tokens"))?,
            };
        }
        Self::with_tokens(path, searcher, known)
    }

    fn with_tokens(path: &Path, searcher: Searcher, tokens: [u64; 4]) -> Result<Self> {
        let lengths = tokens.map(|tokens| Lengths::new(searcher.num_docs(), tokens));
        let dead: Vec<_> = searcher.segment_readers().iter().map(dead_rows).collect();
        let column = |name: &str| {
            let columns = searcher.segment_readers().iter().map(|reader| reader.fast_fields().u64(name));
            columns.collect::<Result<_, _>>().map_err(failed("opening the order of chunks"))
        };
        let (ties, starts) = (column(TIE)?, column(BYTE_START)?);
        let sources = searcher.segment_readers().iter().map(nearby::sources).collect::<Result<_, _>>();
        let sources = sources.map_err(failed("opening the sources of chunks"))?;
        let languages = spoken(&searcher, &dead).map_err(failed("counting languages"))?;
        Ok(Self { path: path.to_owned(), searcher, tokens, lengths, dead, ties, starts, sources, languages })
    }

    /// What `text` asks of the chunks here.
    pub fn query(&self, text: &str) -> WordQuery {
        WordQuery::of(text, &self.languages)
    }

    /// The languages of the chunks, the most frequent first. Chunks that show none were read as English.
    pub fn languages(&self) -> &[Language] {
        &self.languages
    }

    /// tantivy's view of it.
    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// How many chunks are alive.
    pub fn chunks(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// The exact number of terms in each ranked field, over the chunks that are alive.
    pub fn tokens(&self) -> BTreeMap<String, u64> {
        Ranked::ALL.iter().map(|&ranked| (ranked.name().to_owned(), self.tokens[ranked as usize])).collect()
    }

    /// The segments, in the order of [`DocAddress::segment_ord`].
    pub fn segments(&self) -> Vec<Segment> {
        let segment = |reader: &SegmentReader| Segment {
            id: reader.segment_id().uuid_string(),
            max_doc: reader.max_doc(),
            alive: reader.num_docs(),
        };
        self.searcher.segment_readers().iter().map(segment).collect()
    }

    /// Orders the chunk in a row among others with its score, ascending: the same in every index.
    pub fn tie(&self, address: DocAddress) -> u64 {
        self.ties[address.segment_ord as usize].first(address.doc_id).unwrap_or(u64::MAX)
    }

    /// The chunk in a row. Rows that were deleted still have theirs.
    pub fn record(&self, address: DocAddress) -> Result<ChunkRecord> {
        let document: TantivyDocument = self.searcher.doc(address).map_err(failed("reading a chunk"))?;
        ChunkRecord::from_document(&document)
            .map_err(|error| Error::Damaged { path: self.path.clone(), what: error.to_string() })
    }

    /// The chunk with this id, where it is alive.
    pub fn chunk(&self, id: ChunkId) -> Result<Option<(DocAddress, ChunkRecord)>> {
        match self.addresses(fields().chunk_id, id.as_bytes())?.first() {
            Some(&address) => Ok(Some((address, self.record(address)?))),
            None => Ok(None),
        }
    }

    /// All chunks of a document, in document order; empty where it is not here.
    pub fn chunks_of(&self, document: DocumentId) -> Result<Vec<(DocAddress, ChunkRecord)>> {
        self.records(fields().document_id, document.as_bytes())
    }

    /// Where all chunks of a document are, in document order; empty where it is not here. Reads none of them.
    pub fn places_of(&self, document: DocumentId) -> Result<Vec<DocAddress>> {
        let mut places = self.addresses(fields().document_id, document.as_bytes())?;
        let start = |address: &DocAddress| self.starts[address.segment_ord as usize].first(address.doc_id);
        places.sort_by_cached_key(start);
        Ok(places)
    }

    /// Where all chunks are whose cited bytes have this hash, in no order. Reads none of them.
    pub fn places_of_text(&self, text: Sha256) -> Result<Vec<DocAddress>> {
        self.addresses(fields().text_sha256, text.as_bytes())
    }

    /// All chunks whose cited bytes have this hash, by source and place.
    pub fn chunks_with_text(&self, text: Sha256) -> Result<Vec<(DocAddress, ChunkRecord)>> {
        self.records(fields().text_sha256, text.as_bytes())
    }

    /// Calls `visit` with every chunk that is alive, in row order.
    pub fn for_each_alive(&self, mut visit: impl FnMut(DocAddress, ChunkRecord) -> Result<()>) -> Result<()> {
        for segment in 0..self.segment_count() {
            self.for_each_row(segment, |row, alive, record| {
                if alive { visit(DocAddress::new(segment, row), record) } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    /// Calls `visit` with every row of a segment in order: its number, whether it is alive, and its chunk.
    pub fn for_each_row(
        &self,
        segment: u32,
        mut visit: impl FnMut(DocId, bool, ChunkRecord) -> Result<()>,
    ) -> Result<()> {
        let reader = self.searcher.segment_reader(segment);
        for row in 0..reader.max_doc() {
            visit(row, !reader.is_deleted(row), self.record(DocAddress::new(segment, row))?)?;
        }
        Ok(())
    }

    fn segment_count(&self) -> u32 {
        u32::try_from(self.searcher.segment_readers().len()).unwrap_or(u32::MAX)
    }

    fn records(&self, field: Field, value: &[u8]) -> Result<Vec<(DocAddress, ChunkRecord)>> {
        let mut records = self
            .addresses(field, value)?
            .into_iter()
            .map(|address| Ok((address, self.record(address)?)))
            .collect::<Result<Vec<_>>>()?;
        records.sort_by(|(_, left), (_, right)| {
            (&left.source, left.bytes.start).cmp(&(&right.source, right.bytes.start))
        });
        Ok(records)
    }

    /// The rows that are alive and have `value` in an indexed field.
    fn addresses(&self, field: Field, value: &[u8]) -> Result<Vec<DocAddress>> {
        let term = Term::from_field_bytes(field, value);
        let mut addresses = Vec::new();
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            rows(reader, &term, |row| addresses.push(DocAddress::new(segment, row)))
                .map_err(failed("looking up an id"))?;
        }
        Ok(addresses)
    }
}

fn open_searcher(path: &Path) -> tantivy::Result<Searcher> {
    let index = Index::open(Sealed::open(path)?)?;
    if index.schema() != fields().schema {
        return Err(TantivyError::SchemaError("the index has other fields".to_owned()));
    }
    let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    Ok(reader.searcher())
}

fn count_tokens(searcher: &Searcher, ranked: Ranked) -> tantivy::Result<u64> {
    let mut tokens = 0;
    for reader in searcher.segment_readers() {
        let lengths = reader.fast_fields().u64(&length_name(ranked))?;
        tokens += reader.doc_ids_alive().filter_map(|row| lengths.first(row)).sum::<u64>();
    }
    Ok(tokens)
}

/// The languages of the chunks that are alive, the most frequent first.
fn spoken(searcher: &Searcher, dead: &[Vec<DocId>]) -> tantivy::Result<Vec<Language>> {
    let mut chunks: BTreeMap<Language, u32> = BTreeMap::new();
    for (reader, dead) in searcher.segment_readers().iter().zip(dead) {
        let index = reader.inverted_index(fields().language)?;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            let code = std::str::from_utf8(terms.key()).unwrap_or(NO_LANGUAGE);
            let alive = alive_doc_freq(reader, dead, &index, terms.value())?;
            *chunks.entry(Language::of_code(code).unwrap_or(Language::English)).or_default() += alive;
        }
    }
    let mut spoken: Vec<(Language, u32)> = chunks.into_iter().filter(|(_, chunks)| *chunks > 0).collect();
    spoken.sort_by_key(|(language, chunks)| (std::cmp::Reverse(*chunks), *language));
    Ok(spoken.into_iter().map(|(language, _)| language).collect())
}

fn rows(reader: &SegmentReader, term: &Term, mut visit: impl FnMut(DocId)) -> tantivy::Result<()> {
    let inverted_index = reader.inverted_index(term.field())?;
    if let Some(mut postings) = inverted_index.read_postings(term, IndexRecordOption::Basic)? {
        while postings.doc() != TERMINATED {
            if !reader.is_deleted(postings.doc()) {
                visit(postings.doc());
            }
            postings.advance();
        }
    }
    Ok(())
}

/// Says what failed to the person who can mend it.
pub fn failed(doing: &'static str) -> impl FnOnce(TantivyError) -> Error {
    move |source| Error::Lexical { doing, source }
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lexical").field("path", &self.path).finish_non_exhaustive()
    }
}
