//! Words, and the identifiers that they make together.
//!
//! `parseConfigFile` gives `parse`, `config`, `file` and the whole; `ERR_CONN_7781`, `foo::bar`, `real-time` and
//! `05-0087-009149-0` likewise. `1.0.21` is one word: its parts alone say nothing. `C++` keeps its suffix.

use super::character::Class;
use super::{Kind, Reading, fold};

/// Characters of a term at most: longer words are cut, longer identifiers give their parts only.
const LONGEST: usize = 64;

/// The terms of a run of words and joiners that begins with a word.
pub(super) fn terms(run: &str, reading: Reading, sink: &mut impl FnMut(Kind, &str)) {
    let mut terms = Terms { reading, lower: String::new(), sink };
    let (word, joint) = run.split_at(run.find(is_joiner).unwrap_or(run.len()));
    if joint.chars().all(is_joiner) {
        // Nearly every run of prose, without a list of words.
        return terms.word(&Word { start: 0, text: word, joint, is_last: true });
    }
    let words = words(run);
    for identifier in words.chunk_by(|left, _| left.is_linked()) {
        terms.identifier(run, identifier);
    }
}

/// A word within a run, and what stands behind it before the next.
#[derive(Clone, Copy)]
struct Word<'a> {
    start: usize,
    text: &'a str,
    joint: &'a str,
    is_last: bool,
}

impl Word<'_> {
    /// Whether the next word belongs to the same identifier.
    fn is_linked(&self) -> bool {
        !self.is_last
            && matches!(self.joint, "_" | "__" | "-" | "‐" | "." | ":" | "::" | "/" | "@" | "+" | "#")
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// `++` or `#` where they belong to the name: `C++`, `F#`.
    fn suffix(&self) -> &'static str {
        if self.text.len() > 5 || self.is_linked() {
            ""
        } else if self.joint.starts_with("++") {
            "++"
        } else if self.joint.starts_with('#') {
            "#"
        } else {
            ""
        }
    }
}

/// Cuts a run into words. Digits around a point or comma stay together; what an apostrophe contracts is dropped.
fn words(run: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut start = 0;
    while start < run.len() {
        let end = run[start..].find(is_joiner).map_or(run.len(), |length| start + length);
        let next = run[end..].find(|c| !is_joiner(c)).map_or(run.len(), |length| end + length);
        let word = Word { start, text: &run[start..end], joint: &run[end..next], is_last: next == run.len() };
        match words.last_mut() {
            Some(last) if is_number_joint(last, &word) => {
                *last = Word { start: last.start, text: &run[last.start..end], ..word };
            }
            Some(last) if is_contraction(last.joint, word.text) => {
                (last.joint, last.is_last) = (word.joint, word.is_last);
            }
            _ => words.push(word),
        }
        start = next;
    }
    words
}

fn is_joiner(c: char) -> bool {
    Class::of(c) == Class::Joiner
}

fn is_number_joint(left: &Word<'_>, right: &Word<'_>) -> bool {
    matches!(left.joint, "." | ",")
        && left.text.ends_with(|c: char| c.is_ascii_digit())
        && right.text.starts_with(|c: char| c.is_ascii_digit())
}

fn is_contraction(joint: &str, word: &str) -> bool {
    matches!(joint, "'" | "’")
        && ["s", "t", "d", "m", "ll", "re", "ve"].iter().any(|suffix| word.eq_ignore_ascii_case(suffix))
}

struct Terms<'a, S> {
    reading: Reading,
    /// Room for a word in lower case, kept between words.
    lower: String,
    sink: &'a mut S,
}

