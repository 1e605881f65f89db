//! Why a verdict is so, in words for people and models: the same on every surface that does not print JSON.
//!
//! Deliberately left out: how a surface shows a passage.

use crate::v1::Verdict;

/// The reason in words, where the verdict does not say all.
pub fn why(verdict: Verdict, reason: &str) -> Option<&'static str> {
    Some(match (verdict, reason) {
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
