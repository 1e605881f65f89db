//! The one measure that chunks are sized by: a fixed estimate of how many tokens a BERT-like model makes of a text, from
//! words and characters alone.
//!
//! It errs upwards where text is dense (hashes, base64, minified code, scripts that such a vocabulary spells letter by
//! letter), since what is cut off at a model's window is never found. How near it comes to the default model's tokenizer
//! is written down, with figures, in `docs/decisions/0005-chunking.md`.

use unicode_segmentation::UnicodeSegmentation;

/// Letters of a word that cost one token together; each further [`LETTERS_MORE`] cost another.
const LETTERS_AT_ONCE: u32 = 7;
const LETTERS_MORE: u32 = 3;

/// Consonants in a row of which each further one costs one token.
const CONSONANTS: u32 = 3;

/// Digits that cost one token together.
const DIGITS: u32 = 2;

/// One token. Characters that no model sees (blanks, combining marks) cost one part of it each, so that no chunk is
/// endless.
pub(super) const TOKEN: u64 = 64;

/// How much `text` is taken to be, in parts of a [`TOKEN`].
pub(super) fn measure(text: &str) -> u64 {
    let mut measure = Measure::default();
    measure.read(text);
    measure.total()
}

/// The most that `text` adds to a piece that ends in `before`, wherever that piece begins: letters that go on with a word may
/// cost more than as a word of their own, and how much hangs on where the word began.
pub(super) fn added(before: &str, text: &str) -> u64 {
    let alone = measure(text);
    if !(before.ends_with(char::is_alphabetic) && text.starts_with(char::is_alphabetic)) {
        return alone;
    }
    let mut word = Measure::default();
    word.read(before);
    let long_words = (0..LETTERS_MORE).map(|more| {
        let length = LETTERS_AT_ONCE + more;
        let mut measure = Measure { length, consonants: CONSONANTS, run: word.run, ..Measure::default() };
        measure.read(text);
        measure.total()
    });
    long_words.fold(alone, u64::max)
}

/// The beginning of `text` that `longest` parts hold, with an ellipsis where something is left out; cut between words
/// where it has any.
pub(super) fn beginning(text: &str, longest: u64) -> String {
    if measure(text) <= longest {
        return text.to_owned();
    }
    let mut kept = 0;
    let mut total = 0;
    for (at, word) in text.split_word_bound_indices() {
        let cost = measure(word);
        if total + cost > longest {
            if kept == 0 {
                kept = word
                    .grapheme_indices(true)
                    .nth(usize::try_from(longest / TOKEN).unwrap_or_default())
                    .map_or(word.len(), |(at, _)| at);
            }
            break;
        }
        total += cost;
        kept = at + word.len();
    }
    format!("{}…", text[..kept].trim_end())
}

/// What the next character continues.
#[derive(Clone, Copy, Default, PartialEq)]
enum Run {
    #[default]
    None,
    Lower,
    Upper,
    Digits,
}

#[derive(Default)]
struct Measure {
    tokens: u64,
    idle: u64,
    run: Run,
    /// Length of the run so far.
    length: u32,
    /// How many of its last letters are consonants.
    consonants: u32,
}

