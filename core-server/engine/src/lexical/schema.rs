//! The fields of the lexical index: one definition for reader and writer.
//!
//! What is ranked is not stored, and what is stored is not ranked: the four ranked fields hold the terms that
//! `analysis` made of the chunk, separated by single spaces, so that tantivy's part is to cut at the spaces.

use std::sync::LazyLock;

use tantivy::IndexSettings;
use tantivy::schema::{
    BytesOptions, FAST, Field, IndexRecordOption, NumericOptions, STORED, Schema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;

/// The schema and the fields in it.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The schema that every lexical index of this program has.
    pub schema: Schema,
    /// Stored and indexed, 16 bytes.
    pub chunk_id: Field,
    /// Stored and indexed, 16 bytes.
    pub document_id: Field,
    /// Stored and indexed, 32 bytes: the hash of the cited bytes.
    pub text_sha256: Field,
    /// Stored text, and fast: filtered by.
    pub source: Field,
    /// Stored number: 0 is text, 1 is extracted.
    pub source_class: Field,
    /// Stored text, absent without an extractor.
    pub extractor: Field,
    /// Stored numbers; the first fast, which orders a document's chunks.
    pub byte_start: Field,
    /// Stored numbers.
    pub byte_end: Field,
    /// Stored numbers.
    pub line_start: Field,
    /// Stored numbers.
    pub line_end: Field,
    /// Stored text.
    pub text: Field,
    /// Stored text, absent without a title.
    pub title: Field,
    /// Stored text, once per heading, outermost first.
    pub heading_path: Field,
    /// Stored text, once per tag, and fast: filtered by.
    pub tag: Field,
    /// Stored text, absent without a date, and fast: filtered by.
    pub date: Field,
    /// Stored text, absent without a date, and fast: filtered by.
    pub updated: Field,
    /// Indexed: the code of the language that the text is in, or [`NO_LANGUAGE`].
    pub language: Field,
    /// Fast number: orders equal scores.
    pub tie: Field,
    /// The ranked fields, in the order of [`Ranked::ALL`].
    pub ranked: [RankedField; 4],
}

/// A field that is ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ranked {
    /// Stems of the text.
    Words,
    /// Words of the text as written, and whole identifiers.
    Exact,
    /// Title and heading path.
    Heading,
    /// The source's path.
    Path,
}

impl Ranked {
    /// All of them, in the order of their index.
    pub const ALL: [Self; 4] = [Self::Words, Self::Exact, Self::Heading, Self::Path];

    /// The field's name in the index and in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Exact => "exact",
            Self::Heading => "heading",
            Self::Path => "path",
        }
    }
}

/// The two fields that a ranked field is made of.
#[derive(Clone, Copy, Debug)]
pub struct RankedField {
    /// The terms.
    pub terms: Field,
    /// Fast number: how many terms the chunk has there. tantivy itself keeps lengths rounded, and its sums of them
    /// drift with every merge.
    pub length: Field,
}

/// The fields. The schema is the same for every index.
pub fn fields() -> &'static Fields {
    static FIELDS: LazyLock<Fields> = LazyLock::new(build);
    &FIELDS
}

/// How documents are stored: in small blocks, so that a hit costs little to load.
pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Lz4,
        docstore_blocksize: 4096,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

/// What stands in the field of the language where the text shows none.
pub const NO_LANGUAGE: &str = "und";

/// The name of the fast field that orders equal scores.
pub const TIE: &str = "tie";

/// The names of the fast fields that are filtered by.
pub(super) const SOURCE: &str = "source";
pub(super) const TAG: &str = "tag";
pub(super) const DATE: &str = "date";
pub(super) const UPDATED: &str = "updated";

/// The name of the fast field that orders a document's chunks.
pub(super) const BYTE_START: &str = "byte_start";

fn build() -> Fields {
    let mut builder = Schema::builder();
    let id = |builder: &mut SchemaBuilder, name: &str| {
        builder.add_bytes_field(name, BytesOptions::default().set_indexed().set_stored())
    };
    let stored_text = |builder: &mut SchemaBuilder, name: &str| builder.add_text_field(name, STORED);
    let filtered_text = |builder: &mut SchemaBuilder, name: &str| {
        builder.add_text_field(name, TextOptions::default().set_stored().set_fast("raw"))
    };
    let stored_number = |builder: &mut SchemaBuilder, name: &str| builder.add_u64_field(name, STORED);
    let chunk_id = id(&mut builder, "chunk_id");
    let document_id = id(&mut builder, "document_id");
    let text_sha256 = id(&mut builder, "text_sha256");
    let source = filtered_text(&mut builder, SOURCE);
    let source_class = stored_number(&mut builder, "source_class");
    let extractor = stored_text(&mut builder, "extractor");
    let byte_start = builder.add_u64_field(BYTE_START, STORED | FAST);
    let byte_end = stored_number(&mut builder, "byte_end");
    let line_start = stored_number(&mut builder, "line_start");
    let line_end = stored_number(&mut builder, "line_end");
    let text = stored_text(&mut builder, "text");
    let title = stored_text(&mut builder, "title");
    let heading_path = stored_text(&mut builder, "heading_path");
    let tag = filtered_text(&mut builder, TAG);
    let date = filtered_text(&mut builder, DATE);
    let updated = filtered_text(&mut builder, UPDATED);
    let language = builder.add_bytes_field("language", BytesOptions::default().set_indexed());
    let tie = builder.add_u64_field(TIE, FAST);
    let ranked = Ranked::ALL.map(|ranked| ranked_field(&mut builder, ranked));
    Fields {
        schema: builder.build(),
        chunk_id,
        document_id,
        text_sha256,
        source,
        source_class,
        extractor,
        byte_start,
        byte_end,
        line_start,
        line_end,
        text,
        title,
        heading_path,
        tag,
        date,
        updated,
        language,
        tie,
        ranked,
    }
}

fn ranked_field(builder: &mut SchemaBuilder, ranked: Ranked) -> RankedField {
    // No positions: nothing asks for phrases, and they would be half of the index.
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_fieldnorms(true)
        .set_index_option(IndexRecordOption::WithFreqs);
    let terms = builder.add_text_field(ranked.name(), TextOptions::default().set_indexing_options(indexing));
    let length = builder.add_u64_field(&length_name(ranked), NumericOptions::default().set_fast());
    RankedField { terms, length }
}

/// The name of the fast field with the number of terms.
pub fn length_name(ranked: Ranked) -> String {
    format!("{}_length", ranked.name())
}
