//! The hits of a search.

use proto::clean;
use proto::json::Word;
use proto::passage::{Passage, elsewhere};
use proto::v1::{EvidenceLevel, SearchResponse, Verdict};

use super::explanation::explanation;
use super::passage::{beside, passage};
use super::{FAINT, Page, View, count, push};

/// Renders an answer, best hit first.
pub fn hits(answer: &SearchResponse, view: View<'_>) -> Page {
    let mut page = Page::default();
    let width = answer.hits.len().to_string().len();
    for (index, hit) in answer.hits.iter().enumerate() {
        let number = format!("{:>width$}. ", index + 1);
        page.answer.push_str(&passage(&Passage::from(hit), &number, view));
        let indent = " ".repeat(number.len());
        if let Some(elsewhere) = elsewhere(hit) {
            push(&mut page.answer, format_args!("{indent}{FAINT}{elsewhere}{FAINT:#}\n"));
        }
        page.answer.push_str(&beside(&hit.neighbors, &indent, view));
        if hit.text.is_some() {
            page.answer.push('\n');
        }
    }
    if answer.hits.is_empty() {
        page.note(&format!("nothing is found in `{}`", answer.collection), "");
    } else {
        let mode = answer.mode().word().unwrap_or("unknown");
        let hits = count(u32::try_from(answer.hits.len()).unwrap_or(u32::MAX), "hit", "hits");
        let reranked = answer.reranked.as_ref().map_or_else(String::new, |reranked| {
            format!(", the best {} reranked by {}", reranked.depth, clean::line(&reranked.model))
        });
        page.line(format!(
            "{FAINT}{hits} in {}, generation {}, {mode}{reranked}{FAINT:#}",
            answer.collection, answer.generation
        ));
    }
    evidence(&mut page, answer);
    explanation(&mut page, answer);
    if !answer.hits.is_empty() && answer.hits.iter().all(|hit| !stands(hit.verdict())) {
        page.note("none of these passages stands in its file any more", "do not quote them");
    }
    if let Some(cut) = &answer.truncated {
        page.note(
            &format!(
                "{} of {} hits are shown, {} of {} bytes of text",
                cut.returned_hits, cut.total_hits, cut.returned_bytes, cut.total_bytes
            ),
            "`--max-bytes` shows more",
        );
    }
    page.notices(&answer.notices);
    page
}

/// Says where the passages may be no answer.
fn evidence(page: &mut Page, answer: &SearchResponse) {
    let Some(evidence) = answer.evidence.as_ref().filter(|_| !answer.hits.is_empty()) else { return };
    let (lead, action) = match evidence.level() {
        EvidenceLevel::None => ("nothing here seems to answer this", "ask in other words, or look elsewhere"),
        EvidenceLevel::Weak => ("nothing here clearly answers this", "read before you believe"),
        EvidenceLevel::Enough | EvidenceLevel::Unspecified => return,
    };
    page.note(&format!("{lead}: {}", evidence.reason), action);
}