impl Measure {
    fn read(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii() {
                // CRLF is one line end, so that a file keeps its cuts when its line ends are converted.
                if bytes[at..].starts_with(b"\r\n") {
                    at += 1;
                }
                self.ascii(bytes[at]);
                at += 1;
            } else if let Some(character) = text[at..].chars().next() {
                self.wide(character);
                at += character.len_utf8();
            }
        }
    }

    fn ascii(&mut self, byte: u8) {
        match byte {
            b'a'..=b'z' => {
                self.letter(Run::Lower);
                self.spell(byte);
            }
            b'A'..=b'Z' => {
                self.letter(Run::Upper);
                self.spell(byte);
            }
            b'0'..=b'9' => self.digit(),
            b' ' | b'\t' | b'\n' | b'\r' | 0..=0x1f | 0x7f => self.blank(),
            _ => self.single(),
        }
    }

    fn wide(&mut self, character: char) {
        match character {
            // Hangul is taken apart into its two or three letters.
            '\u{ac00}'..='\u{d7a3}' => {
                self.single();
                self.tokens += 1;
            }
            '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => self.idle += 1,
            _ if character.is_whitespace() => self.blank(),
            // Latin with diacritics: the same word without them.
            '\u{c0}'..='\u{24f}' => {
                self.letter(if character.is_uppercase() { Run::Upper } else { Run::Lower });
            }
            _ => self.single(),
        }
    }

    /// A letter goes on with its word, but not a capital after a small one: `fileName` is two words.
    fn letter(&mut self, run: Run) {
        let goes_on = match (self.run, run) {
            (Run::Lower, Run::Lower) | (Run::Upper, Run::Upper) => true,
            (Run::Upper, _) => self.length == 1,
            _ => false,
        };
        if goes_on {
            self.length += 1;
            let more = self.length > LETTERS_AT_ONCE && (self.length - LETTERS_AT_ONCE) % LETTERS_MORE == 1;
            self.tokens += u64::from(more);
        } else {
            self.tokens += 1;
            self.length = 1;
            self.consonants = 0;
        }
        self.run = run;
    }

    /// Letters that no one can pronounce are no word that a model knows.
    fn spell(&mut self, letter: u8) {
        if matches!(letter | 0x20, b'a' | b'e' | b'i' | b'o' | b'u' | b'y') {
            self.consonants = 0;
        } else {
            self.consonants += 1;
            self.tokens += u64::from(self.consonants > CONSONANTS);
        }
    }

    fn digit(&mut self) {
        if self.run == Run::Digits && !self.length.is_multiple_of(DIGITS) {
            self.length += 1;
        } else {
            self.tokens += 1;
            self.length = 1;
        }
        self.run = Run::Digits;
    }

    fn single(&mut self) {
        self.tokens += 1;
        self.run = Run::None;
    }

    fn blank(&mut self) {
        self.idle += 1;
        self.run = Run::None;
    }

    fn total(&self) -> u64 {
        self.tokens * TOKEN + self.idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_characters_are_counted() {
        for (text, tokens) in [
            ("", 0),
            ("   \n", 0),
            ("one two, three.", 5),
            ("fileName", 2),
            ("HTMLParser", 4),
            ("2024-12-31", 6),
            ("internationalization", 6),
            ("数据库。", 4),
            ("naïve", 1),
            ("nai\u{308}ve", 1),
            ("한국", 4),
            ("strengths", 4),
            ("xkcdqz", 4),
        ] {
            assert_eq!(measure(text) / TOKEN, tokens, "{text:?}");
        }
    }

    #[test]
    fn dense_text_costs_by_its_characters() {
        assert!(measure("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") >= 32 * TOKEN);
        assert!(measure(&"x".repeat(3_000)) >= 900 * TOKEN);
        assert!(measure(&" ".repeat(64_000)) >= 900 * TOKEN);
    }

    #[test]
    fn no_text_is_more_than_its_parts_add_to_it() {
        let mut state = 7_u32;
        for _ in 0..2_000 {
            let letters = (0..60).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b"bcdfXYaeE0/ "[(state >> 24) as usize % 12])
            });
            let text: String = letters.collect();
            let parts: Vec<&str> = (0..60).step_by(20).map(|at| &text[at..at + 20]).collect();
            let sum = measure(parts[0]) + added(parts[0], parts[1]) + added(parts[1], parts[2]);
            assert!(measure(&text) <= sum, "{text}: {} > {sum}", measure(&text));
        }
        assert!(measure("strengthstrengths") > measure("strengths") + measure("trengths"));
        assert_eq!(added("two ", "words"), measure("words"));
    }

    #[test]
    fn a_beginning_ends_between_words() {
        assert_eq!(beginning("a short one", 8 * TOKEN), "a short one");
        assert_eq!(beginning("one two three four", 2 * TOKEN + 9), "one two…");
        assert_eq!(beginning(&"x".repeat(100), 3 * TOKEN), "xxx…");
    }
}
