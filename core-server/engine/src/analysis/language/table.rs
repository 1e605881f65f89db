//! The table of languages: everything that the rest is made from.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

use crate::analysis::fold;

/// A language that words are stemmed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Hungarian,
    Romanian,
    Catalan,
    Polish,
    Czech,
    Indonesian,
    Turkish,
    Russian,
    Greek,
    Arabic,
    Hindi,
}

/// What a word is written in, as far as stemmers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Devanagari,
}

/// What is known of a language.
pub(super) struct Row {
    pub(super) language: Language,
    /// ISO 639-1.
    pub(super) code: &'static str,
    alphabet: Alphabet,
    stem: Algorithm,
    /// Function words that the published list of the language does not have: those that questions are made of, or all
    /// where there is no list.
    pub(super) words: &'static str,
}

#[rustfmt::skip]
pub(super) const ROWS: [Row; 22] = {
    use Alphabet::{Arabic, Cyrillic, Devanagari, Greek, Latin};
    const fn row(language: Language, code: &'static str, alphabet: Alphabet, stem: Algorithm, words: &'static str) -> Row {
        Row { language, code, alphabet, stem, words }
    }
    [
        row(Language::English, "en", Latin, Algorithm::English, ""),
        row(Language::German, "de", Latin, Algorithm::German, "wer wen wem wessen wie wann warum wieso weshalb wozu womit wodurch wofür wohin woher wieviel"),
        row(Language::French, "fr", Latin, Algorithm::French, "quel quelle quels quelles quoi comment pourquoi quand où combien lequel laquelle lesquels lesquelles quelqu est-ce a cette cet lors"),
        row(Language::Spanish, "es", Latin, Algorithm::Spanish, "qué cuál cuáles quién quiénes cómo cuándo dónde adónde cuánto cuánta cuántos cuántas"),
        row(Language::Italian, "it", Latin, Algorithm::Italian, "quale quali qual come quando dove perché quanto quanta quanti quante cosa cos dov com"),
        row(Language::Portuguese, "pt", Latin, Algorithm::Portuguese, "qual quais quem quê como quando onde porque quanto quanta quantos quantas"),
        row(Language::Dutch, "nl", Latin, Algorithm::Dutch, "wat wie waar wanneer waarom hoe welk welke hoeveel waarin waarmee"),
        row(Language::Swedish, "sv", Latin, Algorithm::Swedish, "vad vem var när varför hur vilken vilket vilka"),
        row(Language::Danish, "da", Latin, Algorithm::Danish, "hvad hvem hvor hvornår hvorfor hvordan hvilken hvilket hvilke"),
        row(Language::Norwegian, "no", Latin, Algorithm::Norwegian, "hva hvem hvor når hvorfor hvordan hvilken hvilket hvilke"),
        row(Language::Finnish, "fi", Latin, Algorithm::Finnish, "mikä mitä missä milloin miksi miten kuka kuinka mistä mihin"),
        row(Language::Hungarian, "hu", Latin, Algorithm::Hungarian, "mi mit ki hol mikor miért hogyan melyik mennyi milyen hány"),
        row(Language::Romanian, "ro", Latin, Algorithm::Romanian, "ce cine unde când cum câți câte cât care"),
        row(Language::Catalan, "ca", Latin, Algorithm::Catalan, "què quin quina quins quines qui com quan on quant"),
        row(Language::Polish, "pl", Latin, Algorithm::Polish, "i w z na do się nie to jest że o jak ale po co tak za od przez przy dla czy są był była było być może oraz lub ten ta tym tego który która które jego jej ich już tylko także niż aby pod nad bez gdy kiedy gdzie kto dlaczego ile jaki jaka jakie a"),
        row(Language::Czech, "cs", Latin, Algorithm::Czech, "a v z na do se ne to je že o jak ale po co tak za od pro při nebo jsou byl byla bylo být může tento tato tom toho který která které jeho její jejich již pouze také než aby pod nad bez když kdy kde kdo proč kolik jaký jaká jaké i k s si ve ze"),
        row(Language::Indonesian, "id", Latin, Algorithm::Indonesian, "apa siapa mana kapan mengapa bagaimana berapa"),
        row(Language::Turkish, "tr", Latin, Algorithm::Turkish, "ne kim nerede hangi nasıl niçin niye kaç neden"),
        row(Language::Russian, "ru", Cyrillic, Algorithm::Russian, "что кто какой какая какие какое где когда почему зачем как сколько куда откуда чей"),
        row(Language::Greek, "el", Greek, Algorithm::Greek, "τι ποιος ποια ποιο ποιοι πού πότε γιατί πώς πόσο πόσα"),
        row(Language::Arabic, "ar", Arabic, Algorithm::Arabic, "ما ماذا متى أين كيف لماذا هل كم أي"),
        row(Language::Hindi, "hi", Devanagari, Algorithm::Hindi, "के का की में है और से को पर ने एक यह वह हैं कि इस उस लिए जो तो भी क्या कौन कब कहाँ क्यों कैसे कितना कितने था थी थे या नहीं हो कर गया किया जाता बाद"),
    ]
};

