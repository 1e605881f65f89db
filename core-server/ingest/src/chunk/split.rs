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

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::code;
use super::measure::{TOKEN, measure};

/// The largest chunk, by the chunker's measure; together with [`super::LONGEST_PATH`] it fits a window of 512 tokens.
pub(super) const LARGEST: u64 = 340 * TOKEN;

/// Sections are joined while they are no larger than this together.
const JOINED_SECTIONS: u64 = 150 * TOKEN;

/// A piece smaller than this is joined with a neighbour where the two are one chunk.
const SMALLEST: u64 = 48 * TOKEN;

/// Where there are many places of one level, cuts are this far apart where they can be.
const APART: u64 = 120 * TOKEN;

/// Letters of a word without any place to cut it that stay together at least, and at most.
const STRETCH: Range<usize> = 16..64;

/// How many atoms' texts tell two places apart that are followed by equal atoms.
const CONTEXT: usize = 8;

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

/// A piece of text that is never cut, with the rank of the place before it.
#[derive(Clone, Copy, Debug)]
struct Atom {
    start: usize,
    level: u16,
    cost: u64,
    hash: u32,
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

// ---- atoms ----

/// Takes blocks apart that are larger than a chunk.
fn atoms(text: &str, start: usize, mut boundaries: Vec<Boundary>) -> Vec<Atom> {
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
                self.done.push(Atom { start: range.start, level, cost, hash: hash(slice.trim().as_bytes()) })
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

// ---- cuts ----

/// The ranks of all places, of which the `i`th is before atom `i` and the last behind the last atom.
struct Ranks {
    /// The cost of all that is before a place.
    before: Vec<u64>,
    /// Higher numbers are cut first. Both ends are higher than all.
    ranks: Vec<u128>,
}

/// The nearest neighbours of a place.
#[derive(Clone, Copy, Default)]
struct Neighbours {
    left: usize,
    right: usize,
}

impl Ranks {
    fn of(atoms: &[Atom]) -> Self {
        let mut before = vec![0u64];
        before.extend(atoms.iter().scan(0u64, |sum, atom| {
            *sum = sum.saturating_add(atom.cost);
            Some(*sum)
        }));
        let contexts = contexts(atoms);
        // Level, urgency, hash, hash of the context.
        let ranks = atoms.iter().zip(contexts).map(|(atom, context)| {
            u128::from(atom.level) << 72 | u128::from(atom.hash) << 32 | u128::from(context)
        });
        let mut this = Self { before, ranks: ranks.chain([u128::MAX]).collect() };
        this.ranks[0] = u128::MAX;
        this.rank_by_size();
        this
    }

    /// Puts urgency between level and hash.
    fn rank_by_size(&mut self) {
        let levels: Vec<u128> = self.ranks.iter().map(|rank| rank >> 72).collect();
        let must: Vec<bool> = neighbours(&levels, |neighbour, place| neighbour >= place)
            .into_iter()
            .zip(&levels)
            .map(|(around, &level)| self.span(around.left, around.right) > limit(level))
            .collect();
        let bare: Vec<u128> =
            self.ranks.iter().zip(&must).map(|(rank, &must)| rank | u128::from(must) << 71).collect();
        let around = neighbours(&bare, |neighbour, place| neighbour > place);
        for place in 1..self.ranks.len() - 1 {
            let Neighbours { left, right } = around[place];
            let distance = self.span(left, place).min(self.span(place, right));
            let urgency: u128 = if must[place] { 3 } else { u128::from((distance * 2 / APART).min(2)) };
            self.ranks[place] |= urgency << 64;
        }
    }

    fn span(&self, from: usize, to: usize) -> u64 {
        self.before[to] - self.before[from]
    }

    fn level(&self, place: usize) -> u128 {
        self.ranks[place] >> 72
    }

    /// The places that are cuts, the beginning included, the end not.
    fn cuts(&self) -> Vec<usize> {
        let end = self.ranks.len() - 1;
        let mut is_cut = vec![false; end];
        is_cut[0] = true;
        let equals = Equals::of(&self.ranks);
        for &Span { first, left, right } in &equals.spans {
            let limit = limit(self.level(first));
            if self.span(left, right) <= limit {
                continue;
            }
            // Places of equal rank are followed by equal texts, so it matters little which of them are cuts: pieces
            // are filled one after another.
            let mut since = left;
            let mut place = first;
            loop {
                let next = equals.next[place];
                if self.span(since, next.unwrap_or(right)) > limit {
                    is_cut[place] = true;
                    since = place;
                }
                match next {
                    Some(next) => place = next,
                    None => break,
                }
            }
        }
        (0..end).filter(|&place| is_cut[place]).collect()
    }
}

/// How large a piece may be at whose inner place of this level nothing is cut.
fn limit(level: u128) -> u64 {
    if level >= u128::from(level::LAST_HEADING) { JOINED_SECTIONS } else { LARGEST }
}

/// Places of equal rank between two neighbours of higher rank.
struct Span {
    first: usize,
    left: usize,
    right: usize,
}

/// All places, those of equal rank within one span together.
struct Equals {
    spans: Vec<Span>,
    /// The next place of equal rank in the same span.
    next: Vec<Option<usize>>,
}

impl Equals {
    fn of(ranks: &[u128]) -> Self {
        let mut next = vec![None; ranks.len()];
        let mut spans = Vec::new();
        // Spans that are open to the right, ranks descending, each with the last of its places.
        let mut open: Vec<(Span, usize)> = Vec::new();
        for place in 1..ranks.len() {
            while let Some((mut span, _)) = open.pop_if(|(_, last)| ranks[*last] < ranks[place]) {
                span.right = place;
                spans.push(span);
            }
            match open.last_mut() {
                Some((_, last)) if ranks[*last] == ranks[place] => {
                    next[*last] = Some(place);
                    *last = place;
                }
                _ => {
                    let left = open.last().map_or(0, |(_, last)| *last);
                    open.push((Span { first: place, left, right: place }, place));
                }
            }
        }
        Self { spans, next }
    }
}

/// Each place's nearest neighbours that are above it, as `above(neighbour, place)` has it; the ends are above all.
fn neighbours(ranks: &[u128], above: impl Fn(u128, u128) -> bool) -> Vec<Neighbours> {
    let end = ranks.len() - 1;
    let mut around = vec![Neighbours::default(); ranks.len()];
    let mut open: Vec<usize> = Vec::new();
    for place in 1..end {
        while open.pop_if(|top| !above(ranks[*top], ranks[place])).is_some() {}
        around[place].left = open.last().copied().unwrap_or(0);
        open.push(place);
    }
    open.clear();
    for place in (1..end).rev() {
        while open.pop_if(|top| !above(ranks[*top], ranks[place])).is_some() {}
        around[place].right = open.last().copied().unwrap_or(end);
        open.push(place);
    }
    around
}

/// For each place a hash of the atoms behind it, so that equal atoms in unlike company differ.
fn contexts(atoms: &[Atom]) -> Vec<u32> {
    const PRIME: u32 = 0x9e37_79b1;
    let weight = PRIME.wrapping_pow(u32::try_from(CONTEXT).unwrap_or(1));
    let mut contexts = vec![0; atoms.len()];
    let mut rolling = 0u32;
    for at in (0..atoms.len()).rev() {
        let leaving = atoms.get(at + CONTEXT).map_or(0, |atom| atom.hash);
        rolling = rolling.wrapping_mul(PRIME).wrapping_add(atoms[at].hash);
        rolling = rolling.wrapping_sub(leaving.wrapping_mul(weight));
        contexts[at] = (rolling ^ rolling >> 15).wrapping_mul(PRIME);
    }
    contexts
}

/// Joins pieces that are too small to stand alone with a neighbour, across the lower of their two borders.
fn without_crumbs(ranks: &Ranks, cuts: &[usize]) -> Vec<usize> {
    let end = ranks.ranks.len() - 1;
    let mut kept: Vec<usize> = Vec::with_capacity(cuts.len());
    let mut joined_to_next = false;
    for (index, &cut) in cuts.iter().enumerate() {
        if std::mem::take(&mut joined_to_next) {
            // This border is gone: the piece began before it.
        } else {
            kept.push(cut);
        }
        let start = kept.last().copied().unwrap_or(cut);
        let next = cuts.get(index + 1).copied().unwrap_or(end);
        if ranks.span(start, next) >= SMALLEST {
            continue;
        }
        let behind = cuts.get(index + 2).copied().unwrap_or(end);
        let fits_next = next < end && ranks.span(start, behind) <= LARGEST;
        let previous = kept.len().checked_sub(2).map(|at| kept[at]);
        let fits_previous = previous.is_some_and(|previous| ranks.span(previous, next) <= LARGEST);
        if fits_next && !(fits_previous && ranks.ranks[start] < ranks.ranks[next]) {
            joined_to_next = true;
        } else if fits_previous {
            kept.pop();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_front_changes_few_pieces() {
        for seed in 0..40 {
            let lines: String = (0..2_000)
                .map(|line| format!("line {line} says {}\n", hash(format!("{seed} {line}").as_bytes())))
                .collect();
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
