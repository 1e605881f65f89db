//! Chooses, of all places where a text may be cut, those where it is.
//!
//! Every place has a rank: its level in the document's structure and, among equals, a hash of the text behind it. Around
//! a place `p` lies the span between its nearest neighbours of higher rank. **`p` is a cut exactly where that span
//! is larger than a chunk may be.** That is what cutting a text at its highest place, then both halves at theirs, until
//! all pieces fit, would come to; but said this way it hangs only on the text around `p`: an edit that is farther
//! away than one chunk cannot change it. So structure decides where there is any, content where there is none, and nothing
//! is counted from the beginning of the file.
//!
//! Two things raise a place among those of its level: where the pieces beside it could not be one chunk anyhow, the cut
//! has to be there, so it is made first; and a place far from all higher ones leaves no small pieces.
//!
//! All of it is linear in the length of the text.

mod atoms;
mod cuts;

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use self::atoms::atoms;
use self::cuts::{Ranks, without_crumbs};
use super::measure::TOKEN;

/// The largest chunk, by the chunker's measure; together with [`super::LONGEST_PATH`] it fits a window of 512 tokens.
pub(super) const LARGEST: u64 = 340 * TOKEN;

/// Levels of boundaries, highest first. Those of nested blocks are counted down from the level of their parent.
pub(super) mod level {
    /// Before a heading of level 1; each deeper one is less by one.
    pub(in crate::chunk) const HEADING: u16 = 900;
    /// Before the sixth level of headings: what is below is no section's beginning.
    pub(in crate::chunk) const LAST_HEADING: u16 = HEADING - 5;
    /// Before a block of the document itself.
    pub(in crate::chunk) const BLOCK: u16 = 600;
    /// Between sentences.
    pub(super) const SENTENCE: u16 = 300;
    /// Between lines of a paragraph.
    pub(super) const PROSE_LINE: u16 = 290;
    /// Between what belongs together: a heading and what it is above, a sentence with a colon and its list.
    pub(in crate::chunk) const LEAD: u16 = 280;
    /// Between lines of a fence and rows of a table; code counts down from it by indentation.
    pub(in crate::chunk) const LINE: u16 = 250;
    /// Between clauses, and other places within a line that a reader would choose.
    pub(super) const CLAUSE: u16 = 120;
    /// Between words.
    pub(super) const WORD: u16 = 110;
    /// Within a word.
    pub(super) const LETTER: u16 = 100;
}

/// How the text behind a boundary is taken apart where it is larger than a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Into sentences and lines.
    Prose,
    /// Into lines, by indentation.
    Lines,
}

/// A place where a cut is possible, and what is behind it up to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    pub(super) at: usize,
    pub(super) level: u16,
    pub(super) grain: Grain,
}

/// Cuts `text` from `start` on into pieces that cover all of it. `boundaries` are in order, none before `start`.
pub(super) fn pieces(text: &str, start: usize, boundaries: Vec<Boundary>) -> Vec<Range<usize>> {
    let atoms = atoms(text, start, boundaries);
    if atoms.is_empty() {
        return Vec::new();
    }
    let ranks = Ranks::of(&atoms);
    let starts = without_crumbs(&ranks, &ranks.cuts());
    let ends = starts.iter().skip(1).map(|&atom| atoms[atom].start).chain([text.len()]);
    starts.iter().map(|&atom| atoms[atom].start).zip(ends).map(|(start, end)| start..end).collect()
}

/// `piece` without blank lines before it and white space behind it; `None` where nothing is left. Indentation stays.
pub(super) fn trimmed(text: &str, piece: Range<usize>) -> Option<Range<usize>> {
    let slice = &text[piece.clone()];
    let first = slice.find(|character: char| !character.is_whitespace())?;
    let begins_line = piece.start == 0
        || text.as_bytes()[..piece.start].ends_with(b"\n")
        || text.as_bytes()[..piece.start].ends_with(b"\r");
    let start = match slice[..first].rfind(['\n', '\r']) {
        Some(line_end) => piece.start + line_end + 1,
        None if begins_line => piece.start,
        None => piece.start + first,
    };
    let end = piece.start + slice.trim_end().len();
    let whole = |at: usize, else_at: usize| if at == else_at || is_whole(text, at) { at } else { else_at };
    Some(whole(start, piece.start)..whole(end, piece.end))
}

/// Whether a cut at `at` leaves what a reader sees as one character in one piece.
fn is_whole(text: &str, at: usize) -> bool {
    let ascii = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii);
    let bytes = text.as_bytes();
    if ascii(bytes.get(at)) && at > 0 && ascii(bytes.get(at - 1)) {
        return (bytes[at - 1], bytes[at]) != (b'\r', b'\n');
    }
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

/// A hash that is the same on every machine and in every version of the program.
fn hash(bytes: &[u8]) -> u32 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = PRIME ^ bytes.len() as u64;
    let mut mix = |word: u64| {
        state = (state ^ word).wrapping_mul(PRIME);
        state ^= state >> 29;
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(u64::from_le_bytes(last));
    mix(PRIME);
    u32::try_from(state >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_front_changes_few_pieces() {
        for seed in 0..40 {
            let line =
                |line: u32| format!("line {line} says {}\n", hash(format!("{seed} {line}").as_bytes()));
            let lines: String = (0..2_000).map(line).collect::<Vec<_>>().concat();
            let before = texts(&lines);
            let longer = format!("one more line\n{lines}");
            let new = texts(&longer).into_iter().filter(|text| !before.contains(text)).count();
            assert!(new <= 3, "{new} new pieces with seed {seed}");
        }
    }

    #[test]
    fn equal_lines_make_full_pieces() {
        let lines = "the same line again and again\n".repeat(2_000);
        let pieces = texts(&lines);
        assert!(pieces.len() < 2_000 * 6 / 200, "{} pieces", pieces.len());
    }

    fn texts(text: &str) -> Vec<&str> {
        let boundaries = vec![Boundary { at: 0, level: level::BLOCK, grain: Grain::Lines }];
        pieces(text, 0, boundaries).into_iter().map(|piece| &text[piece]).collect()
    }
}
