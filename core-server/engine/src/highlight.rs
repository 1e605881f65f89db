//! Where in a text the words of a question stand.
//!
//! What matches is the analyzer's to say: a piece of text is shown where it gives a term that the question gave, be it
//! a stem, a folded form, some characters of a script without spaces, an identifier or a part of one. The analyzer works
//! on normalised text and knows no offsets, so it is asked about ever longer stretches of the text as it stands, and the
//! shortest that gives the term is shown.
//!
//! Deliberately left out: what a term weighs. A word of the question is shown wherever it stands.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::analysis::{self, Kind, Language, Reading};
use crate::citation::ByteRange;

/// Stretches of more atoms than this are not asked about: no identifier has more parts.
const WIDEST: usize = 16;

/// Nor of more than this in a piece of many atoms, which is text without spaces.
const WIDEST_OF_MANY: usize = 4;

/// Many.
const MANY: usize = 64;

/// The terms of a question, to be found in texts.
#[derive(Clone, Debug, Default)]
pub struct Highlighter {
    terms: HashSet<String>,
    beginnings: Beginnings,
    /// How every text is read, where all are in one language: telling a text's language takes as long as all the rest.
    reading: Option<Reading>,
}

impl Highlighter {
    /// Of the words of `query`, asked of texts in the languages `spoken`; those that say nothing beside others only where
    /// there are no others.
    pub fn of(query: &str, spoken: &[Language]) -> Self {
        let reading = Reading::of_query(query, spoken);
        let (mut terms, mut common) = (HashSet::new(), HashSet::new());
        analysis::analyze(query, reading, |kind, term| match kind {
            Kind::Stem | Kind::Also | Kind::Unaccented | Kind::Gram | Kind::Whole => {
                terms.insert(term.to_owned());
            }
            Kind::Stop => {
                common.insert(term.to_owned());
            }
            // Where the exact form of a word stands its stem does, too; a single character of a longer word is none.
            Kind::Exact => {}
        });
        let reading = if let [only] = spoken { Some(Reading::of_text_in(Some(*only))) } else { None };
        Self { reading, ..Self::of_terms(if terms.is_empty() { common } else { terms }) }
    }

    /// Of terms as the analyzer gives them.
    pub fn of_terms(terms: HashSet<String>) -> Self {
        Self { beginnings: Beginnings::of(terms.iter()), terms, reading: None }
    }

    /// Bytes of `text` that match: in order, apart from each other, each between characters.
    pub fn ranges(&self, text: &str) -> Vec<ByteRange> {
        let mut found = Vec::new();
        if !self.terms.is_empty() {
            let reading = self.reading.unwrap_or_else(|| Reading::of_text_in(Language::of(text)));
            for (start, piece) in pieces(text).filter(|(_, piece)| self.beginnings.may_be_in(piece)) {
                self.find(start, piece, reading, &mut found);
            }
        }
        joined(found)
    }

    /// Shows what matches in a piece that begins at `start`.
    fn find(&self, start: usize, piece: &str, reading: Reading, found: &mut Vec<Range<usize>>) {
        let here = self.terms_in(piece, reading);
        if here.is_empty() {
            return;
        }
        if let Some(word) = plain_word(piece) {
            found.push(start + word.start..start + word.end);
            return;
        }
        let atoms = atoms(piece);
        let widest = if atoms.len() > MANY { WIDEST_OF_MANY } else { WIDEST };
        let reaches: Vec<usize> =
            atoms.iter().map(|atom| self.beginnings.reach(piece, atom).min(widest)).collect();
        let mut shown: Vec<(String, Range<usize>)> = Vec::new();
        for width in 1..=widest.min(atoms.len()) {
            for (window, _) in atoms.windows(width).zip(&reaches).filter(|(_, reach)| **reach >= width) {
                let stretch = window[0].start..window[width - 1].end;
                for term in self.terms_in(&piece[stretch.clone()], reading) {
                    // Beside what stands around it, it may be part of another term.
                    let is_new =
                        !shown.iter().any(|(known, range)| *known == term && within(range, &stretch));
                    if here.contains(&term) && is_new {
                        shown.push((term, stretch.clone()));
                    }
                }
            }
        }
        // A term that no stretch gives alone: all of the piece does.
        if here.iter().any(|term| !shown.iter().any(|(known, _)| known == term)) {
            found.push(start..start + piece.len());
        }
        found.extend(shown.into_iter().map(|(_, range)| start + range.start..start + range.end));
    }

