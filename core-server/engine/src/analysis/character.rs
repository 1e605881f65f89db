//! What a character does to the words around it.

/// A character's part in cutting text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a word.
    Separator,
    /// Ends a word, or holds an identifier together between two words.
    Joiner,
    /// A letter, digit or mark of a script that separates words.
    Word,
    /// A character of Han, Hiragana, Katakana or Hangul.
    Ideograph,
    /// A character of another script that does not separate words.
    Unspaced,
}

impl Class {
    pub(super) fn of(c: char) -> Self {
        if c.is_ascii() {
            return match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' => Self::Word,
                '_' | '-' | '.' | ':' | '/' | '@' | '+' | '#' | '\'' | ',' => Self::Joiner,
                _ => Self::Separator,
            };
        }
        match u32::from(c) {
            // Iteration marks and the ideographic zero are no letters to Unicode but belong to words.
            0x3005..=0x3007
            | 0x3041..=0x309f
            | 0x30a1..=0x30fa
            | 0x30fc..=0x30ff
            | 0x31f0..=0x31ff
            | 0x3400..=0x4dbf
            | 0x4e00..=0x9fff
            | 0xf900..=0xfaff
            | 0x20000..=0x323af
            | 0x1100..=0x11ff
            | 0x3131..=0x318e
            | 0xac00..=0xd7ff => Self::Ideograph,
            0x0e01..=0x0e3a
            | 0x0e40..=0x0e4e
            | 0x0e80..=0x0ecf
            | 0x1000..=0x103f
            | 0x1050..=0x108f
            | 0x1780..=0x17d3 => Self::Unspaced,
            // The typographic apostrophe and the hyphens that NFKC leaves alone.
            0x2019 | 0x2010 => Self::Joiner,
            // Joiners without width, within Persian and Indic words; folded away later.
            0x200c | 0x200d | 0x00ad => Self::Word,
            _ if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) => Self::Word,
            _ => Self::Separator,
        }
    }

    /// How many neighbouring characters make a term, where words are not told apart.
    pub(super) fn gram(self) -> usize {
        match self {
            Self::Ideograph => 2,
            Self::Unspaced => 3,
            Self::Separator | Self::Joiner | Self::Word => 0,
        }
    }

    /// Whether a run that began with this goes on with `next`. A word's run takes joiners in: what they join is
    /// decided there.
    pub(super) fn goes_on_with(self, next: Self) -> bool {
        match self {
            Self::Word => matches!(next, Self::Word | Self::Joiner),
            Self::Separator | Self::Joiner => matches!(next, Self::Separator | Self::Joiner),
            Self::Ideograph | Self::Unspaced => self == next,
        }
    }
}
