//! What fits into an answer's `max_bytes`, and what is said of the rest.

use super::{Found, Surroundings, count};
use crate::query::{Notice, Truncation};

/// How many of the candidates fit into `max_bytes` of text, the first in any case.
pub(super) fn fitting(found: &[Found], max_bytes: usize) -> usize {
    let mut bytes = 0;
    let fits = |found: &&Found| {
        bytes += found.record.text.len();
        bytes <= max_bytes
    };
    found.iter().take_while(fits).count().max(found.len().min(1))
}

pub(super) fn bytes(found: &[Found]) -> usize {
    found.iter().map(|found| found.record.text.len()).sum()
}

/// What is left out of an answer that returns the first `returned` of `found`, and what stands beside them.
pub(super) fn truncation(found: &[Found], returned: usize, beside: &Surroundings) -> Option<Truncation> {
    if returned == found.len() && beside.bytes_left_out == 0 {
        return None;
    }
    let given: usize = beside.of_hits.iter().flatten().map(|beside| beside.record.text.len()).sum();
    Some(Truncation {
        total_hits: count(found.len()),
        returned_hits: count(returned),
        total_bytes: count(bytes(found) + given + beside.bytes_left_out),
        returned_bytes: count(bytes(&found[..returned]) + given),
    })
}

/// How many hits have a section that does not fit.
pub(super) fn sections_left_out(beside: &Surroundings) -> Option<Notice> {
    let hits = count(beside.sections_left_out);
    (hits > 0).then_some(Notice::SectionsLeftOut { hits })
}
