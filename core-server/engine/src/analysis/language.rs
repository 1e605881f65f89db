//! The languages that words are stemmed in, and which of them a text is in.
//!
//! A text's language is told by its function words ("the", "und", "que"): in running text every third word is one, and
//! hardly any is common in two languages that are not close. That is cheap enough for every chunk, and as sure for a
//! paragraph as statistics of characters, which took longer than all the rest of indexing
//! (`docs/decisions/0004-lexical-ranking.md`). A question may be too short for it; then the collection's languages are
//! what there is to go by.
//!
//! Deliberately left out: languages without a stemmer. Their words are indexed as they are written.

mod function_words;
mod table;

use std::cmp::Reverse;

pub use table::Language;

use self::function_words::Tally;
use self::table::Alphabet;
use super::fold;

/// As which languages a text is read: by what its words are stemmed, and which of them say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    stems: Languages,
    common: Language,
}

/// How much of a text is looked at: its language shows long before.
const LOOKED_AT: usize = 4096;

impl Reading {
    /// A text in one language; where it shows none, it is taken as English.
    pub fn of_text_in(language: Option<Language>) -> Self {
        let language = language.unwrap_or(Language::English);
        Self { stems: Languages::default().with(language), common: language }
    }

    /// A question to texts in the languages `spoken`, the most frequent first; none are taken as English.
    ///
    /// Each of its words is stemmed as in each of those languages, so that it meets the texts of all of them. Which of
    /// its words say nothing is another matter: "die" does in German. A language has to show in the question, in a
    /// second word where it is not the collection's own.
    pub fn of_query(query: &str, spoken: &[Language]) -> Self {
        let mut stems = Languages::default();
        for &language in spoken {
            stems = stems.with(language);
        }
        if spoken.is_empty() || spoken.iter().any(|language| language.alphabet() != Alphabet::Latin) {
            // Latin words among others were read as English.
            stems = stems.with(Language::English);
        }
        let first = spoken.first().copied().unwrap_or(Language::English);
        let tally = Tally::of(query);
        let strange = |language: &Language| !spoken.contains(language);
        let heard = |language: &Language| tally.hits(*language) > usize::from(*language != first);
        let common = Language::all()
            .filter(heard)
            .min_by_key(|language| (Reverse(tally.hits(*language)), *language != first, strange(language)))
            .unwrap_or(first);
        Self { stems, common }
    }

    /// Calls `sink` with the stem of a word in lower case, without accents, in each language that it may be of. What is
    /// in no alphabet, or in none of a language that is read, is its own stem.
    pub(super) fn stems(self, lower: &str, mut sink: impl FnMut(&str)) {
        let languages = self.stems.written_in(Alphabet::of(lower));
        if languages == Languages::default().with(Language::English) {
            return sink(&Language::English.stem(lower));
        }
        if languages.is_empty() {
            return sink(&fold::without_accents(lower));
        }
        for language in languages.iter() {
            let stem = language.stem(lower);
            if language == Language::English {
                sink(&stem);
            } else {
                sink(&format!("{}~{}", super::identifier::cut(&stem), language.code()));
            }
        }
    }

    /// Whether a word in lower case says nothing beside others.
    pub(super) fn is_common(self, lower: &str) -> bool {
        function_words::is_common(lower, self.common)
    }

    /// The language whose common words say nothing.
    pub fn language(self) -> Language {
        self.common
    }
}

impl Language {
    /// The language of a text, where it shows: a quarter of the words are its function words, and more than of any
    /// other language. Never told from one word.
    pub fn of(text: &str) -> Option<Self> {
        let tally = Tally::of(&text[..text.floor_char_boundary(LOOKED_AT)]);
        let best = Self::all().min_by_key(|language| Reverse(tally.hits(*language)))?;
        let hits = tally.hits(best);
        (hits >= 2 && 4 * hits >= tally.words()).then_some(best)
    }
}

/// A set of languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Languages(u32);

impl Languages {
    fn with(self, language: Language) -> Self {
        Self(self.0 | 1 << language as u32)
    }

    /// Those that are written in an alphabet. Latin words in texts of other alphabets are read as English.
    fn written_in(self, alphabet: Option<Alphabet>) -> Self {
        let Some(alphabet) = alphabet else { return Self::default() };
        match (alphabet, self.0 & alphabet.languages()) {
            (Alphabet::Latin, 0) => Self::default().with(Language::English),
            (_, languages) => Self(languages),
        }
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn iter(self) -> impl Iterator<Item = Language> {
        Language::all().filter(move |language| self.0 & 1 << *language as u32 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shows_its_language() {
        for (text, language) in [
            ("The pump is switched off before the valve is opened.", Some(Language::English)),
            ("Die Pumpe wird abgeschaltet, bevor das Ventil geöffnet wird.", Some(Language::German)),
            ("La pompe est arrêtée avant que la vanne ne soit ouverte.", Some(Language::French)),
            ("La bomba se apaga antes de que se abra la válvula.", Some(Language::Spanish)),
            ("La pompa si spegne prima che la valvola venga aperta, e non dopo.", Some(Language::Italian)),
            (
                "A bomba é desligada antes que a válvula seja aberta, e não depois, pelo operador.",
                Some(Language::Portuguese),
            ),
            ("De pomp wordt uitgeschakeld voordat de klep wordt geopend.", Some(Language::Dutch)),
            (
                "Pumpen stängs av innan ventilen öppnas, och inte efter att den har öppnats.",
                Some(Language::Swedish),
            ),
            ("Насос выключается до того, как открывается клапан, а не после.", Some(Language::Russian)),
            (
                "Η αντλία κλείνει πριν ανοίξει η βαλβίδα και όχι μετά από αυτό, για να μην είναι αργά.",
                Some(Language::Greek),
            ),
            ("Pompa jest wyłączana, zanim zawór zostanie otwarty, a nie po tym.", Some(Language::Polish)),
            (
                "Pompa, vana açılmadan önce kapatılır ve bu her zaman böyle olmalıdır.",
                Some(Language::Turkish),
            ),
            ("यह पंप वाल्व के खुलने से पहले बंद किया जाता है और बाद में नहीं।", Some(Language::Hindi)),
            ("阀门打开之前先关闭水泵。", None),
            ("| 12 | 14 | kW |", None),
            ("", None),
            ("Installation", None),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }

    #[test]
    fn a_question_is_read_in_its_own_language_where_that_shows() {
        use Language::{English, French, German};
        for (query, spoken, common) in [
            ("who was it", vec![English, German], English),
            ("J. D. L. M. Smith", vec![English], English),
            ("was ist die Haftung", vec![English, German], German),
            ("quelle est la durée de la garantie", vec![English], French),
            ("die cast aluminium", vec![English], English),
            ("die cast aluminium", vec![English, German], English),
            ("die Haftung", vec![German], German),
            ("Haftung", vec![German, English], German),
            ("", vec![], English),
        ] {
            assert_eq!(Reading::of_query(query, &spoken).language(), common, "{query}");
        }
    }
}
