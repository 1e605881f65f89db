//! From text to terms, in the same way for documents and for queries.
//!
//! Text is normalised (NFKC, case folded), cut into words, and each word gives a stem in the text's language and its
//! exact form. Identifiers give their parts and the whole. Scripts without spaces give overlapping pairs (Han, Hiragana,
//! Katakana, Hangul) or triples (Thai, Lao, Khmer, Myanmar) of characters. There is no syntax: nothing in a text
//! is an operator, and every text has terms or none.
//!
//! Deliberately left out: offsets (nothing is highlighted by term), and the weights of the kinds of terms
//! (`lexical/query.rs`).

mod character;
mod fold;
mod identifier;
pub mod language;

use character::Class;
pub use language::{Language, Reading};

/// The analyzer's name and version: with the chunks, all that a lexical index hangs on. It changes whenever any
/// text gives other terms than before, or the index holds them otherwise: since 3, a document's chunks are neighbours.
pub const ANALYZER: &str = "words/3";

/// What a term stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A word's stem, accents folded last. Where the text's language is not English it is marked with that (`haus~de`):
    /// equal stems of two languages are mostly not the same word.
    Stem,
    /// The stem of the same word in another language, right behind the term that it stands for: questions only.
    Also,
    /// The stem of a word with accents, accents folded first, where that is another: so that it is found without.
    Unaccented,
    /// Some neighbouring characters of a script without spaces.
    Gram,
    /// The stem of a word so common that it says nothing beside others.
    Stop,
    /// A word as written, but for case.
    Exact,
    /// An identifier of several parts as written, but for case; or a character that stands alone in a script
    /// without spaces.
    Whole,
}

/// Calls `sink` with each term of `text` as it is read, in order, repetitions included. Takes time in proportion to the
/// text, whatever is in it; no term is longer than 64 characters and a language's mark.
pub fn analyze(text: &str, reading: Reading, mut sink: impl FnMut(Kind, &str)) {
    let text = fold::normalized(text);
    let mut rest: &str = &text;
    while let Some(first) = rest.chars().next() {
        let class = Class::of(first);
        let end = rest.find(|c| !class.goes_on_with(Class::of(c))).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        match class {
            Class::Separator | Class::Joiner => {}
            Class::Word => identifier::terms(run, reading, &mut sink),
            Class::Ideograph => grams::<2>(run, &mut sink),
            Class::Unspaced => grams::<3>(run, &mut sink),
        }
        rest = behind;
    }
}

