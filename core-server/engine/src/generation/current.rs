//! `CURRENT`: the one line that says which generation a collection's readers begin with.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::str::FromStr;

use super::GenerationId;
use crate::error::{Error, Result};
use crate::id::Sha256;

/// The file's name within a collection's folder.
pub const FILE_NAME: &str = "CURRENT";

/// Eight digits, a space, 64 hex digits and a line feed; what is longer is read to here and no further.
const MAX_BYTES: u64 = 128;

/// The generation that is current, and the hash of its manifest: with the seal in there, of everything it holds.
/// `Display` gives the file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// The generation.
    pub generation: GenerationId,
    /// The hash of its `manifest.json`.
    pub manifest_sha256: Sha256,
}

impl Current {
    /// Reads the `CURRENT` of the collection in `folder`; `None` where it has none, and so no generation yet.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE_NAME);
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => text.clear(),
            Err(source) => return Err(Error::ReadFile { path, source }),
        }
        match text.parse() {
            Ok(current) => Ok(Some(current)),
            Err(error) => Err(Error::damaged(path, error)),
        }
    }
}

impl fmt::Display for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.generation.folder(), self.manifest_sha256)
    }
}

/// A text that is not the content of a `CURRENT`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("it is not a generation and a hash in one line")]
pub struct ParseCurrentError;

impl FromStr for Current {
    type Err = ParseCurrentError;

    fn from_str(text: &str) -> Result<Self, ParseCurrentError> {
        let line = text.strip_suffix('\n').ok_or(ParseCurrentError)?;
        let (generation, hash) = line.split_once(' ').ok_or(ParseCurrentError)?;
        Ok(Self {
            generation: generation.parse().map_err(|_| ParseCurrentError)?,
            manifest_sha256: hash.parse().map_err(|_| ParseCurrentError)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_that_reads_back() {
        let current = Current { generation: GenerationId::FIRST.next(), manifest_sha256: Sha256::of(b"{}") };
        let text = current.to_string();
        assert_eq!(text, format!("00000002 {}\n", Sha256::of(b"{}")));
        assert_eq!(text.parse(), Ok(current));
    }

    #[test]
    fn absent_is_none_and_anything_else_is_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(Current::read(folder.path()), Ok(None)));
        for content in [&b""[..], b"\n", b"00000001\n", b"1 ab\n", b"\xff\xfe", &[b'0'; 4096]] {
            std::fs::write(folder.path().join(FILE_NAME), content).expect("written");
            assert!(matches!(Current::read(folder.path()), Err(Error::Damaged { .. })), "{content:?}");
        }
    }
}