    /// Those of the question's terms that a text gives.
    fn terms_in(&self, text: &str, reading: Reading) -> HashSet<String> {
        let mut terms = HashSet::new();
        analysis::analyze(text, reading, |_, term| {
            if self.terms.contains(term) {
                terms.insert(term.to_owned());
            }
        });
        terms
    }
}

/// How the terms begin: a glance at where words do spares most pieces the analysis.
#[derive(Clone, Debug, Default)]
struct Beginnings {
    /// By the first character of a term, a bit for each letter that is the second of one.
    seconds: Vec<u32>,
    /// Characters of terms that are none of ASCII; any, where there is no list.
    characters: Option<HashSet<char>>,
    /// By the first two characters of terms, the second none where there is one alone: how many the longest has.
    pairs: HashMap<(char, Option<char>), usize>,
}

/// Any character may be the second.
const ANY: u32 = u32::MAX;

impl Beginnings {
    fn of<'a>(terms: impl Iterator<Item = &'a String> + Clone) -> Self {
        let mut seconds = vec![0; 128];
        let mut pairs = HashMap::new();
        for term in terms.clone() {
            let mut characters = term.chars();
            if let Some(first) = characters.next() {
                let longest: &mut usize = pairs.entry((first, characters.next())).or_default();
                *longest = term.chars().count().max(*longest);
            }
        }
        let characters = terms.clone().flat_map(|term| term.chars()).filter(|c| !c.is_ascii()).collect();
        // A term with another first character is found in no piece of ASCII alone.
        for term in terms.map(String::as_bytes).filter(|term| term[0].is_ascii()) {
            seconds[usize::from(term[0])] |= match term.get(1) {
                // A stem has «i» for the «y» of its word, or the other way: dying, die; skies, sky.
                Some(b'i' | b'y') => letter(b'i') | letter(b'y'),
                Some(second) if second.is_ascii_lowercase() => letter(*second),
                Some(_) | None => ANY,
            };
        }
        Self { seconds, characters: Some(characters), pairs }
    }

    /// Whether a term may begin in a piece: where it begins, behind a joint, at a capital letter or a digit.
    fn may_be_in(&self, piece: &str) -> bool {
        let mut is_beginning = true;
        piece.char_indices().any(|(at, character)| {
            let Some(byte) = u8::try_from(character).ok().filter(u8::is_ascii) else {
                is_beginning = true;
                return self.may_be_of_term(character);
            };
            let may_begin = is_beginning || byte.is_ascii_uppercase() || byte.is_ascii_digit();
            is_beginning = !byte.is_ascii_alphanumeric();
            let seconds = self.seconds[usize::from(byte.to_ascii_lowercase())];
            may_begin
                && match piece.as_bytes().get(at + 1) {
                    Some(second) if second.is_ascii_alphabetic() => {
                        seconds & letter(second.to_ascii_lowercase()) != 0
                    }
                    Some(_) | None => seconds != 0,
                }
        })
    }

    /// How many atoms a term may have that begins with `atom` of a piece: none, where none begins so.
    fn reach(&self, piece: &str, atom: &Range<usize>) -> usize {
        let rest = || piece[atom.start..].chars();
        let mut characters = rest();
        match (characters.next(), characters.next()) {
            (Some(first), Some(second))
                if self.characters.is_some() && stays_itself(first) && stays_itself(second) =>
            {
                let longest = self.pairs.get(&(first, Some(second))).or(self.pairs.get(&(first, None)));
                longest.map_or(
                    0,
                    |&longest| {
                        if rest().take(longest).all(stays_itself) { longest } else { usize::MAX }
                    },
                )
            }
            _ if self.may_be_in(&piece[atom.clone()]) => usize::MAX,
            _ => 0,
        }
    }

    /// Whether a character beyond ASCII may stand in a term.
    fn may_be_of_term(&self, character: char) -> bool {
        let listed = |characters: &HashSet<char>| characters.contains(&character);
        !stays_itself(character) || self.characters.as_ref().is_none_or(listed)
    }
}

