//! How a ranking came about, as tables: a row per hit, a row per term, and what was ranked at all.

use proto::clean;
use proto::v1::{Explanation, Hit, SearchResponse, Window};

use super::{FAINT, Page, count};

/// Adds to the page what an answer says of itself.
pub(super) fn explanation(page: &mut Page, answer: &SearchResponse) {
    let Some(explanation) = &answer.explanation else { return };
    page.line("");
    let heads =
        ["hit", "score", "words", "meaning", "literally", "reranker", "of its document", "read by the model"];
    table(page, &heads, answer.hits.iter().enumerate().map(hit));
    if !explanation.terms.is_empty() {
        page.line("");
        let term = |term: &proto::v1::QueryTerm| {
            let (chunks, weight) = (term.chunks.to_string(), format!("{:.2}", term.weight));
            vec![clean::line(&term.term), clean::line(&term.field), weight, chunks]
        };
        table(
            page,
            &["looked for", "in", "weight", "passages that have it"],
            explanation.terms.iter().map(term),
        );
    }
    page.line("");
    for line in summary(explanation) {
        page.line(format!("{FAINT}{line}{FAINT:#}"));
    }
}

fn hit((index, hit): (usize, &Hit)) -> Vec<String> {
    let explained = hit.explanation.clone().unwrap_or_default();
    let leg = |rank: Option<u32>, score: Option<f64>, part: Option<f64>| match (rank, score, part) {
        (Some(rank), Some(score), Some(part)) => format!("#{rank} {score:.3} +{part:.3}"),
        _ => "–".to_owned(),
    };
    vec![
        (index + 1).to_string(),
        format!("{:.3}", hit.score),
        leg(hit.bm25_rank, hit.bm25_score, explained.bm25_part),
        leg(hit.dense_rank, hit.dense_score, explained.dense_part),
        explained
            .literal_rank
            .map_or_else(|| "–".to_owned(), |rank| format!("#{rank} {}", brief(&names(&explained.literals)))),
        hit.rerank_score.map_or_else(|| "–".to_owned(), |score| format!("{score:.3}")),
        format!("#{}", explained.nth_of_document),
        explained.window.map_or_else(|| "–".to_owned(), window),
    ]
}

