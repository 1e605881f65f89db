//! The words of notices: what was not done, why, and what to do about it.

use engine::citation::Verdict;
use engine::query::Notice;
use proto::{Audience, v1};

/// What one who has no shell here does about anything.
const TELL: &str = "tell whoever runs this service";

/// Words for one who sits at this host, or for one who does not and is told no shell command.
pub fn words(notice: &Notice, audience: Audience) -> v1::Notice {
    let (code, message, local) = match notice {
        Notice::NoVectors => (
            "no_vectors",
            "ranked by words alone: the collection has no vectors".to_owned(),
            "install a model with `footnote model install`, then run `footnote ingest` again",
        ),
        Notice::ModelNotInstalled { model } => (
            "model_not_installed",
            format!("ranked by words alone: the collection's model `{model}` is not installed"),
            "install it with `footnote model install`",
        ),
        Notice::ModelFailed { model } => (
            "model_failed",
            format!("ranked by words alone: the collection's model `{model}` could not be loaded"),
            "see `footnote logs`, check it with `footnote model verify`",
        ),
        Notice::RerankSkipped { model } => (
            "rerank_skipped",
            format!("nothing was reranked: `{model}` does not know the script of the question"),
            "leave `rerank` out, or install a reranker that knows the language",
        ),
        Notice::RerankCutShort { depth, wanted } => (
            "rerank_cut_short",
            format!("{depth} of {wanted} candidates were reranked, for the time was nearly over"),
            "give it more time, or leave `rerank` out",
        ),
        Notice::RerankerFailed => (
            "reranker_failed",
            "nothing can be reranked: the reranker could not be loaded".to_owned(),
            "see `footnote logs`, check it with `footnote model verify`",
        ),
        Notice::LiteralsCutShort { read } => (
            "literals_cut_short",
            format!(
                "what is named literally has words that too many passages have: the best {read} were looked through"
            ),
            "quote more of it, or narrow the question with a filter",
        ),
        Notice::NotVerified { counts } => (
            "not_verified",
            format!("some hits do not stand where they were indexed: {}", list(counts)),
            "refresh the collection with `footnote ingest`",
        ),
        Notice::CollectionSkipped { name, why } => (
            "collection_skipped",
            format!("`{name}` was left out: {why}"),
            "ingest it again with `footnote ingest`, or remove it with `footnote remove`",
        ),
        Notice::NothingLeft => (
            "filter_left_nothing",
            "no document meets all conditions of the filter".to_owned(),
            "leave a condition out; tags are compared letter by letter, paths are relative to the collection's root",
        ),
        Notice::SectionsLeftOut { hits } => (
            "section_left_out",
            format!("the whole section of {hits} hits does not fit into `max_bytes`"),
            "ask for fewer hits, for more bytes, or for neighbours only",
        ),
        Notice::EmbeddingPending { chunks } => (
            "embedding_pending",
            format!("vectors are still to be made for {chunks} passages"),
            "let the running `footnote ingest` end, or run it again",
        ),
    };
    let action = match (audience, notice) {
        (Audience::Local, _)
        | (_, Notice::NothingLeft | Notice::SectionsLeftOut { .. } | Notice::LiteralsCutShort { .. }) => {
            local
        }
        (Audience::Remote, _) => TELL,
    };
    v1::Notice { code: code.to_owned(), message, action: action.to_owned() }
}

fn list(counts: &[(Verdict, u32)]) -> String {
    let words: Vec<_> = counts.iter().map(|(verdict, count)| format!("{count} {}", word(*verdict))).collect();
    words.join(", ")
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Verified => "verified",
        Verdict::Relocated => "relocated",
        Verdict::Drifted => "drifted",
        Verdict::Missing => "missing",
        Verdict::Unresolvable => "unresolvable",
        Verdict::NotChecked => "not checked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_notice() -> Vec<Notice> {
        vec![
            Notice::NoVectors,
            Notice::ModelNotInstalled { model: "bge".into() },
            Notice::ModelFailed { model: "bge".into() },
            Notice::NotVerified { counts: vec![(Verdict::Drifted, 2), (Verdict::Missing, 1)] },
            Notice::RerankSkipped { model: "ms".into() },
            Notice::RerankCutShort { depth: 3, wanted: 20 },
            Notice::RerankerFailed,
            Notice::CollectionSkipped { name: "old".into(), why: "it is damaged" },
            Notice::EmbeddingPending { chunks: 9 },
            Notice::NothingLeft,
            Notice::SectionsLeftOut { hits: 2 },
            Notice::LiteralsCutShort { read: 20_000 },
        ]
    }

    #[test]
    fn notices_are_sentences_without_an_end_and_codes_are_words() {
        for notice in every_notice() {
            let words = words(&notice, Audience::Local);
            assert!(words.code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{words:?}");
            for text in [&words.message, &words.action] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{words:?}");
            }
        }
        let drifted = &every_notice()[3];
        assert!(words(drifted, Audience::Local).message.ends_with("2 drifted, 1 missing"));
    }

    #[test]
    fn one_who_has_no_shell_is_told_no_shell_command() {
        for notice in every_notice() {
            let words = words(&notice, Audience::Remote);
            assert!(!words.action.contains('`') && !words.message.contains("footnote "), "{words:?}");
        }
    }
}
