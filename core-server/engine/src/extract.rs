//! Extractors: what makes UTF-8 text of a file that is not stored as such.
//!
//! An extractor is named with its version: the same name gives the same text of the same bytes for ever, since
//! citations are offsets into that text and are checked by extracting again.

/// One way to make text of a file.
#[derive(Clone, Copy, Debug)]
pub struct Extractor {
    /// Its name and version, `name/version`.
    pub identity: &'static str,
    /// Whether a file that begins with these bytes (four, or all there are) is one for it.
    pub takes: fn(&[u8]) -> bool,
    /// The text; `None` where the bytes are not what the extractor understands.
    pub extract: fn(&[u8]) -> Option<String>,
}

/// All there are.
pub const EXTRACTORS: &[Extractor] = &[Extractor { identity: "utf16/1", takes: is_utf16, extract: utf16 }];

/// The extractor of that name and version, where this program has it.
pub fn by_identity(identity: &str) -> Option<&'static Extractor> {
    EXTRACTORS.iter().find(|extractor| extractor.identity == identity)
}

/// The extractor for a file that begins with `bytes`; `None` for a file that is text as stored, or nothing known.
pub fn for_bytes(bytes: &[u8]) -> Option<&'static Extractor> {
    EXTRACTORS.iter().find(|extractor| (extractor.takes)(bytes))
}

/// A UTF-16 byte order mark, and not that of UTF-32.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xfe, 0xff])
        || (bytes.starts_with(&[0xff, 0xfe]) && !bytes.starts_with(&[0xff, 0xfe, 0, 0]))
}

/// UTF-16 with a byte order mark, which is left out; anything ill-formed is refused as a whole.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (mark, units) = bytes.split_first_chunk::<2>().filter(|_| is_utf16(bytes))?;
    let unit = if *mark == [0xfe, 0xff] { u16::from_be_bytes } else { u16::from_le_bytes };
    let (units, rest) = units.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(units.iter().map(|bytes| unit(*bytes))).collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ill_formed_utf16_is_refused() {
        for bytes in [&b""[..], b"a", b"\xff\xfe\0\0", b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\xfe\xff\xdc\x00"]
        {
            assert_eq!(utf16(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn utf16_of_both_orders_is_the_text(text in "[^\0]{0,20}") {
            let units = || text.encode_utf16();
            let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(units().flat_map(u16::to_le_bytes)).collect();
            let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(units().flat_map(u16::to_be_bytes)).collect();
            prop_assert_eq!(utf16(&little), Some(text.clone()));
            prop_assert_eq!(utf16(&big), Some(text));
            prop_assert_eq!(for_bytes(&big).map(|extractor| extractor.identity), Some("utf16/1"));
        }
    }
}
