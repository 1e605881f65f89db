//! How much of a say the dense leg has: less where a query is in a language that the model was not made for.
//!
//! A model that does not know a script still gives every text a vector, and its nearest neighbours mean nothing. Of
//! another language in a script that it knows it understands a little: names, and what the languages have in common.
//! Scripts are told by the characters, languages by the function words, else by what the collection is in.

use crate::analysis::{Language, Reading};

/// The dense leg's share of the fused score, 0 to 1; the BM25 leg has the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseWeight(f64);

/// In a language that the model knows. Over eleven English collections the weight chosen by leaving one out was
/// never far from it, and what it loses to each collection's own best is within a point.
const KNOWN: f64 = 0.5;

/// In another language of a script that it knows.
const FOREIGN: f64 = 0.3;

/// In a script that it does not know: enough to order what no word finds.
const UNKNOWN: f64 = 0.05;

impl DenseWeight {
    /// A share, brought into 0 to 1.
    pub fn new(share: f64) -> Self {
        Self(if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) })
    }

    /// For a query to texts in the languages `spoken` and a model of `languages` (ISO 639-1 codes); none means any.
    pub fn of(query: &str, spoken: &[Language], languages: &[String]) -> Self {
        if !can_read(languages, query) {
            return Self(UNKNOWN);
        }
        if languages.is_empty() || languages.iter().any(|language| language == "multilingual") {
            return Self(KNOWN);
        }
        let language = Reading::of_query(query, spoken).language().code();
        Self(if languages.iter().any(|known| known == language) { KNOWN } else { FOREIGN })
    }

    /// The share.
    pub fn share(self) -> f64 {
        self.0
    }
}

/// Whether a model of these languages (ISO 639-1 codes; none means any) knows the scripts that `text` is written in.
pub(crate) fn can_read(languages: &[String], text: &str) -> bool {
    if languages.is_empty() || languages.iter().any(|language| language == "multilingual") {
        return true;
    }
    let known: Vec<Script> =
        languages.iter().flat_map(|language| Script::of_language(language)).copied().collect();
    let (mut letters, mut foreign) = (0_u32, 0_u32);
    for script in text.chars().filter_map(Script::of) {
        letters += 1;
        foreign += u32::from(!known.contains(&script));
    }
    // A name or two in another script say little about the rest.
    foreign * 3 <= letters
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Devanagari,
    Thai,
    Kana,
    Han,
    Hangul,
    Other,
}

impl Script {
    /// The script of a letter; none for digits, marks and punctuation.
    fn of(c: char) -> Option<Self> {
        if !c.is_alphabetic() {
            return None;
        }
        Some(match u32::from(c) {
            0..=0x24f | 0x1e00..=0x1eff | 0xff21..=0xff5a => Self::Latin,
            0x370..=0x3ff | 0x1f00..=0x1fff => Self::Greek,
            0x400..=0x52f => Self::Cyrillic,
            0x590..=0x5ff => Self::Hebrew,
            0x600..=0x6ff | 0x750..=0x77f | 0xfb50..=0xfdff | 0xfe70..=0xfeff => Self::Arabic,
            0x900..=0x97f => Self::Devanagari,
            0xe00..=0xe7f => Self::Thai,
            0x3040..=0x30ff | 0xff66..=0xff9f => Self::Kana,
            0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af => Self::Han,
            0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7ff => Self::Hangul,
            _ => Self::Other,
        })
    }

    fn of_language(language: &str) -> &'static [Self] {
        match language {
            "el" => &[Self::Greek],
            "ru" | "uk" | "bg" | "sr" | "mk" | "be" | "kk" => &[Self::Cyrillic],
            "he" => &[Self::Hebrew],
            "ar" | "fa" | "ur" => &[Self::Arabic],
            "hi" | "mr" | "ne" => &[Self::Devanagari],
            "th" => &[Self::Thai],
            "ja" => &[Self::Kana, Self::Han],
            "zh" => &[Self::Han],
            "ko" => &[Self::Hangul],
            _ => &[Self::Latin],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_little_say_in_scripts_that_it_does_not_know() {
        let english = ["en".to_owned()];
        let spoken = [Language::English, Language::German];
        for (query, share) in [
            ("how do we roll back", KNOWN),
            ("rollback", KNOWN),
            ("comment revenir à une version antérieure", FOREIGN),
            ("wie nehmen wir das zurück", FOREIGN),
            ("who was Лев Толстой and when did he live", KNOWN),
            ("12345 !?", KNOWN),
            ("", KNOWN),
            ("本番に出した変更を前のバージョンへ戻したい", UNKNOWN),
            ("API 的默认超时时间是多少", UNKNOWN),
            ("как откатить выпуск", UNKNOWN),
        ] {
            assert_eq!(DenseWeight::of(query, &spoken, &english), DenseWeight(share), "{query}");
        }
        let german = [Language::German, Language::English];
        assert_eq!(DenseWeight::of("Rücknahme", &german, &english), DenseWeight(FOREIGN));
        let more = ["en".to_owned(), "ja".to_owned()];
        assert_eq!(DenseWeight::of("変更を前のバージョンへ", &spoken, &more), DenseWeight(KNOWN));
        assert_eq!(DenseWeight::of("как откатить", &spoken, &[]), DenseWeight(KNOWN));
    }
}
