//! The closed vocabularies: the engine's words as the contract's.

use engine::citation::{Reason, SourceClass, Verdict};
use engine::query::{Mode, ModelState, ScoreScale};
use proto::v1;

pub(super) fn modes(modes: Vec<Mode>) -> Vec<i32> {
    modes.into_iter().map(|mode| mode_word(mode).into()).collect()
}

pub(super) fn mode_word(mode: Mode) -> v1::Mode {
    match mode {
        Mode::Hybrid => v1::Mode::Hybrid,
        Mode::Bm25 => v1::Mode::Bm25,
        Mode::Dense => v1::Mode::Dense,
    }
}

pub(super) fn score_scale(scale: ScoreScale) -> v1::ScoreScale {
    match scale {
        ScoreScale::Bm25 => v1::ScoreScale::Bm25,
        ScoreScale::Cosine => v1::ScoreScale::Cosine,
        ScoreScale::Fused => v1::ScoreScale::Fused,
        ScoreScale::Rerank => v1::ScoreScale::Rerank,
    }
}

pub(super) fn source_class(class: SourceClass) -> v1::SourceClass {
    match class {
        SourceClass::Text => v1::SourceClass::Text,
        SourceClass::Extracted => v1::SourceClass::Extracted,
    }
}

pub(super) fn model_state(state: ModelState) -> v1::ModelState {
    match state {
        ModelState::None => v1::ModelState::None,
        ModelState::NotInstalled => v1::ModelState::NotInstalled,
        ModelState::Loading => v1::ModelState::Loading,
        ModelState::Loaded => v1::ModelState::Loaded,
        ModelState::Failed => v1::ModelState::Failed,
    }
}

pub(super) fn verdict(verdict: Verdict) -> v1::Verdict {
    match verdict {
        Verdict::Verified => v1::Verdict::Verified,
        Verdict::Relocated => v1::Verdict::Relocated,
        Verdict::Drifted => v1::Verdict::Drifted,
        Verdict::Missing => v1::Verdict::Missing,
        Verdict::Unresolvable => v1::Verdict::Unresolvable,
        Verdict::NotChecked => v1::Verdict::NotChecked,
    }
}

pub(super) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::BytesEqual => "bytes_equal",
        Reason::Moved => "moved",
        Reason::Renamed => "renamed",
        Reason::Edited => "edited",
        Reason::Truncated => "truncated",
        Reason::SourceGone => "source_gone",
        Reason::RootUnavailable => "root_unavailable",
        Reason::PermissionDenied => "permission_denied",
        Reason::OutsideRoot => "outside_root",
        Reason::NotAFile => "not_a_file",
        Reason::ReadFailed => "read_failed",
        Reason::ExtractorFailed => "extractor_failed",
        Reason::NotRequested => "not_requested",
        Reason::OverBudget => "over_budget",
    }
}

#[cfg(test)]
mod tests {
    use proto::json::Word;

    use super::*;

    const REASONS: [Reason; 14] = [
        Reason::BytesEqual,
        Reason::Moved,
        Reason::Renamed,
        Reason::Edited,
        Reason::Truncated,
        Reason::SourceGone,
        Reason::RootUnavailable,
        Reason::PermissionDenied,
        Reason::OutsideRoot,
        Reason::NotAFile,
        Reason::ReadFailed,
        Reason::ExtractorFailed,
        Reason::NotRequested,
        Reason::OverBudget,
    ];

    fn serde_word(value: impl serde::Serialize) -> String {
        serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn every_reason_and_its_verdict_have_the_engines_own_words() {
        for known in REASONS {
            assert_eq!(reason(known), serde_word(known));
            assert_eq!(verdict(known.verdict()).word(), Some(serde_word(known.verdict()).as_str()));
        }
    }
}
