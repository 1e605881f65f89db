//! Whether a caller already has an answer.
//!
//! The tag is a hash of the answer as it was made just now, after its text was verified, so an edited source
//! changes it. It is weak: two answers with one tag may differ in `stats` and in their encoding.

use std::io;

use http::header::IF_NONE_MATCH;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What may differ between two equal answers.
const INCIDENTAL: &str = "stats";

/// Half of a SHA-256: nobody chooses both answers.
const BYTES: usize = 16;

/// An answer's tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ETag(String);

impl ETag {
    /// The tag of an answer, which is an object.
    pub(crate) fn of(answer: &Value) -> Self {
        let mut hash = Hash(Sha256::new());
        let fields = answer.as_object().into_iter().flatten().filter(|(name, _)| *name != INCIDENTAL);
        let written = fields.into_iter().try_for_each(|field| serde_json::to_writer(&mut hash, &field));
        debug_assert!(written.is_ok(), "a hash takes anything, and a value can be written");
        Self(hex::encode(&hash.0.finalize()[..BYTES]))
    }

    /// The tag as its header has it.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("W/\"{}\"", self.0)).ok()
    }

    /// Whether the caller has an answer with this tag, or has any and asks whether there is one.
    pub(crate) fn is_known(&self, headers: &HeaderMap) -> bool {
        let mut lines = headers.get_all(IF_NONE_MATCH).iter();
        lines.any(|line| {
            line.as_bytes().trim_ascii() == b"*" || opaque_tags(line).any(|tag| tag == self.0.as_bytes())
        })
    }
}

/// The opaque part of each tag of a list: what stands between its quotes. What is malformed ends the list.
fn opaque_tags(line: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    let mut rest = line.as_bytes();
    std::iter::from_fn(move || {
        let begin = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
        let tag = &rest[begin..];
        let opaque = tag.strip_prefix(b"W/").unwrap_or(tag).strip_prefix(b"\"")?;
        let end = opaque.iter().position(|byte| *byte == b'"')?;
        rest = &opaque[end + 1..];
        Some(&opaque[..end])
    })
}

struct Hash(Sha256);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_stats_may_differ() {
        let answer = json!({"a": 1, "chunk": {"text": "x"}, "stats": {"total_ms": 1.5}});
        let tag = ETag::of(&answer);
        assert_eq!(ETag::of(&json!({"a": 1, "chunk": {"text": "x"}, "stats": {"total_ms": 2.5}})), tag);
        for other in [
            json!({"a": 2, "chunk": {"text": "x"}, "stats": {"total_ms": 1.5}}),
            json!({"a": 1, "chunk": {"text": "y"}, "stats": {"total_ms": 1.5}}),
            json!({"a": 1, "chunk": {"stats": "x"}}),
            json!({"a": 1}),
        ] {
            assert_ne!(ETag::of(&other), tag, "{other}");
        }
    }

    #[test]
    fn a_known_tag_is_found_in_every_list() {
        let tag = ETag::of(&json!({}));
        let own = format!("\"{}\"", tag.0);
        for (line, is_known) in [
            ("*".to_owned(), true),
            (own.clone(), true),
            (format!("W/{own}"), true),
            (format!("\"a,b\", W/\"c\" , {own}"), true),
            (format!("\"a\",,\t{own}"), true),
            (format!("\"a {own}\""), false),
            (format!("\"{own}, \"x\""), false),
            (tag.0.clone(), false),
            (format!("w/{own}"), false),
            ("\"".to_owned(), false),
            (String::new(), false),
            ("\"*\"".to_owned(), false),
        ] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, line.parse().unwrap())]);
            assert_eq!(tag.is_known(&headers), is_known, "{line}");
        }
        let lines = ["\"x\"", &own].map(|line| (IF_NONE_MATCH, line.parse().unwrap()));
        assert!(tag.is_known(&HeaderMap::from_iter(lines)));
        assert!(!tag.is_known(&HeaderMap::new()));
    }
}