impl<S: FnMut(Kind, &str)> Terms<'_, S> {
    fn identifier(&mut self, run: &str, words: &[Word<'_>]) {
        let [first, .., last] = words else {
            for word in words {
                self.word(word);
            }
            return;
        };
        let is_letter = |word: &Word<'_>| word.text.chars().nth(1).is_none();
        if words.iter().all(is_letter) && words[..words.len() - 1].iter().all(|word| word.joint == ".") {
            // An abbreviation: its letters alone say nothing.
            let joined: String = words.iter().map(|word| word.text).take(LONGEST).collect();
            self.plain(&joined);
            return;
        }
        self.whole(&run[first.start..last.end()]);
        // Within a path or a qualified name, the names that have several words themselves.
        let is_inner = |word: &Word<'_>, _: &Word<'_>| matches!(word.joint, "_" | "__" | "-" | "‐");
        for inner in words.chunk_by(is_inner) {
            if let [first, .., last] = inner
                && inner.len() < words.len()
            {
                self.whole(&run[first.start..last.end()]);
            }
        }
        for word in words {
            self.word(word);
        }
    }

    fn word(&mut self, word: &Word<'_>) {
        if word.text.contains(',') {
            self.plain(&word.text.replace(',', ""));
        } else {
            self.parts(word.text);
        }
        match word.suffix() {
            "" => {}
            suffix => self.whole(&format!("{}{suffix}", word.text)),
        }
    }

    /// The words of `camelCase`, and `camelcase`.
    fn parts(&mut self, word: &str) {
        let mut start = 0;
        if word.is_ascii() && word.len() <= LONGEST {
            for boundary in camel_boundaries(word.as_bytes()) {
                self.plain(&word[start..boundary]);
                start = boundary;
            }
        }
        if start > 0 {
            self.plain(&word[start..]);
            self.stem_of(word);
            self.whole(word);
        } else {
            self.plain(word);
            if let Some(version) = word.strip_prefix(['v', 'V'])
                && version.contains('.')
            {
                self.plain(version);
            }
        }
    }

    fn plain(&mut self, word: &str) {
        let kind = self.stem_of(word);
        if kind == Kind::Stem && self.lower.contains(|c: char| !c.is_ascii_digit()) {
            (self.sink)(Kind::Exact, &self.lower);
        }
    }

    fn stem_of(&mut self, word: &str) -> Kind {
        fold::lower_case(cut(word), &mut self.lower);
        let folded = fold::without_accents(&self.lower);
        if folded.is_empty() {
            return Kind::Stop;
        }
        let kind = if self.reading.is_common(&self.lower) { Kind::Stop } else { Kind::Stem };
        let is_accented = kind == Kind::Stem && *folded != *self.lower;
        let sink = &mut *self.sink;
        let mut next = kind;
        // Kept only for the few words that may have other stems without accents.
        let mut stems = Vec::new();
        self.reading.stems(&self.lower, |stem| {
            sink(next, stem);
            next = Kind::Also;
            if is_accented {
                stems.push(stem.to_owned());
            }
        });
        if is_accented {
            let mut next = Kind::Unaccented;
            self.reading.stems(&folded, |stem| {
                if !stems.iter().any(|other| other == stem) {
                    sink(next, stem);
                    next = Kind::Also;
                }
            });
        }
        kind
    }

    fn whole(&mut self, identifier: &str) {
        if cut(identifier).len() == identifier.len() {
            fold::lower_case(identifier, &mut self.lower);
            if !self.lower.is_empty() {
                (self.sink)(Kind::Whole, cut(&self.lower));
            }
        }
    }
}

/// Where a new part of `camelCase` or `HTTPServer` begins. Parts have two characters at least: `iPhone`, `mRNA`.
pub(super) fn camel_boundaries(word: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut start = 0;
    (2..word.len().saturating_sub(1)).filter(move |&i| {
        let begins = word[i].is_ascii_uppercase()
            && (!word[i - 1].is_ascii_uppercase() || word[i + 1].is_ascii_lowercase())
            && i - start >= 2;
        if begins {
            start = i;
        }
        begins
    })
}

/// The first [`LONGEST`] characters.
pub(super) fn cut(word: &str) -> &str {
    if word.len() <= LONGEST {
        return word;
    }
    word.char_indices().nth(LONGEST).map_or(word, |(end, _)| &word[..end])
}
