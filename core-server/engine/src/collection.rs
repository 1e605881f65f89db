//! A collection's name, and where it lies beneath the index directory.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A collection's name: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, which is also its folder's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CollectionName(String);

impl CollectionName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no collection's name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a collection's name is 1 to 64 of A-Z a-z 0-9 . _ - and begins with a letter or digit")]
pub struct ParseCollectionNameError;

impl FromStr for CollectionName {
    type Err = ParseCollectionNameError;

    fn from_str(text: &str) -> Result<Self, ParseCollectionNameError> {
        let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let goes_on_well =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if begins_well && goes_on_well && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseCollectionNameError)
        }
    }
}

impl TryFrom<String> for CollectionName {
    type Error = ParseCollectionNameError;

    fn try_from(text: String) -> Result<Self, ParseCollectionNameError> {
        text.parse()
    }
}

impl From<CollectionName> for String {
    fn from(name: CollectionName) -> Self {
        name.0
    }
}

impl fmt::Display for CollectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_that_could_be_paths() {
        for text in ["", ".", "..", ".hidden", "a/b", "a b", "é", &"a".repeat(65)] {
            assert_eq!(text.parse::<CollectionName>(), Err(ParseCollectionNameError), "{text}");
        }
        for text in ["a", "9", "docs-2.0_x", &"a".repeat(64)] {
            assert!(text.parse::<CollectionName>().is_ok(), "{text}");
        }
    }
}
