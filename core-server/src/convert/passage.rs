//! Passages and where they stand, as messages.

use engine::citation;
use engine::query::{Hit, LegPlace, Neighbor, Passage, Side};
use proto::v1;

use super::explanation;
use super::words::{reason, score_scale, source_class, verdict};

pub(super) fn hit(hit: Hit, explained: bool) -> v1::Hit {
    let explanation = explained.then(|| explanation::of_hit(&hit));
    let score = |leg: Option<LegPlace>| leg.map(|place| place.score);
    let rank = |leg: Option<LegPlace>| leg.map(|place| place.rank);
    let passage = chunk(hit.passage);
    v1::Hit {
        chunk_id: passage.chunk_id,
        document_id: passage.document_id,
        footnote: passage.footnote,
        score: hit.score,
        score_scale: score_scale(hit.score_scale).into(),
        bm25_score: score(hit.bm25),
        bm25_rank: rank(hit.bm25),
        dense_score: score(hit.dense),
        dense_rank: rank(hit.dense),
        rerank_score: hit.rerank_score,
        also_at: hit.also_at.listed.iter().map(ToString::to_string).collect(),
        copies: hit.also_at.count,
        title: passage.title,
        heading_path: passage.heading_path,
        text: passage.text,
        indexed_text: passage.indexed_text,
        current_text: passage.current_text,
        citation: passage.citation,
        verdict: passage.verdict,
        reason: passage.reason,
        tags: passage.tags,
        date: passage.date,
        updated: passage.updated,
        neighbors: hit.neighbors.into_iter().map(neighbor).collect(),
        highlights: hit
            .highlights
            .into_iter()
            .map(|range| v1::Highlight { start: range.start, end: range.end })
            .collect(),
        explanation,
    }
}

pub(super) fn neighbor(neighbor: Neighbor) -> v1::Neighbor {
    let passage = chunk(neighbor.passage);
    let side = match neighbor.side {
        Side::Before => v1::Side::Before,
        Side::After => v1::Side::After,
    };
    v1::Neighbor {
        side: side.into(),
        chunk_id: passage.chunk_id,
        footnote: passage.footnote,
        heading_path: passage.heading_path,
        text: passage.text,
        indexed_text: passage.indexed_text,
        current_text: passage.current_text,
        citation: passage.citation,
        verdict: passage.verdict,
        reason: passage.reason,
    }
}

pub(super) fn chunk(passage: Passage) -> v1::Chunk {
    let open_path = passage.open_path.and_then(|path| path.into_os_string().into_string().ok());
    v1::Chunk {
        chunk_id: passage.chunk_id.to_string(),
        document_id: passage.document_id.to_string(),
        footnote: passage.footnote.to_string(),
        title: passage.title,
        heading_path: passage.heading_path,
        text: passage.text,
        indexed_text: passage.indexed_text,
        current_text: passage.current_text,
        citation: Some(citation(passage.citation, open_path)),
        verdict: verdict(passage.verdict).into(),
        reason: reason(passage.reason).to_owned(),
        tags: passage.tags,
        date: passage.date,
        updated: passage.updated,
    }
}

fn citation(citation: citation::Citation, open_path: Option<String>) -> v1::Citation {
    v1::Citation {
        source: citation.source,
        source_class: source_class(citation.source_class).into(),
        start_byte: citation.bytes.start,
        end_byte: citation.bytes.end,
        start_line: citation.lines.start,
        end_line: citation.lines.end,
        sha256: citation.sha256.to_string(),
        extractor: citation.extractor,
        generation: citation.generation.number(),
        open_path,
    }
}

#[cfg(test)]
mod tests {
    use engine::citation::{Reason, SourceClass, Verdict};
    use engine::generation::GenerationId;
    use engine::id::{ChunkId, DocumentId, Sha256};
    use engine::query::{AlsoAt, ScoreScale, Window};

    use super::*;

    #[test]
    fn a_hit_says_all_that_the_engine_does() {
        let document = DocumentId::of_source("a.md");
        let sha256 = Sha256::of(b"text");
        let citation = citation::Citation {
            source: "a.md".into(),
            source_class: SourceClass::Text,
            bytes: citation::ByteRange { start: 3, end: 7 },
            lines: citation::LineRange { start: 1, end: 2 },
            sha256,
            extractor: None,
            generation: GenerationId::FIRST,
        };
        let passage = Passage {
            chunk_id: ChunkId::of_text(document, sha256, 0),
            document_id: document,
            footnote: "footnote:docs/a.md#L1-L2;9f3c2a1b".parse().unwrap(),
            title: Some("A".into()),
            heading_path: vec!["A".into(), "B".into()],
            text: None,
            indexed_text: Some("text".into()),
            current_text: Some("other".into()),
            citation,
            open_path: Some("/home/ada/a.md".into()),
            verdict: Verdict::Drifted,
            reason: Reason::Edited,
            tags: vec!["t".into()],
            date: Some("2026-01-01".into()),
            updated: None,
        };
        let elsewhere = "footnote:docs/b.md#L1-L2;9f3c2a1b".parse().unwrap();
        let leg = Some(LegPlace { score: 0.5, rank: 3, part: 0.25 });
        let neighbor = Neighbor { side: Side::Before, passage: passage.clone() };
        let window = Some(Window { tokens: 600, max_tokens: 512 });
        let found = Hit {
            passage,
            score: 0.9,
            score_scale: ScoreScale::Fused,
            bm25: leg,
            dense: None,
            rerank_score: Some(-1.5),
            nth_of_document: 2,
            literal_rank: Some(3),
            literals: vec!["v1.2".to_owned()],
            also_at: AlsoAt { listed: vec![elsewhere], count: 7 },
            highlights: vec![citation::ByteRange { start: 0, end: 4 }],
            neighbors: vec![neighbor],
            window,
        };
        assert_eq!(hit(found.clone(), false).explanation, None);
        let hit = hit(found, true);
        let explained = hit.explanation.as_ref().unwrap();
        assert_eq!((explained.bm25_part, explained.dense_part), (Some(0.25), None));
        assert_eq!(explained.window, Some(v1::Window { tokens: 600, max_tokens: 512 }));
        assert_eq!((explained.literal_rank, &explained.literals[..]), (Some(3), &["v1.2".to_owned()][..]));
        assert_eq!(hit.highlights, [v1::Highlight { start: 0, end: 4 }]);
        assert_eq!((hit.neighbors[0].side(), &hit.neighbors[0].chunk_id), (v1::Side::Before, &hit.chunk_id));
        assert_eq!(hit.neighbors[0].indexed_text.as_deref(), Some("text"));
        assert_eq!((hit.bm25_score, hit.bm25_rank, hit.dense_score), (Some(0.5), Some(3), None));
        assert_eq!((hit.rerank_score, explained.nth_of_document), (Some(-1.5), 2));
        assert_eq!(
            (hit.also_at.clone(), hit.copies),
            (vec!["[b.md:1-2](footnote:docs/b.md#L1-L2;9f3c2a1b)".to_owned()], 7)
        );
        assert_eq!((hit.verdict(), hit.reason.as_str()), (v1::Verdict::Drifted, "edited"));
        assert_eq!((hit.text, hit.indexed_text.as_deref()), (None, Some("text")));
        let citation = hit.citation.unwrap();
        assert_eq!((citation.start_byte, citation.end_byte, citation.end_line), (3, 7, 2));
        assert_eq!(citation.open_path.as_deref(), Some("/home/ada/a.md"));
        assert_eq!(citation.sha256.len(), 64);
    }
}