/// The stems that every text in `language` has which holds `literal` between the borders of words. A text that has them
/// all need not hold it.
pub fn terms_of_literal(literal: &str, language: Language) -> Vec<String> {
    let mut terms = Vec::new();
    analyze(literal, Reading::of_text_in(Some(language)), |kind, term| {
        let is_certain = match kind {
            Kind::Stem | Kind::Stop => true,
            // A shorter run is a term of its own only where nothing stands beside it.
            Kind::Gram => term.chars().count() == term.chars().next().map_or(0, |c| Class::of(c).gram()),
            Kind::Also | Kind::Unaccented | Kind::Exact | Kind::Whole => false,
        };
        if is_certain {
            terms.push(term.to_owned());
        }
    });
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Whether a character beside others of its kind makes a word.
pub fn is_part_of_word(c: char) -> bool {
    Class::of(c) == Class::Word
}

/// Whether a character is of a script that does not separate words.
pub fn is_in_script_without_spaces(c: char) -> bool {
    matches!(Class::of(c), Class::Ideograph | Class::Unspaced)
}

/// Whether a word has several parts, told by capital letters.
pub fn is_camel_case(word: &str) -> bool {
    let letters = word.as_bytes();
    letters.iter().all(u8::is_ascii_alphanumeric)
        && identifier::camel_boundaries(letters).any(|begin| letters[begin - 1].is_ascii_alphabetic())
}

/// Overlapping sequences of `N` characters; a shorter run is one term. Single characters are kept beside them, so
/// that a query of one character finds those within runs.
fn grams<const N: usize>(run: &str, sink: &mut impl FnMut(Kind, &str)) {
    let starts: Vec<usize> = run.char_indices().map(|(start, _)| start).chain([run.len()]).collect();
    let characters = starts.len() - 1;
    if characters <= N {
        sink(Kind::Gram, run);
    } else {
        for window in starts.windows(N + 1) {
            sink(Kind::Gram, &run[window[0]..window[N]]);
        }
    }
    if N == 2 {
        let kind = if characters == 1 { Kind::Whole } else { Kind::Exact };
        for window in starts.windows(2) {
            sink(kind, &run[window[0]..window[1]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str, wanted: &[Kind]) -> Vec<String> {
        let mut terms = Vec::new();
        analyze(text, Reading::of_text_in(None), |kind, term| {
            if wanted.contains(&kind) {
                terms.push(term.to_owned());
            }
        });
        terms
    }

    fn stems(text: &str) -> Vec<String> {
        terms(text, &[Kind::Stem, Kind::Stop, Kind::Gram])
    }

    #[test]
    fn words_give_stems() {
        for (text, expected) in [
            ("The cats are running.", vec!["the", "cat", "are", "run"]),
            ("", vec![]),
            (" \t\r\n…!?", vec![]),
            ("don't stop o'clock the dog's", vec!["don", "stop", "o", "clock", "the", "dog"]),
            ("naïve Résumé ÅNGSTRÖM straße", vec!["naiv", "resum", "angstrom", "strass"]),
            ("1,000 genomes, 3.14 and v1.0.21", vec!["1000", "genom", "3.14", "and", "v1.0.21", "1.0.21"]),
            ("U.S.A. e.g., A.B", vec!["usa", "eg", "ab"]),
            ("ﬁle ＦＵＬＬ ①", vec!["file", "full", "1"]),
        ] {
            assert_eq!(stems(text), expected, "{text}");
        }
    }

    #[test]
    fn composed_and_decomposed_text_give_the_same_terms() {
        let kinds = [Kind::Stem, Kind::Stop, Kind::Unaccented, Kind::Gram, Kind::Exact, Kind::Whole];
        assert_eq!(
            terms("caf\u{e9} r\u{e9}sum\u{e9}", &kinds),
            terms("cafe\u{301} re\u{301}sume\u{301}", &kinds)
        );
        assert_eq!(
            terms("가나다", &kinds),
            terms("\u{1100}\u{1161}\u{1102}\u{1161}\u{1103}\u{1161}", &kinds)
        );
    }

    #[test]
    fn identifiers_give_parts_and_the_whole() {
        for (text, parts, wholes) in [
            ("parseConfigFile()", vec!["pars", "config", "file", "parseconfigfil"], vec!["parseconfigfile"]),
            ("snake_case", vec!["snake", "case"], vec!["snake_case"]),
            ("ERR_CONN_7781", vec!["err", "conn", "7781"], vec!["err_conn_7781"]),
            ("foo::bar", vec!["foo", "bar"], vec!["foo::bar"]),
            ("1.0.21", vec!["1.0.21"], vec![]),
            ("C++ and C# or F#.", vec!["c", "and", "c", "or", "f"], vec!["c++", "c#", "f#"]),
            ("05-0087-009149-0", vec!["05", "0087", "009149", "0"], vec!["05-0087-009149-0"]),
            ("real-time", vec!["real", "time"], vec!["real-time"]),
            (
                "HTTPServer mRNA iPhone",
                vec!["http", "server", "httpserver", "mrna", "iphon"],
                vec!["httpserver"],
            ),
            ("config.parse_file", vec!["config", "pars", "file"], vec!["config.parse_file", "parse_file"]),
            ("https://a.example/x?y=1", vec!["https", "a", "exampl", "x", "y", "1"], vec!["a.example/x"]),
        ] {
            assert_eq!(stems(text), parts, "{text}");
            assert_eq!(terms(text, &[Kind::Whole]), wholes, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_give_grams() {
        assert_eq!(stems("东京都"), ["东京", "京都"]);
        assert_eq!(stems("水"), ["水"]);
        assert_eq!(terms("水", &[Kind::Whole]), ["水"]);
        assert_eq!(stems("使用API接口v2"), ["使用", "api", "接口", "v2"]);
        assert_eq!(stems("ภาษาไทย").len(), 5);
        assert_eq!(stems("データベース"), ["デー", "ータ", "タベ", "ベー", "ース"]);
        assert_eq!(stems("ﾃﾞｰﾀ"), stems("データ"));
    }

    #[test]
    fn vowel_signs_do_not_break_words() {
        assert_eq!(stems("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert_eq!(stems("الْعَرَبِيَّة"), stems("العربية"));
        assert_eq!(stems("می‌خواهم").len(), 1);
    }

    #[test]
    fn words_are_stemmed_in_the_language_of_the_text() {
        let in_german = |text: &str| {
            let mut stems = Vec::new();
            analyze(text, Reading::of_text_in(Some(Language::German)), |kind, term| {
                if matches!(kind, Kind::Stem | Kind::Unaccented) {
                    stems.push(term.to_owned());
                }
            });
            stems
        };
        assert_eq!(in_german("Häuser und Straßen"), ["haus~de", "strass~de"]);
        assert_eq!(in_german("насосы 2024"), ["насосы", "2024"]);
        let mut asked = Vec::new();
        let spoken = [Language::English, Language::German, Language::Russian];
        analyze("Gläser насосы", Reading::of_query("Gläser насосы", &spoken), |kind, term| {
            asked.push((kind, term.to_owned()));
        });
        let expected = [
            (Kind::Stem, "glaser"),
            (Kind::Also, "glas~de"),
            (Kind::Exact, "gläser"),
            (Kind::Stem, "насос~ru"),
            (Kind::Exact, "насосы"),
        ];
        let asked: Vec<(Kind, &str)> = asked.iter().map(|(kind, term)| (*kind, term.as_str())).collect();
        assert_eq!(asked, expected);
    }

    #[test]
    fn common_words_are_marked() {
        assert_eq!(terms("what is the matter", &[Kind::Stop]), ["what", "is", "the"]);
        assert_eq!(terms("what is the matter", &[Kind::Exact]), ["matter"]);
    }

    #[test]
    fn endless_words_are_cut() {
        for text in ["x".repeat(50_000), "é".repeat(50_000), "aB".repeat(25_000), "a_".repeat(25_000)] {
            analyze(&text, Reading::of_text_in(Some(Language::German)), |_, term| {
                assert!(term.chars().count() <= 67 && term.len() <= 259);
            });
        }
        assert_eq!(stems(&"x".repeat(50_000)).len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn terms_hold_no_white_space_and_are_never_empty(text in "\\PC*|[a-zA-Z_.:'+#,/0-9 -]*") {
            analyze(&text, Reading::of_text_in(Some(Language::German)), |_, term| {
                assert!(!term.is_empty() && !term.contains(char::is_whitespace), "{term:?} of {text:?}");
            });
        }

        #[test]
        fn case_makes_no_stem(text in "[a-z ]{0,60}") {
            proptest::prop_assert_eq!(stems(&text), stems(&text.to_uppercase()));
        }
    }
}
