//! English: stems, and words that say nothing beside others.

use std::borrow::Cow;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));

/// The stem of a word in lower case; words of other alphabets and numbers are their own.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        STEMMER.stem(word)
    } else {
        Cow::Borrowed(word)
    }
}

/// Whether a word in lower case is one of [`STOP_WORDS`].
pub(super) fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST_STOP_WORD && STOP_WORDS.binary_search(&word).is_ok()
}

const LONGEST_STOP_WORD: usize = 7;

/// Function words and the words of questions, sorted. Contractions are cut at the apostrophe before.
const STOP_WORDS: &[&str] = &[
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
    fn stop_words_are_sorted_and_none_is_longer_than_said() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| word.len() <= LONGEST_STOP_WORD));
    }
}
