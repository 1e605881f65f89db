//! Lines from a reader, each of bounded length.
//!
//! Deliberately left out: what a line says.

use std::io::{self, BufRead, Read as _};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line. The last one may lack its end.
    Whole(Vec<u8>),
    /// A line that was too long to be kept.
    TooLong,
}

/// The next line of at most `most` bytes; `None` at the end. A longer one is read to its end and not kept.
pub(crate) fn next(reader: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let allowed = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    if reader.by_ref().take(allowed).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() > most {
        reader.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    if line.ends_with(b"\r") {
        line.pop();
    }
    Ok(Some(Line::Whole(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], most: usize) -> Vec<Line> {
        let mut reader = io::BufReader::with_capacity(3, bytes);
        std::iter::from_fn(|| next(&mut reader, most).unwrap()).collect()
    }

    #[test]
    fn lines_end_in_either_way_and_the_last_need_not() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(all(b"a\nbc\r\n\n\xff", 8), [whole("a"), whole("bc"), whole(""), Line::Whole(vec![0xff])]);
        assert_eq!(all(b"", 8), []);
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            all(b"1234\n12345\n123456789\nx\n", 4),
            [whole("1234"), Line::TooLong, Line::TooLong, whole("x")]
        );
        assert_eq!(all(b"123456789", 4), [Line::TooLong]);
    }
}