fn stands(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Verified | Verdict::Relocated | Verdict::NotChecked => true,
        Verdict::Drifted | Verdict::Missing | Verdict::Unresolvable | Verdict::Unspecified => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proto::v1::{Evidence, Hit, Mode, Notice, Reranked, Truncation};

    use super::super::tests::{hit, plain};
    use super::*;

    fn render(answer: &SearchResponse) -> String {
        let page = hits(answer, View { working_directory: Some(Path::new("/home/ada")) });
        plain(&format!("{}--\n{}", page.answer, page.notes))
    }

    fn answer(hits: Vec<Hit>) -> SearchResponse {
        SearchResponse {
            collection: "docs".into(),
            generation: 7,
            mode: Mode::Hybrid.into(),
            hits,
            ..SearchResponse::default()
        }
    }

    #[test]
    fn a_hit_has_its_place_its_verdict_its_words_and_its_footnote() {
        insta::assert_snapshot!(render(&answer(vec![
            hit("runbook.md", Verdict::Verified, "bytes_equal"),
            hit("moved.md", Verdict::Relocated, "moved"),
        ])), @r###"
1. docs/runbook.md:10  verified
   Runbook > Restart
     Stop the queue first.
     Then restart.
   [runbook.md:10-11](footnote:docs/runbook.md#L10-L11;9f3c2a1b)

2. docs/moved.md:10  relocated  moved since it was indexed
   Runbook > Restart
     Stop the queue first.
     Then restart.
   [moved.md:10-11](footnote:docs/moved.md#L10-L11;9f3c2a1b)

2 hits in docs, generation 7, hybrid
--
"###);
    }

    #[test]
    fn a_passage_that_does_not_stand_there_is_one_line() {
        let gone = |source: &str, verdict, reason: &str, now: Option<&str>| Hit {
            text: None,
            indexed_text: Some("the old words".into()),
            current_text: now.map(str::to_owned),
            ..hit(source, verdict, reason)
        };
        insta::assert_snapshot!(render(&answer(vec![
            gone("a.md", Verdict::Drifted, "edited", Some("Start the queue\nfirst, then …")),
            gone("b.md", Verdict::Drifted, "truncated", None),
            gone("c.md", Verdict::Missing, "source_gone", None),
            gone("d.md", Verdict::Unresolvable, "permission_denied", None),
        ])), @r###"
1. docs/a.md:10  drifted  there is now: Start the queue first, then …
2. docs/b.md:10  drifted  the file ends before that line now
3. docs/c.md:10  missing  the file is gone
4. docs/d.md:10  unresolvable  the daemon may not read the file
4 hits in docs, generation 7, hybrid
--
note: none of these passages stands in its file any more; do not quote them
"###);
    }

    #[test]
    fn what_was_reranked_is_said() {
        let reranked = Some(Reranked { model: "ms-marco".into(), depth: 20 });
        let answer =
            SearchResponse { reranked, ..answer(vec![hit("a.md", Verdict::Verified, "bytes_equal")]) };
        assert!(render(&answer).contains("generation 7, hybrid, the best 20 reranked by ms-marco"));
    }

    #[test]
    fn what_may_be_no_answer_is_said_to_be_so() {
        let notes = |level: EvidenceLevel| {
            let mut answer = answer(vec![hit("runbook.md", Verdict::Verified, "bytes_equal")]);
            let reason = "no passage has any of the question's words".to_owned();
            answer.evidence = Some(Evidence { level: level.into(), reason, ..Evidence::default() });
            plain(&hits(&answer, View { working_directory: None }).notes)
        };
        insta::assert_snapshot!(notes(EvidenceLevel::None), @"note: nothing here seems to answer this: no passage has any of the question's words; ask in other words, or look elsewhere");
        insta::assert_snapshot!(notes(EvidenceLevel::Weak), @"note: nothing here clearly answers this: no passage has any of the question's words; read before you believe");
        assert_eq!(notes(EvidenceLevel::Enough), "");
    }

    #[test]
    fn nothing_found_is_said_beside_the_answer() {
        insta::assert_snapshot!(render(&answer(vec![])), @r###"
--
note: nothing is found in `docs`
"###);
    }

    #[test]
    fn what_was_not_done_is_said_with_what_to_do() {
        let mut partial = answer(vec![hit("runbook.md", Verdict::NotChecked, "not_requested")]);
        partial.truncated =
            Some(Truncation { total_hits: 5, returned_hits: 1, total_bytes: 9000, returned_bytes: 1000 });
        partial.notices = vec![Notice {
            code: "no_vectors".into(),
            message: "the collection has no vectors, so it was asked by words alone".into(),
            action: "install a model with `footnote model install`".into(),
        }];
        insta::assert_snapshot!(render(&partial), @r###"
1. docs/runbook.md:10  not_checked
   Runbook > Restart
     Stop the queue first.
     Then restart.
   [runbook.md:10-11](footnote:docs/runbook.md#L10-L11;9f3c2a1b)

1 hit in docs, generation 7, hybrid
--
note: 1 of 5 hits are shown, 1000 of 9000 bytes of text; `--max-bytes` shows more
note: the collection has no vectors, so it was asked by words alone; install a model with `footnote model install`
"###);
    }

    #[test]
    fn a_hostile_document_does_not_reach_the_terminal() {
        let hostile = Hit {
            text: Some("a\u{1b}[2Jb\r\n\u{202e}c\n".into()),
            heading_path: vec!["x\u{1b}]0;y\u{7}\nz".into()],
            footnote: "[a\u{1b}](footnote:x)".into(),
            ..hit("e\u{1b}[1m.md", Verdict::Verified, "bytes_equal")
        };
        let page = hits(&answer(vec![hostile]), View { working_directory: None });
        let stripped = plain(&page.answer);
        assert!(
            !stripped.chars().any(|character| character.is_control() && character != '\n'),
            "{stripped:?}"
        );
        assert!(stripped.contains("a␛[2Jb\n"), "{stripped}");
    }
}
