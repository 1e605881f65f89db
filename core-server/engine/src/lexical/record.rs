//! A chunk as it goes into the lexical index and comes out.

use tantivy::TantivyDocument;
use tantivy::schema::document::CompactDocValue;
use tantivy::schema::{Field, Value as _};

use super::schema::{Fields, NO_LANGUAGE, Ranked, fields};
use crate::analysis::{self, Kind, Language, Reading};
use crate::citation::{ByteRange, LineRange, SourceClass};
use crate::id::{ChunkId, DocumentId, Sha256};

/// A chunk and all that is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRecord {
    /// Its id.
    pub chunk_id: ChunkId,
    /// Its document's id.
    pub document_id: DocumentId,
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// How the offsets are to be read.
    pub source_class: SourceClass,
    /// The extractor's name and version, where there is one.
    pub extractor: Option<String>,
    /// The cited bytes.
    pub bytes: ByteRange,
    /// The cited lines.
    pub lines: LineRange,
    /// The hash of the cited bytes.
    pub text_sha256: Sha256,
    /// The cited text.
    pub text: String,
    /// The document's title.
    pub title: Option<String>,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// The document's tags.
    pub tags: Vec<String>,
    /// The document's date, RFC 3339.
    pub date: Option<String>,
    /// The document's date of last change, RFC 3339.
    pub updated: Option<String>,
}

/// A stored document that is no chunk: the index was not written by this program.
#[derive(Debug, thiserror::Error)]
#[error("a stored chunk has no valid {field}")]
pub struct InvalidRecord {
    field: &'static str,
}

impl ChunkRecord {
    /// The document that tantivy indexes and stores.
    pub fn to_document(&self) -> TantivyDocument {
        let fields = fields();
        let mut document = TantivyDocument::with_capacity(2 * self.text.len() + 1024);
        self.store(fields, &mut document);
        document.add_u64(fields.tie, self.chunk_id.tie_breaker());
        let language = Language::of(&self.text);
        document.add_bytes(fields.language, language.map_or(NO_LANGUAGE, Language::code).as_bytes());
        let mut terms = RankedTerms::default();
        terms.analyze(self, Reading::of_text_in(language));
        for (field, terms) in fields.ranked.iter().zip(&terms.0) {
            if terms.count > 0 {
                document.add_text(field.terms, &terms.text);
            }
            document.add_u64(field.length, terms.count);
        }
        document
    }

    fn store(&self, fields: &Fields, document: &mut TantivyDocument) {
        document.add_bytes(fields.chunk_id, self.chunk_id.as_bytes());
        document.add_bytes(fields.document_id, self.document_id.as_bytes());
        document.add_bytes(fields.text_sha256, self.text_sha256.as_bytes());
        document.add_text(fields.source, &self.source);
        document.add_u64(
            fields.source_class,
            match self.source_class {
                SourceClass::Text => 0,
                SourceClass::Extracted => 1,
            },
        );
        for (field, number) in [
            (fields.byte_start, self.bytes.start),
            (fields.byte_end, self.bytes.end),
            (fields.line_start, self.lines.start),
            (fields.line_end, self.lines.end),
        ] {
            document.add_u64(field, number.into());
        }
        document.add_text(fields.text, &self.text);
        for heading in &self.heading_path {
            document.add_text(fields.heading_path, heading);
        }
        for tag in &self.tags {
            document.add_text(fields.tag, tag);
        }
        for (field, text) in [
            (fields.extractor, &self.extractor),
            (fields.title, &self.title),
            (fields.date, &self.date),
            (fields.updated, &self.updated),
        ] {
            if let Some(text) = text {
                document.add_text(field, text);
            }
        }
    }

    /// What a model is given of it: heading path, line feed, text; never a path or a file's name.
    pub fn embedded_text(&self) -> String {
        if self.heading_path.is_empty() {
            self.text.clone()
        } else {
            format!("{}\n{}", self.heading_path.join(" > "), self.text)
        }
    }

