//! The footnote: the pasteable form of a citation.
//!
//! `[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b)`: collection, source, lines and the first
//! eight hex digits of the SHA-256 of the cited bytes. No generation and no chunk id, so it outlives re-ingest.
//!
//! # Grammar
//!
//! ```text
//! footnote   = link / address                    ; white space around it is left out
//! link       = "[" label "](" address ")"        ; label is anything: it is for the reader, and not read back
//! address    = "footnote:" collection "/" source "#" lines ";" sha256
//! collection = [A-Za-z0-9][A-Za-z0-9._-]{0,63}
//! source     = 1*( "%" 2HEXDIG / char )          ; char: any but "%", "#" and control characters (U+0000–1F, 7F–9F)
//! lines      = "L" number [ "-L" number ]        ; from 1, no leading zeros, below 2^32, the second not below the first
//! sha256     = 8( [0-9a-f] )
//! ```
//!
//! The bytes that `source` decodes to are UTF-8. What is written is narrower than what is read: in the address every
//! byte but `A-Z a-z 0-9 - . _ ~ / + , = @ :` is percent-encoded with upper-case digits, so that it has neither white
//! space, nor brackets, nor a letter that could change the direction of the text; one line is `L10`, never `L10-L10`.
//! The label is the file's name with Markdown's own characters behind backslashes, and control and direction
//! characters replaced by U+FFFD. The contract's `validate()` accepts exactly this grammar.

use std::fmt;
use std::str::FromStr;

use crate::citation::{Citation, LineRange};
use crate::collection::CollectionName;

const SCHEME: &str = "footnote:";

/// A citation in the form made for pasting. `Display` gives the Markdown link; parsing takes the link or its
/// `footnote:` address alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Footnote {
    /// The collection.
    pub collection: CollectionName,
    /// The path relative to the collection's root, with `/`; not empty.
    pub source: String,
    /// The cited lines.
    pub lines: LineRange,
    /// The first four bytes of the SHA-256 of the cited bytes.
    pub sha256_prefix: [u8; 4],
}

impl Footnote {
    /// The footnote of `citation`, which is from `collection`.
    pub fn of(collection: &CollectionName, citation: &Citation) -> Self {
        let [a, b, c, d, ..] = *citation.sha256.as_bytes();
        Self {
            collection: collection.clone(),
            source: citation.source.clone(),
            lines: citation.lines,
            sha256_prefix: [a, b, c, d],
        }
    }

    /// The `footnote:` address alone.
    pub fn address(&self) -> String {
        let LineRange { start, end } = self.lines;
        let lines = if start == end { format!("L{start}") } else { format!("L{start}-L{end}") };
        let source = percent_encoded(&self.source);
        format!("{SCHEME}{}/{source}#{lines};{}", self.collection, hex::encode(self.sha256_prefix))
    }

    fn label(&self) -> String {
        let LineRange { start, end } = self.lines;
        let name = markdown_escaped(self.source.rsplit('/').next().unwrap_or_default());
        if start == end { format!("{name}:{start}") } else { format!("{name}:{start}-{end}") }
    }
}

impl fmt::Display for Footnote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]({})", self.label(), self.address())
    }
}

/// A text that is no footnote.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a footnote, which looks like [file:10-14](footnote:collection/file#L10-L14;9f3c2a1b)")]
pub struct ParseFootnoteError;

impl FromStr for Footnote {
    type Err = ParseFootnoteError;

    fn from_str(text: &str) -> Result<Self, ParseFootnoteError> {
        parse(text).ok_or(ParseFootnoteError)
    }
}

fn parse(text: &str) -> Option<Footnote> {
    let text = text.trim();
    let address = match text.strip_prefix('[') {
        Some(link) => link.strip_suffix(')')?.rsplit_once("](").map(|(_label, address)| address)?,
        None => text,
    };
    let (collection, rest) = address.strip_prefix(SCHEME)?.split_once('/')?;
    let (source, fragment) = rest.split_once('#')?;
    let (lines, sha256) = fragment.split_once(';')?;
    Some(Footnote {
        collection: collection.parse().ok()?,
        source: percent_decoded(source).filter(|source| !source.is_empty())?,
        lines: parse_lines(lines)?,
        sha256_prefix: parse_prefix(sha256)?,
    })
}

fn parse_lines(text: &str) -> Option<LineRange> {
    let (start, end) = match text.split_once('-') {
        Some((start, end)) => (parse_line(start)?, parse_line(end)?),
        None => (parse_line(text)?, parse_line(text)?),
    };
    (start <= end).then_some(LineRange { start, end })
}

fn parse_line(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('L')?;
    let canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| canonical)
}

fn parse_prefix(text: &str) -> Option<[u8; 4]> {
    let mut prefix = [0; 4];
    let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    hex::decode_to_slice(text, &mut prefix).ok().filter(|()| lower)?;
    Some(prefix)
}

fn percent_encoded(source: &str) -> String {
    let mut encoded = String::with_capacity(source.len());
    for byte in source.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/+,=@:".contains(&byte);
        if plain {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&hex::encode_upper([byte]));
        }
    }
    encoded
}

fn percent_decoded(text: &str) -> Option<String> {
    if text.chars().any(char::is_control) {
        return None;
    }
    let mut parts = text.split('%');
    let mut decoded = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, plain) = part.split_at_checked(2)?;
        let mut byte = [0];
        hex::decode_to_slice(digits, &mut byte).ok()?;
        decoded.extend_from_slice(&byte);
        decoded.extend_from_slice(plain.as_bytes());
    }
    String::from_utf8(decoded).ok()
}

