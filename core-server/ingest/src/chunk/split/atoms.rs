//! Takes blocks that are larger than a chunk apart: into lines or sentences, those into words, and words into stretches of
//! letters. What comes of it is never cut again.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::{Boundary, Grain, LARGEST, hash, is_whole, level};
use crate::chunk::code;
use crate::chunk::measure::{added, measure};

/// Letters of a word without any place to cut it that stay together at least, and at most.
const STRETCH: Range<usize> = 16..64;

/// A piece of text that is never cut, with the rank of the place before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom {
    pub(super) start: usize,
    pub(super) level: u16,
    /// What it adds to a piece at most.
    pub(super) cost: u64,
    pub(super) hash: u32,
}

/// Takes blocks apart that are larger than a chunk.
pub(super) fn atoms(text: &str, start: usize, mut boundaries: Vec<Boundary>) -> Vec<Atom> {
    if start >= text.len() {
        return Vec::new();
    }
    if boundaries.first().is_none_or(|first| first.at > start) {
        boundaries.insert(0, Boundary { at: start, level: level::BLOCK, grain: Grain::Prose });
    }
    let mut atoms = Atoms { text, done: Vec::with_capacity(boundaries.len()) };
    let ends = boundaries.iter().skip(1).map(|next| next.at).chain([text.len()]).collect::<Vec<_>>();
    for (boundary, end) in boundaries.into_iter().zip(ends) {
        let rungs: &[Rung] = match boundary.grain {
            Grain::Prose => &[Rung::Sentences, Rung::Words, Rung::Letters],
            Grain::Lines => &[Rung::Lines, Rung::Words, Rung::Letters],
        };
        atoms.take(boundary.at..end, boundary.level, rungs);
    }
    atoms.done
}

/// A way to take a text apart; the next one is tried on parts that are still too large.
#[derive(Clone, Copy)]
enum Rung {
    Sentences,
    Lines,
    Words,
    Letters,
}

struct Atoms<'a> {
    text: &'a str,
    done: Vec<Atom>,
}

impl Atoms<'_> {
    fn take(&mut self, range: Range<usize>, level: u16, rungs: &[Rung]) {
        if range.is_empty() {
            return;
        }
        let slice = &self.text[range.clone()];
        let cost = measure(slice);
        match rungs.split_first() {
            Some((rung, rest)) if cost > LARGEST => {
                let mut level = level;
                let mut start = 0;
                for (at, next_level) in rung.places(slice).into_iter().chain([(slice.len(), 0)]) {
                    if at > start {
                        self.take(range.start + start..range.start + at, level, rest);
                        (start, level) = (at, next_level);
                    }
                }
            }
            _ => {
                let before = self.done.last().map_or("", |atom| &self.text[atom.start..range.start]);
                let cost = added(before, slice);
                self.done.push(Atom { start: range.start, level, cost, hash: hash(slice.trim().as_bytes()) });
            }
        }
    }
}

impl Rung {
    /// Places within `text`, ascending, with their levels.
    fn places(self, text: &str) -> Vec<(usize, u16)> {
        match self {
            Self::Sentences => sentences(text),
            Self::Lines => code::line_levels(text, level::LINE),
            Self::Words => words(text),
            Self::Letters => stretches(text),
        }
    }
}

/// Ends of sentences and of lines. A line end is no end of a sentence where the sentence has not come to its end.
fn sentences(text: &str) -> Vec<(usize, u16)> {
    let mut places = Vec::new();
    let ends = text.split_sentence_bound_indices().map(|(at, sentence)| (at + sentence.len(), sentence));
    for (at, sentence) in ends {
        let said = sentence.trim_end();
        // No sentence: blank lines and the LF of a CRLF.
        if said.is_empty() || at == text.len() {
            continue;
        }
        // Its line end may be a "sentence" of its own, which goes with it.
        let at = at + line_end(&text[at..]);
        let ended = said.ends_with(ENDS);
        let ends_line = text[..at].ends_with(['\n', '\r']);
        if at < text.len() && is_whole(text, at) {
            places.push((at, if ended || !ends_line { level::SENTENCE } else { level::PROSE_LINE }));
        }
    }
    places
}

/// What the last character of a sentence is, or of what it leads to.
const ENDS: &[char] =
    &['.', '!', '?', '…', '。', '！', '？', ':', '：', '"', ')', '”', '»', '」', '）', '؟', '।'];

/// The length of the line end that `text` begins with.
fn line_end(text: &str) -> usize {
    ["\r\n", "\n", "\r"].iter().find(|end| text.starts_with(**end)).map_or(0, |end| end.len())
}

/// Places between words; those behind punctuation are better.
fn words(text: &str) -> Vec<(usize, u16)> {
    let mut places = Vec::new();
    let mut previous = ' ';
    let mut before_blank = ' ';
    for (at, character) in text.char_indices() {
        let behind_blank = previous.is_whitespace() && !character.is_whitespace();
        let behind_wide_stop = matches!(previous, '，' | '、' | '；' | '：' | '。' | '！' | '？' | '）')
            && !character.is_whitespace();
        if at > 0 && (behind_blank || behind_wide_stop) && is_whole(text, at) {
            let clause = behind_wide_stop
                || matches!(before_blank, ',' | ';' | ':' | ')' | '|' | '}' | '，' | '；' | '、');
            places.push((at, if clause { level::CLAUSE } else { level::WORD }));
        }
        if !character.is_whitespace() {
            before_blank = character;
        }
        previous = character;
    }
    places
}

/// Places within a word: behind punctuation, else where the letters' hash says so, never within what a reader sees as
/// one character.
fn stretches(text: &str) -> Vec<(usize, u16)> {
    let mut places = Vec::new();
    let (mut last, mut previous, mut letters) = (0, "", 0);
    for (at, grapheme) in text.grapheme_indices(true) {
        let clause = matches!(previous, ";" | "," | "}" | "|" | ")" | "&" | "、" | "，");
        let chosen = letters >= STRETCH.start
            && hash(&text.as_bytes()[last..at][(at - last).saturating_sub(8)..]).is_multiple_of(8);
        if at > 0 && (chosen || letters >= STRETCH.end || clause && letters >= STRETCH.start) {
            places.push((at, if clause { level::CLAUSE } else { level::LETTER }));
            (last, letters) = (at, 0);
        }
        previous = grapheme;
        letters += 1;
    }
    places
}
