//! Function words: which languages a word belongs to the skeleton of.
//!
//! The lists are NLTK's (crate `stop-words`), with the words of questions added, which they lack. Which English words say
//! nothing in a question is told by a shorter list of our own: NLTK's also takes words that
//! questions turn on ("before", "most", "against").

use std::collections::HashMap;
use std::sync::LazyLock;

use super::table::{Language, ROWS};
use crate::analysis::fold;

/// A word's languages, one bit each.
type Bits = u32;

/// Words in lower case, with and without their accents.
static WORDS: LazyLock<HashMap<String, Bits>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for row in &ROWS {
        let listed = stop_words::lookup(row.code).unwrap_or_default().iter().copied();
        for word in listed.chain(row.words.split_whitespace()) {
            let mut lower = String::new();
            fold::lower_case(&fold::normalized(word), &mut lower);
            let folded = fold::without_accents(&lower).into_owned();
            for form in [lower, folded] {
                *words.entry(form).or_default() |= 1 << row.language as u32;
            }
        }
    }
    words
});

/// Whether a word in lower case belongs to the skeleton of `language`.
pub(super) fn is_common(lower: &str, language: Language) -> bool {
    if language == Language::English {
        return ENGLISH.binary_search(&lower).is_ok();
    }
    languages_of(lower) & 1 << language as u32 != 0
}

/// The languages whose skeleton a word in lower case belongs to. Greek is listed without its accents.
fn languages_of(lower: &str) -> Bits {
    if lower.len() > LONGEST {
        return 0;
    }
    let unaccented = || {
        let folded = fold::without_accents(lower);
        if folded.is_ascii() { None } else { WORDS.get(&*folded) }
    };
    WORDS.get(lower).or_else(unaccented).copied().unwrap_or_default()
}

/// Bytes of a word that is worth looking up.
const LONGEST: usize = 32;

/// How often a text says function words, by language.
pub(super) struct Tally {
    hits: [usize; ROWS.len()],
    words: usize,
}

impl Tally {
    pub(super) fn of(text: &str) -> Self {
        let mut tally = Self { hits: [0; ROWS.len()], words: 0 };
        let mut lower = String::new();
        let text = fold::normalized(text);
        for word in text.split(|c: char| !is_part_of_word(c)) {
            // One letter is an initial or an elision before it is a word of Spanish.
            if word.chars().nth(1).is_none() {
                continue;
            }
            tally.words += 1;
            if word.len() > LONGEST {
                continue;
            }
            fold::lower_case(word, &mut lower);
            let mut bits = languages_of(&lower);
            while bits != 0 {
                tally.hits[bits.trailing_zeros() as usize] += 1;
                bits &= bits - 1;
            }
        }
        tally
    }

    pub(super) fn hits(&self, language: Language) -> usize {
        self.hits[language as usize]
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }
}

/// Letters and the marks on them. Digits are of no language.
fn is_part_of_word(c: char) -> bool {
    c.is_alphabetic() || (!c.is_ascii() && unicode_normalization::char::is_combining_mark(c))
}

/// Function words and the words of questions. Contractions are cut at the apostrophe before.
const ENGLISH: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can",
    "could", "did", "didn", "do", "does", "doesn", "doing", "don", "for", "from", "had", "has", "have",
    "having", "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "me",
    "my", "no", "not", "of", "on", "or", "our", "she", "should", "so", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "was", "we", "were", "what",
    "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_words_are_sorted() {
        assert!(ENGLISH.is_sorted());
    }

    #[test]
    fn initials_are_no_words() {
        let tally = Tally::of("Perlis, A. J., D. L. M. Smith");
        assert_eq!((tally.words(), tally.hits(Language::French)), (2, 0));
    }
}
