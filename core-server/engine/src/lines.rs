//! Lines: where each begins, and which one a byte stands in.
//!
//! Computed from bytes, so that it works before and without decoding. LF, CRLF and a lone CR each end a line.
//! Deliberately left out: U+2028, U+0085 and form feeds, which no editor's line numbers count.

use memchr::memchr2_iter;

use crate::citation::{ByteRange, LineRange};

/// Where each line of a text begins. Lines count from 1; a text without bytes has one, empty line; a line end at the
/// very end of a text begins no further line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// The first byte of each line; the first entry is 0.
    starts: Vec<u32>,
    /// The length of the text.
    bytes: u32,
}

impl LineIndex {
    /// Looks through `bytes`, of which everything beyond 4 GiB is left out.
    pub fn new(bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let bytes = &bytes[..length as usize];
        let starts = std::iter::once(0)
            .chain(
                line_ends(bytes).filter(|&end| end < bytes.len()).filter_map(|end| u32::try_from(end).ok()),
            )
            .collect();
        Self { starts, bytes: length }
    }

    /// How many lines.
    pub fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// The line that `byte` stands in. The bytes of a line end belong to the line they end; a byte beyond the end
    /// counts as the last line's.
    pub fn line_of(&self, byte: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|&start| start <= byte)).unwrap_or(u32::MAX)
    }

    /// The lines that `bytes` touches: that of its first byte to that of its last. An empty range touches the line
    /// it begins in.
    pub fn lines_of(&self, bytes: ByteRange) -> LineRange {
        let last = if bytes.is_empty() { bytes.start } else { bytes.end - 1 };
        LineRange { start: self.line_of(bytes.start), end: self.line_of(last) }
    }

    /// The bytes of `lines`, the last one's line end included. `None` where the text has fewer lines than that begins
    /// with; an end beyond the text means its last line.
    pub fn bytes_of(&self, lines: LineRange) -> Option<ByteRange> {
        let first = lines.start.checked_sub(1)?;
        let start = *self.starts.get(first as usize)?;
        let end = self.starts.get(lines.end.max(lines.start) as usize).copied().unwrap_or(self.bytes);
        Some(ByteRange { start, end })
    }
}

/// How many line ends `bytes` holds. One that is split by the end, CR here and LF behind it, counts here.
pub fn count_line_ends(bytes: &[u8]) -> u32 {
    u32::try_from(line_ends(bytes).count()).unwrap_or(u32::MAX)
}

/// The offsets behind each line end, ascending.
fn line_ends(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    memchr2_iter(b'\n', b'\r', bytes)
        // The CR of a CRLF is left to its LF.
        .filter(|&at| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'))
        .map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(text: &str, cited: &str) -> (u32, u32) {
        let start = text.find(cited).expect("the fixture holds what it cites");
        let index = LineIndex::new(text.as_bytes());
        let lines = index.lines_of(ByteRange { start: offset(start), end: offset(start + cited.len()) });
        (lines.start, lines.end)
    }

    fn offset(at: usize) -> u32 {
        u32::try_from(at).expect("fixtures are small")
    }

    #[test]
    fn each_kind_of_line_end_ends_one_line() {
        for text in ["a\nb\nc", "a\r\nb\r\nc", "a\rb\rc", "a\r\nb\rc", "a\nb\rc\n", "\u{feff}a\r\nb\nc\r\n"] {
            assert_eq!(lines_of(text, "a"), (1, 1), "{text:?}");
            assert_eq!(lines_of(text, "b"), (2, 2), "{text:?}");
            assert_eq!(lines_of(text, "c"), (3, 3), "{text:?}");
            assert_eq!(LineIndex::new(text.as_bytes()).count(), 3, "{text:?}");
        }
    }

    #[test]
    fn a_line_end_belongs_to_the_line_it_ends() {
        assert_eq!(lines_of("a\r\nb\n", "a\r\n"), (1, 1));
        assert_eq!(lines_of("a\r\nb\n", "\r\n"), (1, 1));
        assert_eq!(lines_of("a\n\n\nb\n", "b\n"), (4, 4));
        assert_eq!(lines_of("a\nb\n", "a\nb\n"), (1, 2));
    }

    #[test]
    fn lf_behind_cr_lf_is_an_empty_line() {
        assert_eq!(lines_of("a\r\n\nb", "b"), (3, 3));
        assert_eq!(lines_of("a\n\rb", "b"), (3, 3));
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let index = LineIndex::new(b"");
        assert_eq!(index.count(), 1);
        assert_eq!(index.line_of(0), 1);
        assert_eq!(index.bytes_of(LineRange { start: 1, end: 1 }), Some(ByteRange { start: 0, end: 0 }));
        assert_eq!(index.bytes_of(LineRange { start: 2, end: 2 }), None);
        assert_eq!(index.bytes_of(LineRange { start: 0, end: 2 }), None);
    }

    #[test]
    fn what_stands_at_lines_is_cut_at_the_end() {
        let index = LineIndex::new(b"one\r\ntwo\r\nthree");
        assert_eq!(index.bytes_of(LineRange { start: 2, end: 2 }), Some(ByteRange { start: 5, end: 10 }));
        assert_eq!(index.bytes_of(LineRange { start: 2, end: 9 }), Some(ByteRange { start: 5, end: 15 }));
    }

    proptest! {
        #[test]
        fn lines_read_one_after_another_are_the_text(text in "[ab\r\n]{0,40}") {
            let index = LineIndex::new(text.as_bytes());
            let joined: Vec<u8> = (1..=index.count())
                .filter_map(|line| index.bytes_of(LineRange { start: line, end: line }))
                .flat_map(|bytes| bytes.slice(text.as_bytes()).unwrap_or_default().to_vec())
                .collect();
            prop_assert_eq!(joined, text.as_bytes());
        }

        #[test]
        fn a_line_holds_the_bytes_that_name_it(text in "[ab\r\n]{1,40}", at in 0usize..40) {
            let at = offset(at % text.len());
            let index = LineIndex::new(text.as_bytes());
            let line = index.line_of(at);
            let bytes = index.bytes_of(LineRange { start: line, end: line }).expect("the line exists");
            prop_assert!(bytes.start <= at && at < bytes.end);
        }
    }
}
