//! A passage, for the surfaces that show one instead of printing JSON: what a search's hit and a fetched chunk have
//! in common, and why its verdict is so, in the same words everywhere.
//!
//! Deliberately left out: how a surface shows it.

use std::borrow::Cow;

use crate::clean;
use crate::v1::{Chunk, Citation, Hit, Neighbor, Verdict};

/// How much of what stands there now is shown of a passage that does not, in characters.
const GLIMPSE: usize = 100;

/// So many places of copies are named; the rest are counted.
const PLACES: usize = 3;

/// A passage and its standing.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    /// The pasteable form of its citation.
    pub footnote: &'a str,
    /// The headings above it, outermost first.
    pub heading_path: &'a [String],
    /// Its words; absent where they do not stand in the source any more.
    pub text: Option<&'a str>,
    /// What stands at its place now, where that is something else.
    pub current_text: Option<&'a str>,
    /// Where it stands.
    pub citation: Cow<'a, Citation>,
    /// Whether it still stands there.
    pub verdict: Verdict,
    /// Why the verdict is so, one word for machines.
    pub reason: &'a str,
}

impl<'a> From<&'a Hit> for Passage<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            footnote: &hit.footnote,
            heading_path: &hit.heading_path,
            text: hit.text.as_deref(),
            current_text: hit.current_text.as_deref(),
            citation: citation(hit.citation.as_ref()),
            verdict: hit.verdict(),
            reason: &hit.reason,
        }
    }
}

impl<'a> From<&'a Chunk> for Passage<'a> {
    fn from(chunk: &'a Chunk) -> Self {
        Self {
            footnote: &chunk.footnote,
            heading_path: &chunk.heading_path,
            text: chunk.text.as_deref(),
            current_text: chunk.current_text.as_deref(),
            citation: citation(chunk.citation.as_ref()),
            verdict: chunk.verdict(),
            reason: &chunk.reason,
        }
    }
}

impl<'a> From<&'a Neighbor> for Passage<'a> {
    fn from(neighbor: &'a Neighbor) -> Self {
        Self {
            footnote: &neighbor.footnote,
            heading_path: &neighbor.heading_path,
            text: neighbor.text.as_deref(),
            current_text: neighbor.current_text.as_deref(),
            citation: citation(neighbor.citation.as_ref()),
            verdict: neighbor.verdict(),
            reason: &neighbor.reason,
        }
    }
}

/// On one line, where else a hit's text stood when it was indexed.
pub fn elsewhere(hit: &Hit) -> Option<String> {
    let named: Vec<String> = hit.also_at.iter().take(PLACES).map(|place| clean::line(place)).collect();
    let more = (hit.copies as usize).saturating_sub(named.len());
    match (named.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("the same text is at {}", named.join(", "))),
        (false, more) => Some(format!("the same text is at {} and {more} more", named.join(", "))),
    }
}

fn citation(citation: Option<&Citation>) -> Cow<'_, Citation> {
    citation.map_or_else(|| Cow::Owned(Citation::default()), Cow::Borrowed)
}

impl Passage<'_> {
    /// The reason in words, where the verdict does not say all.
    pub fn why(&self) -> Option<&'static str> {
        Some(match (self.verdict, self.reason) {
            (_, "moved") => "moved since it was indexed",
            (_, "renamed") => "its file was renamed since it was indexed",
            (_, "edited") => "other text stands there now",
            (_, "truncated") => "the file ends before that line now",
            (_, "source_gone") => "the file is gone",
            (_, "root_unavailable") => "the collection's folder is not there",
            (_, "permission_denied") => "the daemon may not read the file",
            (_, "outside_root") => "the file leads out of the collection's folder",
            (_, "not_a_file") => "it is no regular file any more",
            (_, "read_failed") => "the file could not be read",
            (_, "extractor_failed") => "the file could not be turned into text",
            (_, "over_budget") => "there was no time left to check it",
            (Verdict::Drifted | Verdict::Missing | Verdict::Unresolvable, _) => "the text is not there",
            _ => return None,
        })
    }

    /// On one line, what stands there instead of a passage that does not stand there any more.
    pub fn instead(&self) -> String {
        match self.current_text.map(|text| clean::beginning(text, GLIMPSE)).filter(|text| !text.is_empty()) {
            Some(now) => format!("there is now: {now}"),
            None => self.why().unwrap_or("the text is not there").to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_named_and_counted() {
        let said = |places: &[&str], copies| {
            let also_at = places.iter().map(ToString::to_string).collect();
            elsewhere(&Hit { also_at, copies, ..Hit::default() })
        };
        assert_eq!(said(&[], 0), None);
        let two = said(&["[a.md:3](footnote:a)", "b\u{1b}"], 2).unwrap();
        assert_eq!(two, "the same text is at [a.md:3](footnote:a), b␛");
        assert_eq!(said(&["a", "b", "c", "d"], 19).unwrap(), "the same text is at a, b, c and 16 more");
    }
}