/// As much as a column has room for.
fn brief(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names as they were asked for.
fn names(literals: &[String]) -> String {
    let names: Vec<String> = literals.iter().map(|literal| clean::line(literal)).collect();
    names.join(", ")
}

fn window(window: Window) -> String {
    let Window { tokens, max_tokens } = window;
    if tokens > max_tokens {
        format!("{max_tokens} of {tokens} tokens, the rest not")
    } else {
        format!("all {tokens} tokens")
    }
}

fn summary(explanation: &Explanation) -> Vec<String> {
    let mut lines = Vec::new();
    let documents = count(explanation.documents, "document", "documents");
    let passages = count(explanation.chunks, "passage", "passages");
    lines.push(match (explanation.documents_left, explanation.chunks_left) {
        (Some(left), Some(chunks)) => {
            format!("the filter left {left} of {documents}, {chunks} of {passages}")
        }
        _ => format!("looked through {documents}, {passages}"),
    });
    let ranked = |leg: &str, candidates: Option<u32>| {
        candidates.map(|candidates| format!("{leg} ranked {}", count(candidates, "passage", "passages")))
    };
    if !explanation.literals.is_empty() {
        lines.push(format!("what holds this literally comes first: {}", names(&explanation.literals)));
    }
    lines.extend(ranked("words", explanation.bm25_candidates));
    lines.extend(ranked("meaning", explanation.dense_candidates));
    lines.extend(explanation.dense_weight.map(|weight| {
        format!(
            "words weigh {:.2}, meaning {weight:.2}; each is scaled from its worst candidate to its best",
            1.0 - weight
        )
    }));
    lines.extend(
        explanation.query_window.map(|read| format!("of the question the model read {}", window(read))),
    );
    lines
}

/// Columns as wide as what stands in them.
fn table(page: &mut Page, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        page.line(if number == 0 { format!("{FAINT}{line}{FAINT:#}") } else { line.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use proto::v1::{HitExplanation, Mode, QueryTerm, Verdict};

    use super::super::tests::{hit, plain};
    use super::*;

    #[test]
    fn a_ranking_is_told_in_tables() {
        let explained = |bm25: Option<(u32, f64, f64)>, dense: Option<(u32, f64, f64)>, tokens| Hit {
            score: bm25.map_or(0.0, |leg| leg.2) + dense.map_or(0.0, |leg| leg.2),
            bm25_rank: bm25.map(|leg| leg.0),
            bm25_score: bm25.map(|leg| leg.1),
            dense_rank: dense.map(|leg| leg.0),
            dense_score: dense.map(|leg| leg.1),
            explanation: Some(HitExplanation {
                bm25_part: bm25.map(|leg| leg.2),
                dense_part: dense.map(|leg| leg.2),
                window: Some(Window { tokens, max_tokens: 512 }),
                nth_of_document: 1,
                literal_rank: bm25.map(|_| 1),
                literals: bm25
                    .map(|_| vec!["ERR_7781".to_owned(), "a\u{1b}_b".to_owned()])
                    .unwrap_or_default(),
            }),
            rerank_score: bm25.map(|_| 1.25),
            ..hit("runbook.md", Verdict::Verified, "bytes_equal")
        };
        let answer = SearchResponse {
            mode: Mode::Hybrid.into(),
            hits: vec![
                explained(Some((1, 12.3456, 0.5)), Some((3, 0.81, 0.431)), 212),
                explained(None, Some((1, 0.9, 0.5)), 600),
            ],
            explanation: Some(Explanation {
                documents: 120,
                chunks: 900,
                documents_left: Some(1),
                chunks_left: Some(12),
                bm25_candidates: Some(7),
                dense_candidates: Some(12),
                dense_weight: Some(0.5),
                terms: vec![
                    QueryTerm { term: "restart".into(), field: "words".into(), weight: 1.0, chunks: 7 },
                    QueryTerm { term: "a\u{1b}[2J".into(), field: "heading".into(), weight: 0.3, chunks: 0 },
                ],
                query_window: Some(Window { tokens: 9, max_tokens: 512 }),
                literals: vec!["ERR_7781".into(), "a\u{1b}_b".into(), "foo::bar".into()],
            }),
            ..SearchResponse::default()
        };
        let mut page = Page::default();
        explanation(&mut page, &answer);
        insta::assert_snapshot!(plain(&page.answer), @r"

hit  score  words             meaning          literally          reranker  of its document  read by the model
1    0.931  #1 12.346 +0.500  #3 0.810 +0.431  #1 ERR_7781, a␛_b  1.250     #1               all 212 tokens
2    0.500  –                 #1 0.900 +0.500  –                  –         #1               512 of 600 tokens, the rest not

looked for  in       weight  passages that have it
restart     words    1.00    7
a␛[2J       heading  0.30    0

the filter left 1 of 120 documents, 12 of 900 passages
what holds this literally comes first: ERR_7781, a␛_b, foo::bar
words ranked 7 passages
meaning ranked 12 passages
words weigh 0.50, meaning 0.50; each is scaled from its worst candidate to its best
of the question the model read all 9 tokens
");
    }

    #[test]
    fn a_long_phrase_does_not_widen_the_table() {
        let long = brief(&"a phrase of many words ".repeat(9));
        assert_eq!(long, "a phrase of many words a phrase of many …");
        assert_eq!(brief("ERR_7781"), "ERR_7781");
    }

    #[test]
    fn who_did_not_ask_is_told_nothing() {
        let mut page = Page::default();
        explanation(&mut page, &SearchResponse::default());
        assert_eq!(page, Page::default());
    }
}
