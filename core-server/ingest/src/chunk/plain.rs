//! Plain text: paragraphs between blank lines, and whatever a paragraph is made of.

use super::split::{Boundary, Grain, level};

/// A boundary before each paragraph of `text` from `start` on.
pub(super) fn boundaries(text: &str, start: usize) -> Vec<Boundary> {
    let mut boundaries = Vec::new();
    let mut behind_blank = true;
    for (at, line) in lines(text, start) {
        let blank = line.trim().is_empty();
        if !blank && behind_blank {
            boundaries.push(Boundary { at, level: level::BLOCK, grain: Grain::Prose });
        }
        behind_blank = blank;
    }
    boundaries
}

/// The lines of `text` from `start` on with their offsets, line ends included. LF, CRLF and a lone CR end a line.
pub(crate) fn lines(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let length = match memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
            Some(end) if rest[end..].starts_with("\r\n") => end + 2,
            Some(end) => end + 1,
            None => rest.len(),
        };
        let line = (at, &rest[..length]);
        at += length;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_end_ends_a_line() {
        let text = "a\r\nb\rc\n\nd";
        let lines: Vec<_> = lines(text, 0).map(|(_, line)| line).collect();
        assert_eq!(lines, ["a\r\n", "b\r", "c\n", "\n", "d"]);
    }
}
