//! Text of documents, made harmless for a terminal and for whoever reads it there or elsewhere.
//!
//! A document may hold escape sequences that recolour, retitle or rewrite what stands on the screen, marks that
//! show text in another order than it has, and characters that nobody sees and a model reads. They are shown, not
//! obeyed. Deliberately left out: JSON, which escapes control characters itself.

use std::borrow::Cow;

/// Text of several lines.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let lines = text.replace("\r\n", "\n");
    Cow::Owned(
        lines
            .chars()
            .map(|character| if is_harmful(character) { picture(character) } else { character })
            .collect(),
    )
}

/// Text on one line: white space of any kind and length is one space.
pub fn line(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    text(&words.join(" ")).into_owned()
}

/// The beginning of a text on one line, of `width` characters at most.
pub fn beginning(text: &str, width: usize) -> String {
    // White space may be most of a text, and the rest of a long one is not looked at.
    let line = line(&text.chars().take(width * 4).collect::<String>());
    if line.chars().count() <= width && text.chars().nth(width * 4).is_none() {
        return line;
    }
    let cut: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

fn is_harmful(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks of writing direction (embeddings, overrides, isolates), and tags, which are letters without a shape.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control(),
    }
}

/// What stands for a control character: its picture where Unicode has one.
fn picture(character: char) -> char {
    match character {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_not_obeyed() {
        for (given, expected) in [
            ("plain ü 漢\n\tx", "plain ü 漢\n\tx"),
            ("\x1b[31mred\x1b]0;title\x07", "␛[31mred␛]0;title␇"),
            ("a\u{9b}31mb", "a\u{fffd}31mb"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("a\u{202e}b\u{2066}c\0\x7f", "a\u{fffd}b\u{fffd}c␀␡"),
            ("a\u{e0041}b", "a\u{fffd}b"),
        ] {
            assert_eq!(text(given), expected);
            assert!(!text(given).contains(is_harmful));
        }
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line(" a\n\n b\t\u{2028}c \r\n"), "a b c");
        assert_eq!(beginning("one two three", 8), "one two…");
        assert_eq!(beginning("one two", 8), "one two");
        assert_eq!(beginning(&format!("a{}b", " ".repeat(1000)), 8), "a…");
        assert_eq!(beginning("", 8), "");
    }
}
