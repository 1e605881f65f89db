//! Forms that text can be held to: names, ids and footnotes.
//!
//! Only whether text has a form is said here, so that every surface refuses the same text; who serves the request
//! reads it.

/// A form that text can be held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A collection's name: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    Collection,
    /// An id: 32 lower-case hex digits.
    Id,
    /// A footnote: the Markdown link, or its `footnote:` address alone, white space around it left out.
    Footnote,
}

impl Form {
    /// What has this form, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Collection => {
                "a collection's name: 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
            }
            Self::Id => "an id: 32 lower-case hex digits",
            Self::Footnote => {
                "a footnote as an answer gave it, `[…](footnote:COLLECTION/SOURCE#L1-L2;9f3c2a1b)`, \
                 or its `footnote:` address alone"
            }
        }
    }

    /// Whether `text` has this form.
    pub fn matches(self, text: &str) -> bool {
        match self {
            Self::Collection => is_collection(text),
            Self::Id => is_lower_hex(text, 32),
            Self::Footnote => is_footnote(text.trim()).unwrap_or(false),
        }
    }
}

fn is_collection(text: &str) -> bool {
    let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let goes_on_well =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    begins_well && goes_on_well && text.len() <= 64
}

/// `None` where a separator is missing. The label of a link may be anything: it is not read back.
fn is_footnote(text: &str) -> Option<bool> {
    let address = match text.strip_prefix('[') {
        Some(link) => link.strip_suffix(')')?.rsplit_once("](")?.1,
        None => text,
    };
    let (collection, rest) = address.strip_prefix("footnote:")?.split_once('/')?;
    let (source, fragment) = rest.split_once('#')?;
    let (lines, hash) = fragment.split_once(';')?;
    Some(is_collection(collection) && is_source(source) && are_lines(lines) && is_lower_hex(hash, 8))
}

/// Percent-encoded UTF-8 without control characters, not empty.
fn is_source(text: &str) -> bool {
    let Some(decoded) = percent_decoded(text.as_bytes()) else { return false };
    !text.is_empty() && !text.chars().any(char::is_control) && str::from_utf8(&decoded).is_ok()
}

/// Percent-decoded bytes; `None` where a `%` stands before anything but two hex digits.
pub fn percent_decoded(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(bytes.len());
    while let [first, rest @ ..] = bytes {
        bytes = rest;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let (digits, rest) = bytes.split_at_checked(2)?;
        let mut byte = [0];
        hex::decode_to_slice(digits, &mut byte).ok()?;
        decoded.extend(byte);
        bytes = rest;
    }
    Some(decoded)
}

/// `L10-L14`, or `L10` for a single line.
fn are_lines(text: &str) -> bool {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    line(first).zip(line(last)).is_some_and(|(first, last)| first <= last)
}

/// A line's number, from 1 and without leading zeros.
fn line(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('L')?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

fn is_lower_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn collections_cannot_be_paths() {
        for text in ["a", "9", "docs-2.0_x", &"a".repeat(64)] {
            assert!(Form::Collection.matches(text), "{text}");
        }
        for text in ["", ".", "..", ".hidden", "a/b", "a b", "é", "a\n", &"a".repeat(65)] {
            assert!(!Form::Collection.matches(text), "{text}");
        }
    }

    #[test]
    fn ids_are_32_lower_case_hex_digits() {
        assert!(Form::Id.matches("0123456789abcdef0123456789abcdef"));
        for text in ["0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcde", ""] {
            assert!(!Form::Id.matches(text), "{text}");
        }
    }

    #[test]
    fn footnotes_are_links_or_addresses() {
        for text in [
            "[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b)",
            "footnote:ops/runbook.md#L10-L14;9f3c2a1b",
            "footnote:ops/my%20notes/%c3%a9%281%29.md#L3;9f3c2a1b",
            "  footnote:ops/my notes/é(1).md#L3-L3;9f3c2a1b\n",
            "[any ](label](footnote:ops/my notes/é(1).md#L3;9f3c2a1b)",
        ] {
            assert!(Form::Footnote.matches(text), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_footnote() {
        for text in [
            "",
            "runbook.md",
            "ops/runbook.md#L10-L14;9f3c2a1b",
            "footnote:",
            "footnote:ops",
            "footnote:ops/#L1;9f3c2a1b",
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
            "footnote:ops/a#b.md#L1;9f3c2a1b",
            "footnote:ops/a%.md#L1;9f3c2a1b",
            "footnote:ops/a%g0.md#L1;9f3c2a1b",
            "footnote:ops/%ff.md#L1;9f3c2a1b",
            "footnote:ops/a\nb.md#L1;9f3c2a1b",
            "footnote:../a.md#L1;9f3c2a1b",
            "footnote:/a.md#L1;9f3c2a1b",
            "[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b",
            "[a.md:1](https://example.com)",
        ] {
            assert!(!Form::Footnote.matches(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>()) {
            for form in [Form::Collection, Form::Id, Form::Footnote] {
                form.matches(&text);
                form.matches(&format!("footnote:ops/{text}"));
            }
        }
    }
}