impl Language {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.language)
    }

    /// Its ISO 639-1 code.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// The language with an ISO 639-1 code.
    pub fn of_code(code: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.code == code).map(|row| row.language)
    }

    pub(super) fn alphabet(self) -> Alphabet {
        self.row().alphabet
    }

    /// The stem of a word in lower case, accents folded. English has no accents of its own: they are folded first.
    pub(super) fn stem(self, lower: &str) -> Cow<'_, str> {
        let is_word = |word: &str| word.len() > 2 && word.chars().all(is_letter);
        if self == Self::English {
            return match fold::without_accents(lower) {
                Cow::Borrowed(word) if is_word(word) => Stemmer::new(self.row().stem).stem(word),
                Cow::Owned(word) if is_word(&word) => {
                    Cow::Owned(Stemmer::new(self.row().stem).stem(&word).into_owned())
                }
                word @ (Cow::Borrowed(_) | Cow::Owned(_)) => word,
            };
        }
        if !is_word(lower) {
            return fold::without_accents(lower);
        }
        match Stemmer::new(self.row().stem).stem(lower) {
            Cow::Borrowed(stem) => fold::without_accents(stem),
            Cow::Owned(stem) => Cow::Owned(fold::without_accents(&stem).into_owned()),
        }
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

impl Alphabet {
    /// The languages written in it, a bit each.
    pub(super) const fn languages(self) -> u32 {
        let (mut set, mut place) = (0, 0);
        while place < ROWS.len() {
            if ROWS[place].alphabet as u32 == self as u32 {
                set |= 1 << place;
            }
            place += 1;
        }
        set
    }

    /// The alphabet of a word's first letter.
    pub(super) fn of(word: &str) -> Option<Self> {
        word.chars().find_map(|c| match u32::from(c) {
            0x61..=0x7a | 0xc0..=0x24f | 0x1e00..=0x1eff => Some(Self::Latin),
            0x370..=0x3ff | 0x1f00..=0x1fff => Some(Self::Greek),
            0x400..=0x52f => Some(Self::Cyrillic),
            0x600..=0x6ff | 0x750..=0x77f => Some(Self::Arabic),
            0x900..=0x97f => Some(Self::Devanagari),
            _ => None,
        })
    }
}

/// A letter or a mark on one.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() || unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_stands_in_its_own_row_and_keeps_its_code() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.language as usize, place);
            assert_eq!(Language::of_code(row.code), Some(row.language));
            assert!(row.language == Language::English || !row.words.is_empty(), "{}", row.code);
        }
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (language, forms) in [
            (Language::English, ["valve", "valves"]),
            (Language::German, ["häuser", "hauses"]),
            (Language::French, ["généraux", "générale"]),
            (Language::Spanish, ["operación", "operaciones"]),
            (Language::Italian, ["valvola", "valvole"]),
            (Language::Portuguese, ["operação", "operações"]),
            (Language::Dutch, ["kleppen", "klep"]),
            (Language::Swedish, ["ventilen", "ventilerna"]),
            (Language::Finnish, ["venttiili", "venttiilit"]),
            (Language::Russian, ["насос", "насосами"]),
            (Language::Turkish, ["kitaplar", "kitap"]),
            (Language::Polish, ["zawory", "zawór"]),
            (Language::Hindi, ["किताबें", "किताब"]),
            (Language::Arabic, ["الكتاب", "كتاب"]),
        ] {
            let [first, second] = forms.map(|form| language.stem(form));
            assert_eq!(first, second, "{language:?}");
        }
    }
}