fn markdown_escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '\\' | '[' | ']' | '`' | '*' | '<' | '>' | '&' | '|' | '~' => escaped.extend(['\\', character]),
            _ if character.is_control() || sets_direction(character) => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Whether a character only changes the direction, or the line, of what stands around it.
fn sets_direction(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn footnote(source: &str, start: u32, end: u32) -> Footnote {
        Footnote {
            collection: "ops".parse().expect("a name"),
            source: source.to_owned(),
            lines: LineRange { start, end },
            sha256_prefix: [0x9f, 0x3c, 0x2a, 0x1b],
        }
    }

    #[test]
    fn it_is_a_markdown_link() {
        for (footnote, text) in [
            (footnote("runbook.md", 10, 14), "[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b)"),
            (footnote("a/b/runbook.md", 10, 10), "[runbook.md:10](footnote:ops/a/b/runbook.md#L10;9f3c2a1b)"),
            (
                footnote("a (1)/[x] #1;50%.md", 1, 2),
                "[\\[x\\] #1;50%.md:1-2](footnote:ops/a%20%281%29/%5Bx%5D%20%231%3B50%25.md#L1-L2;9f3c2a1b)",
            ),
            (footnote("é.md", 1, 1), "[é.md:1](footnote:ops/%C3%A9.md#L1;9f3c2a1b)"),
            (
                footnote("\u{202e}fdp.md", 1, 1),
                "[\u{fffd}fdp.md:1](footnote:ops/%E2%80%AEfdp.md#L1;9f3c2a1b)",
            ),
            (footnote("a\nb`c.md", 1, 1), "[a\u{fffd}b\\`c.md:1](footnote:ops/a%0Ab%60c.md#L1;9f3c2a1b)"),
        ] {
            assert_eq!(footnote.to_string(), text);
            assert_eq!(text.parse(), Ok(footnote), "{text}");
        }
    }

    #[test]
    fn it_is_read_more_widely_than_it_is_written() {
        let expected = footnote("my notes/é(1).md", 3, 3);
        for text in [
            "footnote:ops/my%20notes/%c3%a9%281%29.md#L3;9f3c2a1b",
            "  footnote:ops/my notes/é(1).md#L3-L3;9f3c2a1b\n",
            "[any ](label](footnote:ops/my notes/é(1).md#L3;9f3c2a1b)",
        ] {
            assert_eq!(text.parse().as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "runbook.md",
            "footnote:",
            "footnote:ops",
            "footnote:ops/",
            "footnote:ops/#L1;9f3c2a1b",
            "footnote:ops/a.md",
            "footnote:ops/a.md#L1",
            "footnote:ops/a.md;9f3c2a1b",
            "footnote:ops/a.md#L0;9f3c2a1b",
            "footnote:ops/a.md#L01;9f3c2a1b",
            "footnote:ops/a.md#L+1;9f3c2a1b",
            "footnote:ops/a.md#L2-L1;9f3c2a1b",
            "footnote:ops/a.md#L1-2;9f3c2a1b",
            "footnote:ops/a.md#L4294967296;9f3c2a1b",
            "footnote:ops/a.md#L1;9F3C2A1B",
            "footnote:ops/a.md#L1;9f3c2a1",
            "footnote:ops/a.md#L1;9f3c2a1b0",
            "footnote:ops/a#b.md#L1;9f3c2a1b",
            "footnote:ops/a%.md#L1;9f3c2a1b",
            "footnote:ops/a%g0.md#L1;9f3c2a1b",
            "footnote:ops/a%é.md#L1;9f3c2a1b",
            "footnote:ops/%ff.md#L1;9f3c2a1b",
            "footnote:ops/a\nb.md#L1;9f3c2a1b",
            "footnote:../a.md#L1;9f3c2a1b",
            "footnote:/a.md#L1;9f3c2a1b",
            "[a.md:1](footnote:ops/a.md#L1;9f3c2a1b",
            "a.md:1](footnote:ops/a.md#L1;9f3c2a1b)",
            "[a.md:1](https://example.com)",
        ] {
            assert_eq!(text.parse::<Footnote>(), Err(ParseFootnoteError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_footnote_reads_back(source in any::<String>(), start in 1u32.., more in 0u32..1000, prefix in any::<[u8; 4]>()) {
            prop_assume!(!source.is_empty());
            let lines = LineRange { start, end: start.saturating_add(more) };
            let footnote = Footnote { lines, sha256_prefix: prefix, ..footnote(&source, 1, 1) };
            prop_assert_eq!(footnote.to_string().parse(), Ok(footnote.clone()));
            prop_assert_eq!(footnote.address().parse(), Ok(footnote.clone()));
        }

        #[test]
        fn an_address_cannot_end_its_link(source in any::<String>()) {
            let address = footnote(&source, 1, 1).address();
            prop_assert!(address.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert!(!address.contains(['(', ')', '[', ']', '<', '>', '\\', '`', '"', '*', '|']));
        }

        #[test]
        fn nothing_panics(text in any::<String>()) {
            prop_assert_eq!(text.parse::<Footnote>().is_ok(), false);
            drop(format!("footnote:ops/{text}").parse::<Footnote>());
        }
    }
}
