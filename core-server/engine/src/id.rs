//! Ids that are hashes of what they name, so that the same corpus gives the same ids everywhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256 as Hasher};

/// SHA-256 of some bytes; 64 lower-case hex digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Hasher::digest(bytes).into())
    }

    /// Wraps a digest that was computed elsewhere.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight hex digits, as a footnote carries them.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..4])
    }
}

/// A document's id: a hash of its source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DocumentId([u8; 16]);

impl DocumentId {
    /// Wraps an id that was stored elsewhere.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The id of the document at `source`, the path relative to the collection's root, with `/`.
    pub fn of_source(source: &str) -> Self {
        Self(first_half(Hasher::new().chain_update(b"document\0").chain_update(source)))
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// A chunk's id: a hash of its document, its text and its occurrence among equal texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChunkId([u8; 16]);

impl ChunkId {
    /// Wraps an id that was stored elsewhere.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The id of the `occurrence`-th chunk (from 0, in document order) of `document` whose bytes hash to `text`.
    pub fn of_text(document: DocumentId, text: Sha256, occurrence: u32) -> Self {
        Self(first_half(
            Hasher::new()
                .chain_update(b"chunk\0")
                .chain_update(document.0)
                .chain_update(text.0)
                .chain_update(occurrence.to_be_bytes()),
        ))
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The first eight bytes as a number: orders equal scores in the same way in every index.
    pub fn tie_breaker(&self) -> u64 {
        self.0.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }
}

fn first_half(hasher: Hasher) -> [u8; 16] {
    let digest: [u8; 32] = hasher.finalize().into();
    std::array::from_fn(|i| digest[i])
}

/// A text that is not the hex form of an id or hash.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not {digits} lower-case hex digits")]
pub struct ParseIdError {
    digits: usize,
}

macro_rules! hex_text {
    ($name:ident, $bytes:literal) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let refused = ParseIdError { digits: 2 * $bytes };
                if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    return Err(refused);
                }
                let mut bytes = [0; $bytes];
                hex::decode_to_slice(text, &mut bytes).map_err(|_| refused)?;
                Ok(Self(bytes))
            }
        }

        impl TryFrom<String> for $name {
            type Error = ParseIdError;

            fn try_from(text: String) -> Result<Self, ParseIdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    };
}

hex_text!(Sha256, 32);
hex_text!(DocumentId, 16);
hex_text!(ChunkId, 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_in_one_document_have_ids_of_their_own() {
        let document = DocumentId::of_source("a.md");
        let text = Sha256::of(b"same");
        assert_ne!(ChunkId::of_text(document, text, 0), ChunkId::of_text(document, text, 1));
    }

    #[test]
    fn ids_read_back_from_their_text() {
        let id = DocumentId::of_source("a.md");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().len(), 32);
    }

    #[test]
    fn upper_case_and_other_lengths_are_refused() {
        for text in ["", "ab", "AB", &"A".repeat(32), &"g".repeat(32), &"a".repeat(33)] {
            assert!(text.parse::<ChunkId>().is_err(), "{text}");
        }
    }
}