/// Whether normalisation leaves a character alone, whatever stands beside it: Han, and Kana and Hangul as they are mostly
/// written. A mark that changes the one before it is none of these.
fn stays_itself(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// The bit of an ASCII letter in lower case.
fn letter(letter: u8) -> u32 {
    1 << (letter - b'a')
}

/// The word that a piece is, where it is one of ASCII letters, the first of them a capital at most, with marks around it.
fn plain_word(piece: &str) -> Option<Range<usize>> {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let bytes = piece.as_bytes();
    let start = bytes.iter().position(is_letter)?;
    let end = bytes.iter().rposition(is_letter)? + 1;
    let is_plain = bytes[start + 1..end].iter().all(u8::is_ascii_lowercase)
        && bytes[..start]
            .iter()
            .chain(&bytes[end..])
            .all(|byte| byte.is_ascii_punctuation() && !b"+#".contains(byte));
    is_plain.then_some(start..end)
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// What stands between white space, and where it begins.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(char::is_whitespace).map(move |piece| {
        // Behind the white space that ended the piece before.
        let start = at;
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        (start, piece)
    })
}

/// The smallest stretches that may be a term, or a part of one with others: parts of words between joints and capital
/// letters, and what readers see as one character in scripts without spaces.
fn atoms(piece: &str) -> Vec<Range<usize>> {
    let mut atoms: Vec<Range<usize>> = Vec::new();
    let mut before: Option<char> = None;
    for (start, grapheme) in piece.grapheme_indices(true) {
        let first = grapheme.chars().next().unwrap_or(' ');
        let goes_on = before.is_some_and(|before| belongs(before, first));
        match atoms.last_mut() {
            Some(last) if goes_on => last.end = start + grapheme.len(),
            _ => atoms.push(start..start + grapheme.len()),
        }
        before = Some(first);
    }
    atoms
}

/// Whether a character goes on with the atom of the one before.
fn belongs(before: char, next: char) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() && !is_without_spaces(c);
    is_of_word(before) && is_of_word(next) && (before.is_uppercase() || !next.is_uppercase())
}

/// Scripts whose words are not separated: those for which it matters are enough, since others are cut too finely at worst.
fn is_without_spaces(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x11ff | 0x1780..=0x17ff | 0x2e80..=0xa4cf | 0xac00..=0xd7ff
        | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x20000..=0x3ffff)
}

