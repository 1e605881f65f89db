//! Cuts a document into chunks: slices of the file, never copies, that each fit a model's window and follow the
//! document's own structure.
//!
//! ```text
//! text ─► front matter set aside ─► boundaries (markdown, plain or code) ─► atoms ─► cuts ─► chunks
//! ```
//!
//! A boundary is a place where a cut is possible, with a level: a heading's is higher than a paragraph's, a
//! paragraph's higher than a sentence's. Which of them become cuts is decided in `split`, by size and level and, among
//! equals, by content: so an edit moves the cuts around it and no others. Sizes are counted by `measure`, which needs
//! no model, so that ids are the same with any model and with none.
//!
//! Deliberately left out: reading files (`admit`), which files (`walk`), hashing and ids (the writer).

mod code;
mod markdown;
mod measure;
mod plain;
mod split;

use engine::citation::{ByteRange, LineRange};
use engine::lines::LineIndex;

use crate::front_matter::{self, FrontMatter};
use crate::kind::Kind;
use measure::{TOKEN, measure};
use split::Boundary;

pub(crate) use plain::lines;

/// The chunker's name and version. Whatever changes a cut or a heading path for any text is a new version: chunk ids
/// and embeddings hang on it.
pub const CHUNKER: &str = "structure/2";

/// A heading longer than this, by the chunker's measure, is shortened in heading paths.
const LONGEST_HEADING: u64 = 32 * TOKEN;

/// A heading path longer than this, by the chunker's measure, is shortened: with [`split::LARGEST`] it has to fit a
/// window of 512 tokens.
const LONGEST_PATH: u64 = 80 * TOKEN;

/// A document as it is cut: what it says of itself, and its chunks in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The front matter's title, else the first heading of level 1.
    pub title: Option<String>,
    /// The front matter's tags, in its order, each once.
    pub tags: Vec<String>,
    /// The front matter's date of creation, RFC 3339.
    pub date: Option<String>,
    /// The front matter's date of the last change, RFC 3339.
    pub updated: Option<String>,
    /// The chunks, in order, not overlapping, none blank. Empty where the document is.
    pub chunks: Vec<Chunk>,
    /// What was not understood, as sentences for the person who wrote the document.
    pub warnings: Vec<String>,
}

/// A slice of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it stands: bytes of the text as given, byte order mark and front matter counted.
    pub bytes: ByteRange,
    /// The lines that these bytes touch.
    pub lines: LineRange,
    /// The headings that all of it stands under, outermost first, without markup. For source code the lines that open
    /// the enclosing definitions.
    pub heading_path: Vec<String>,
}

/// Cuts `text`, the whole of a file as UTF-8 with byte order mark and front matter where it has them, into chunks.
/// `source` only says by its name how the text is to be read: as Markdown, as source code or as plain text.
///
/// The same `source` and `text` give the same document, always. Text beyond 4 GiB is not looked at.
pub fn chunk(source: &str, text: &str) -> Document {
    let text = &text[..text.floor_char_boundary(u32::MAX as usize)];
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    match Kind::of(source) {
        Some(Kind::Markdown) => {
            let front_matter = front_matter::read(&text[start..]);
            markdown_document(text, start + front_matter.bytes, front_matter)
        }
        Some(Kind::Code) => {
            let mut outline = code::outline(text, start);
            let chunks =
                chunks(text, start, outline.boundaries, |start, end| outline.definitions.path(start, end));
            Document { chunks, ..Document::default() }
        }
        Some(Kind::Plain) | None => {
            let chunks = chunks(text, start, plain::boundaries(text, start), |_, _| Vec::new());
            Document { chunks, ..Document::default() }
        }
    }
}

fn markdown_document(text: &str, body: usize, front_matter: FrontMatter) -> Document {
    let outline = markdown::outline(text, body);
    let first_heading =
        outline.sections.iter().find(|section| section.level == 1 && !section.text.is_empty());
    // A title that no heading repeats stands above all of them.
    let above = if first_heading.is_none() { front_matter.title.clone() } else { None };
    let title = front_matter.title.or_else(|| first_heading.map(|section| section.text.clone()));
    let mut trail = markdown::Trail::new(&outline.sections);
    let chunks = chunks(text, body, outline.boundaries, |start, end| {
        shortened(above.iter().map(String::as_str).chain(trail.path(start, end)).collect())
    });
    Document {
        title,
        tags: front_matter.tags,
        date: front_matter.date,
        updated: front_matter.updated,
        chunks,
        warnings: front_matter.warnings,
    }
}

/// The chunks of `text` from `start` on. `path` is asked once for each, in order.
fn chunks(
    text: &str,
    start: usize,
    boundaries: Vec<Boundary>,
    mut path: impl FnMut(usize, usize) -> Vec<String>,
) -> Vec<Chunk> {
    let lines = LineIndex::new(text.as_bytes());
    split::pieces(text, start, boundaries)
        .into_iter()
        .filter_map(|piece| split::trimmed(text, piece))
        .map(|piece| {
            let bytes = ByteRange { start: offset(piece.start), end: offset(piece.end) };
            Chunk { bytes, lines: lines.lines_of(bytes), heading_path: path(piece.start, piece.end) }
        })
        .collect()
}

/// A text's offset, which `chunk` keeps within 32 bits.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Headings as a path that is not longer than [`LONGEST_PATH`].
fn shortened(path: Vec<&str>) -> Vec<String> {
    let total: u64 = path.iter().map(|heading| measure(heading).min(LONGEST_HEADING)).sum();
    let share = LONGEST_PATH / u64::try_from(path.len()).unwrap_or(1).max(1);
    let longest = if total > LONGEST_PATH { share } else { LONGEST_HEADING };
    path.into_iter().map(|heading| measure::beginning(heading, longest)).collect()
}

#[cfg(test)]
mod tests;
