//! A generation: one immutable state of a collection, sealed by its manifest.
//!
//! `docs/GENERATION.md` describes every byte of it. Deliberately left out: how one is written (`ingest`).

pub mod files;
pub mod manifest;

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A generation's number, counted from 1 within its collection; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GenerationId(NonZeroU32);

impl GenerationId {
    /// The first generation of a collection.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The number.
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The one after this.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Its folder's name beneath `generations/`: eight decimal digits.
    pub fn folder(self) -> String {
        format!("{:08}", self.0)
    }
}

impl fmt::Display for GenerationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no generation folder's name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a generation's folder name")]
pub struct ParseGenerationIdError;

impl FromStr for GenerationId {
    type Err = ParseGenerationIdError;

    fn from_str(text: &str) -> Result<Self, ParseGenerationIdError> {
        let number = text.parse().map_err(|_| ParseGenerationIdError)?;
        let id = Self(number);
        if id.folder() == text { Ok(id) } else { Err(ParseGenerationIdError) }
    }
}
