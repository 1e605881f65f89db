//! Reads a file and says whether it is text that belongs into an index.
//!
//! One handle is used from the check to the last byte, links are not followed, and nothing but a regular file is ever
//! read. Deliberately left out: which files (`walk`), and what is made of them (`chunk`).

mod look;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use engine::citation::SourceClass;
use engine::extract;
use engine::generation::files::Fingerprint;
use engine::id::Sha256;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::walk::fingerprint;

/// How often a file that changes while it is read is read again.
const ATTEMPTS: u32 = 5;

/// A file that belongs into an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The text that is cut into chunks: the file's own bytes, or what an extractor made of them.
    pub text: String,
    /// The hash of all of the file's bytes.
    pub sha256: Sha256,
    /// How many bytes the file has.
    pub bytes: u64,
    /// What offsets into `text` are offsets into.
    pub source_class: SourceClass,
    /// The extractor's name and version, where `text` is its output.
    pub extractor: Option<&'static str>,
    /// What the handle's metadata showed before and after reading.
    pub fingerprint: Fingerprint,
}

/// A file that does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not meant for an index: counted, no fault.
    Ignored(IgnoreReason),
    /// It should have worked: named, with what exactly was wrong.
    Skipped(SkipReason, String),
    /// It is not there any more.
    Gone,
}

/// Why something is not meant for the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IgnoreReason {
    /// Its bytes are no text.
    Binary,
    /// It has no text.
    Empty,
    /// `--exclude` leaves it out.
    Excluded,
    /// A program wrote it for itself.
    Generated,
    /// Its name begins with a dot.
    Hidden,
    /// A link that leads nowhere.
    LinkBroken,
    /// A link to something that is found under its own name.
    LinkInside,
    /// A link out of the root.
    LinkOutside,
    /// A pipe, a socket, a device.
    NotAFile,
    /// An ignore file leaves it out.
    Rule,
    /// It holds a private key.
    Secret,
    /// Its name says nothing that this program knows.
    UnknownKind,
}

/// Why something that should have been indexed is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Neither UTF-8 nor UTF-16 with a byte order mark.
    BadEncoding,
    /// A name that is not UTF-8.
    BadName,
    /// It was written to each time it was read.
    Changing,
    /// Larger than the limit.
    TooLarge,
    /// The system does not let us read it.
    Unreadable,
}

impl IgnoreReason {
    /// The reason in one word, the same wherever it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Empty => "empty",
            Self::Excluded => "excluded",
            Self::Generated => "generated",
            Self::Hidden => "hidden",
            Self::LinkBroken => "link_broken",
            Self::LinkInside => "link_inside",
            Self::LinkOutside => "link_outside",
            Self::NotAFile => "not_a_file",
            Self::Rule => "rule",
            Self::Secret => "secret",
            Self::UnknownKind => "unknown_kind",
        }
    }

    /// The reason as a sentence for a person, which says what to do where something can be done.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Binary => "not text",
            Self::Empty => "nothing in it",
            Self::Excluded => "left out by --exclude",
            Self::Generated => "written by a program for itself; --include adds it",
            Self::Hidden => "its name begins with a dot",
            Self::LinkBroken => "a link that leads nowhere",
            Self::LinkInside => "a link; what it leads to is found under its own name",
            Self::LinkOutside => "a link out of the collection's root",
            Self::NotAFile => "a pipe, a socket or a device",
            Self::Rule => "left out by .gitignore or .footnoteignore",
            Self::Secret => "it holds a private key",
            Self::UnknownKind => "of no kind that is indexed; --include adds it as plain text",
        }
    }
}

impl SkipReason {
    /// The reason in one word, the same wherever it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadEncoding => "bad_encoding",
            Self::BadName => "bad_name",
            Self::Changing => "changing",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
        }
    }

    /// The reason as a sentence for a person, which says what to do where something can be done.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::BadEncoding => "not UTF-8, and no byte order mark that says UTF-16; convert it",
            Self::BadName => "its name is not UTF-8; rename it",
            Self::Changing => "written to while it was read; ingest again later",
            Self::TooLarge => "larger than the limit; --max-file-bytes raises it",
            Self::Unreadable => "it could not be read",
        }
    }
}

impl fmt::Display for IgnoreReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads the file at `path`, which may have `max_bytes` at most.
pub fn admit(path: &Path, max_bytes: u64) -> Result<Admitted, Refused> {
    let mut attempts = 0;
    loop {
        match read_once(path, max_bytes) {
            Err(Refused::Skipped(SkipReason::Changing, _)) if attempts < ATTEMPTS => attempts += 1,
            done => return done,
        }
    }
}

fn read_once(path: &Path, max_bytes: u64) -> Result<Admitted, Refused> {
    let mut file = open(path)?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(Refused::Ignored(IgnoreReason::NotAFile));
    }
    // Offsets have 32 bits.
    let max_bytes = max_bytes.min(u64::from(u32::MAX));
    if metadata.len() > max_bytes {
        return Err(Refused::Skipped(SkipReason::TooLarge, format!("{} bytes", metadata.len())));
    }
    let before = fingerprint(&metadata);
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    // One byte more than there should be tells a file that grows.
    file.by_ref().take(metadata.len() + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    let after = fingerprint(&file.metadata().map_err(|error| unreadable(&error))?);
    let changed = Fingerprint { seen_ns: 0, ..before } != Fingerprint { seen_ns: 0, ..after };
    if changed || bytes.len() as u64 != metadata.len() {
        return Err(Refused::Skipped(SkipReason::Changing, String::new()));
    }
    let sha256 = Sha256::of(&bytes);
    let length = bytes.len() as u64;
    let (text, source_class, extractor) = text_of(bytes)?;
    Ok(Admitted { text, sha256, bytes: length, source_class, extractor, fingerprint: before })
}

/// What `bytes`, the whole of a file, say as text.
fn text_of(bytes: Vec<u8>) -> Result<(String, SourceClass, Option<&'static str>), Refused> {
    let (text, source_class, extractor) = match extract::for_bytes(&bytes) {
        Some(extractor) => {
            let text = (extractor.extract)(&bytes).ok_or_else(|| {
                Refused::Skipped(SkipReason::BadEncoding, format!("broken for {}", extractor.identity))
            })?;
            (text, SourceClass::Extracted, Some(extractor.identity))
        }
        None if look::is_binary(&bytes) => return Err(Refused::Ignored(IgnoreReason::Binary)),
        None => (utf8(bytes)?, SourceClass::Text, None),
    };
    if look::is_binary(text.as_bytes()) {
        return Err(Refused::Ignored(IgnoreReason::Binary));
    }
    if look::is_secret(&text) {
        return Err(Refused::Ignored(IgnoreReason::Secret));
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(Refused::Ignored(IgnoreReason::Empty));
    }
    Ok((text, source_class, extractor))
}

fn utf8(bytes: Vec<u8>) -> Result<String, Refused> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Refused::Skipped(SkipReason::BadEncoding, format!("byte {at} is not UTF-8"))
    })
}

/// Opens without following a link and without waiting for the other end of a pipe.
fn open(path: &Path) -> Result<File, Refused> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            Refused::Gone
        } else if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            Refused::Ignored(IgnoreReason::LinkInside)
        } else if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
            Refused::Ignored(IgnoreReason::NotAFile)
        } else {
            unreadable(&error)
        }
    })
}

fn unreadable(error: &io::Error) -> Refused {
    Refused::Skipped(SkipReason::Unreadable, error.to_string())
}

#[cfg(test)]
mod tests;
