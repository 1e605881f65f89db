//! Different spellings of the same word made equal: Unicode forms, case, accents.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// The text in NFKC: composed, and compatibility characters (full width, ligatures, circled digits) made plain.
pub(super) fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Puts `word` without its case into `lower`.
pub(super) fn lower_case(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
        return;
    }
    for c in word.chars() {
        match c {
            // Full case folding of the two letters where lower case is not enough.
            'ς' => lower.push('σ'),
            'ß' | 'ẞ' => lower.push_str("ss"),
            // Without width; İ in lower case leaves a dot behind.
            '\u{200c}' | '\u{200d}' | '\u{ad}' | '\u{307}' => {}
            _ => lower.extend(c.to_lowercase().filter(|&c| c != '\u{307}')),
        }
    }
}

/// `lower` without accents (Latin, Greek, Cyrillic), Arabic vowel marks and Hebrew points. Vowel signs of other
/// scripts are letters, and stay.
pub(super) fn without_accents(lower: &str) -> Cow<'_, str> {
    if lower.is_ascii() {
        return Cow::Borrowed(lower);
    }
    let mut folded = String::with_capacity(lower.len());
    for c in lower.nfd() {
        match c {
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            // Breve of й: another letter, not an accent.
            '\u{306}' => folded.push(c),
            '\u{300}'..='\u{36f}'
            | '\u{591}'..='\u{5c7}'
            | '\u{610}'..='\u{61a}'
            | '\u{640}'
            | '\u{64b}'..='\u{65f}'
            | '\u{670}' => {
                debug_assert!(c == '\u{640}' || is_combining_mark(c) || !c.is_alphanumeric());
            }
            _ => folded.push(c),
        }
    }
    Cow::Owned(folded.nfc().collect())
}