/// Ranges that overlap or touch made one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<ByteRange> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut joined: Vec<ByteRange> = Vec::new();
    for range in ranges {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (start, end) = (offset(range.start), offset(range.end));
        match joined.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => joined.push(ByteRange { start, end }),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown<'a>(query: &str, text: &'a str) -> Vec<&'a str> {
        let ranges = Highlighter::of(query, &[]).ranges(text);
        ranges.iter().map(|range| &text[range.start as usize..range.end as usize]).collect()
    }

    #[test]
    fn what_matches_is_what_the_analyzer_says() {
        for (query, text, expected) in [
            ("running cats", "The cat runs. Cats, (running)!", &["cat", "runs", "Cats", "running"][..]),
            ("cat", "concatenate", &[]),
            ("the cat", "the cat sat on the mat", &["cat"]),
            ("to be or not to be", "to be sure", &["to", "be"]),
            (
                "resume",
                "My r\u{e9}sum\u{e9}, your re\u{301}sume\u{301}.",
                &["r\u{e9}sum\u{e9}", "re\u{301}sume\u{301}"],
            ),
            ("r\u{e9}sum\u{e9}", "a RESUME", &["RESUME"]),
            ("config", "call parseConfigFile() now", &["Config"]),
            ("parseConfigFile", "call parseConfigFile() now", &["parseConfigFile"]),
            ("ERR_CONN_7781", "got ERR_CONN_7781.", &["ERR_CONN_7781"]),
            ("7781", "got ERR_CONN_7781.", &["7781"]),
            ("foo::bar", "use foo::bar;", &["foo::bar"]),
            ("1.0.21", "since v1.0.21, not 1.0.2", &["v1.0.21"]),
            ("1000", "about 1,000 times", &["1,000"]),
            ("C++", "C++ and C#.", &["C++", "C"]),
            ("dog", "the dog's tail", &["dog"]),
            ("die sky", "Dying under (skies), \"sky\".", &["Dying", "skies", "sky"]),
            ("U.S.A.", "the USA, the u.s.a.", &["USA", "u.s.a"]),
            ("file", "one \u{fb01}le", &["\u{fb01}le"]),
            ("\u{4eac}\u{90fd}", "\u{6211}\u{5728}\u{6771}\u{4eac}\u{90fd}\u{5fc3}", &["\u{4eac}\u{90fd}"]),
            ("\u{4f7f}\u{7528}API", "\u{4f7f}\u{7528}API\u{63a5}\u{53e3}", &["\u{4f7f}\u{7528}API"]),
            ("\u{6c34}", "\u{6c34}\u{9053} \u{6c34}", &["\u{6c34}", "\u{6c34}"]),
            (
                "\u{c11c}\u{c6b8}",
                "\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}\u{c5d0}",
                &["\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}"],
            ),
            (
                "\u{30c7}\u{30fc}\u{30bf}",
                "\u{ff83}\u{ff9e}\u{ff70}\u{ff80}",
                &["\u{ff83}\u{ff9e}\u{ff70}\u{ff80}"],
            ),
            (
                "\u{0e20}\u{0e32}\u{0e29}\u{0e32}",
                "\u{0e20}\u{0e32}\u{0e29}\u{0e32}\u{0e44}\u{0e17}\u{0e22}",
                &["\u{0e20}\u{0e32}\u{0e29}\u{0e32}"],
            ),
            (
                "\u{043a}\u{043e}\u{0448}\u{043a}\u{0430}",
                "\u{041a}\u{041e}\u{0428}\u{041a}\u{0410}!",
                &["\u{041a}\u{041e}\u{0428}\u{041a}\u{0410}"],
            ),
            ("?!", "?! nothing", &[]),
            ("x", "", &[]),
        ] {
            assert_eq!(shown(query, text), expected, "{query} in {text}");
        }
    }

    #[test]
    fn a_text_without_spaces_is_looked_through_in_time() {
        let long = "\u{6771}\u{4eac}".repeat(2000);
        assert_eq!(Highlighter::of("\u{4eac}\u{6771}", &[]).ranges(&long).len(), 1);
        let minified = "a.b(c_d);".repeat(2000);
        assert!(!Highlighter::of("c_d", &[]).ranges(&minified).is_empty());
    }

    #[test]
    fn where_all_texts_are_in_one_language_a_text_need_not_show_it() {
        let text = "H\u{e4}user";
        assert_eq!(Highlighter::of("Haus", &[Language::German]).ranges(text).len(), 1);
        assert!(Highlighter::of("Haus", &[Language::English]).ranges(text).is_empty());
    }

    proptest! {
        #[test]
        fn ranges_are_apart_in_order_and_between_characters(
            text in "(\\PC|[ a-cA-C_.:'+#,/0-2\u{301}\u{4eac}\u{6771}\u{ff9e}\u{1109}\u{1165}\u{11af}\u{c11c}\u{304b}\u{3099}\r\n]){0,60}",
            query in "\\PC{0,6}|[a-c \u{4eac}\u{6771}\u{304c}\u{c11c}\u{c124}_.]{1,8}",
        ) {
            let highlighter = Highlighter::of(&query, &[]);
            let ranges = highlighter.ranges(&text);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            for range in &ranges {
                let slice = text.get(range.start as usize..range.end as usize);
                prop_assert!(slice.is_some_and(|slice| !slice.is_empty()));
            }
            // All that is looked for at a glance only spares work.
            let unsparing = Beginnings { seconds: vec![ANY; 128], ..Beginnings::default() };
            let unsparing = Highlighter { beginnings: unsparing, ..highlighter.clone() };
            prop_assert_eq!(&ranges, &unsparing.ranges(&text));
            if ranges.is_empty() {
                prop_assert!(pieces(&text).all(|(_, piece)| highlighter.terms_in(piece, Reading::of_text_in(Language::of(&text))).is_empty()));
            }
        }
    }
}