    /// The chunk in a stored document.
    pub fn from_document(document: &TantivyDocument) -> Result<Self, InvalidRecord> {
        let fields = fields();
        let stored = Stored { document };
        Ok(Self {
            chunk_id: ChunkId::from_bytes(stored.bytes(fields.chunk_id, "chunk_id")?),
            document_id: DocumentId::from_bytes(stored.bytes(fields.document_id, "document_id")?),
            source: stored.text(fields.source).ok_or(InvalidRecord { field: "source" })?,
            source_class: match stored.number(fields.source_class, "source_class")? {
                0 => SourceClass::Text,
                1 => SourceClass::Extracted,
                _ => return Err(InvalidRecord { field: "source_class" }),
            },
            extractor: stored.text(fields.extractor),
            bytes: ByteRange {
                start: stored.number(fields.byte_start, "byte_start")?,
                end: stored.number(fields.byte_end, "byte_end")?,
            },
            lines: LineRange {
                start: stored.number(fields.line_start, "line_start")?,
                end: stored.number(fields.line_end, "line_end")?,
            },
            text_sha256: Sha256::from_bytes(stored.bytes(fields.text_sha256, "text_sha256")?),
            text: stored.text(fields.text).ok_or(InvalidRecord { field: "text" })?,
            title: stored.text(fields.title),
            heading_path: stored.texts(fields.heading_path),
            tags: stored.texts(fields.tag),
            date: stored.text(fields.date),
            updated: stored.text(fields.updated),
        })
    }
}

/// A stored document, field by field.
struct Stored<'a> {
    document: &'a TantivyDocument,
}

impl<'a> Stored<'a> {
    fn bytes<const N: usize>(&self, field: Field, name: &'static str) -> Result<[u8; N], InvalidRecord> {
        self.first(field)
            .and_then(|value| value.as_bytes())
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(InvalidRecord { field: name })
    }

    fn number(&self, field: Field, name: &'static str) -> Result<u32, InvalidRecord> {
        self.first(field)
            .and_then(|value| value.as_u64())
            .and_then(|number| number.try_into().ok())
            .ok_or(InvalidRecord { field: name })
    }

    fn text(&self, field: Field) -> Option<String> {
        self.first(field).and_then(|value| value.as_str()).map(str::to_owned)
    }

    fn texts(&self, field: Field) -> Vec<String> {
        self.document.get_all(field).filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }

    fn first(&self, field: Field) -> Option<CompactDocValue<'a>> {
        self.document.get_first(field)
    }
}

/// The terms of each ranked field, in the order of [`Ranked::ALL`].
#[derive(Default)]
struct RankedTerms([Terms; 4]);

/// Terms separated by spaces, and how many they are.
#[derive(Default)]
struct Terms {
    text: String,
    count: u64,
}

impl Terms {
    fn push(&mut self, term: &str) {
        if self.count > 0 {
            self.text.push(' ');
        }
        self.text.push_str(term);
        self.count += 1;
    }
}

impl RankedTerms {
    fn analyze(&mut self, record: &ChunkRecord, reading: Reading) {
        analysis::analyze(&record.text, reading, |kind, term| {
            let field = match kind {
                Kind::Stem | Kind::Also | Kind::Unaccented | Kind::Gram | Kind::Stop => Ranked::Words,
                Kind::Exact | Kind::Whole => Ranked::Exact,
            };
            self.0[field as usize].push(term);
        });
        for heading in record.title.iter().chain(&record.heading_path) {
            self.analyze_short(Ranked::Heading, heading, reading);
        }
        self.analyze_short(Ranked::Path, &record.source, reading);
    }

    /// Short fields hold stems and wholes alike.
    fn analyze_short(&mut self, field: Ranked, text: &str, reading: Reading) {
        analysis::analyze(text, reading, |kind, term| {
            if kind != Kind::Exact {
                self.0[field as usize].push(term);
            }
        });
    }
}
