//! An answer as text, for the model that reads it.
//!
//! Text is data. Every line of a document stands behind `> `, and nothing else begins so: what a document says can look
//! like a hit, a verdict, a heading or an order and is still seen to be its own words. What is short (headings, names,
//! places) stays on the line that ours begins, behind what must be believed. Control characters, marks of writing
//! direction and characters without a shape are shown, not passed on.
//!
//! A passage that does not stand in its source any more is one line without its old words. An answer without
//! passages is its JSON, which escapes what it holds. Deliberately left out: how long all of it may be (`budget`).

use std::fmt::{self, Write as _};

use proto::json::Word;
use proto::passage::{Passage, elsewhere};
use proto::v1::{EvidenceLevel, FetchChunkResponse, Neighbor, Notice, SearchResponse};
use proto::{Operation, clean};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Renders an answer of `operation`.
pub(crate) fn render(operation: &Operation, answer: &Value) -> String {
    let rendered = match operation.name {
        "search" => read(answer).map(|answer| search(&answer)),
        "fetch_chunk" => read(answer).map(|answer| fetched(&answer)),
        _ => None,
    };
    rendered.unwrap_or_else(|| answer.to_string())
}

fn read<A: DeserializeOwned>(answer: &Value) -> Option<A> {
    A::deserialize(answer).ok()
}

fn search(answer: &SearchResponse) -> String {
    let collection = clean::line(&answer.collection);
    let mut text = evidence(answer);
    match answer.hits.len() {
        0 => push(&mut text, format_args!("Nothing is found in `{collection}`.\n")),
        1 => push(&mut text, format_args!("1 passage of `{collection}`.")),
        many => push(&mut text, format_args!("{many} passages of `{collection}`, the best first.")),
    }
    if !answer.hits.is_empty() {
        push(&mut text, format_args!(" Lines that begin with > are the documents' own words.\n"));
    }
    for (index, hit) in answer.hits.iter().enumerate() {
        push(&mut text, format_args!("\n{}. ", index + 1));
        passage(&mut text, &Passage::from(hit));
        if let Some(elsewhere) = elsewhere(hit) {
            push(&mut text, format_args!("{elsewhere}\n"));
        }
        beside(&mut text, &hit.neighbors);
    }
    let mut notes = Vec::new();
    if let Some(cut) = &answer.truncated {
        notes.push(format!(
            "{} of {} hits are here, {} of {} bytes of their text; a larger `max_bytes` gives more",
            cut.returned_hits, cut.total_hits, cut.returned_bytes, cut.total_bytes
        ));
    }
    notes.extend(answer.notices.iter().map(said));
    note(&mut text, &notes);
    text
}

/// First of all whether there is an answer: who reads on should know what to expect.
fn evidence(answer: &SearchResponse) -> String {
    let Some(evidence) = answer.evidence.as_ref().filter(|_| !answer.hits.is_empty()) else {
        return String::new();
    };
    let reason = clean::line(&evidence.reason);
    match evidence.level() {
        EvidenceLevel::None => format!(
            "Evidence: none. Nothing here seems to answer the question ({reason}); say so rather than answer from these.\n"
        ),
        EvidenceLevel::Weak => {
            format!("Evidence: weak. Nothing here clearly answers the question ({reason}).\n")
        }
        EvidenceLevel::Enough => "Evidence: enough. ".to_owned(),
        EvidenceLevel::Unspecified => String::new(),
    }
}

fn fetched(answer: &FetchChunkResponse) -> String {
    let mut text = String::new();
    if let Some(chunk) = &answer.chunk {
        passage(&mut text, &Passage::from(chunk));
        beside(&mut text, &answer.neighbors);
    }
    let mut notes = Vec::new();
    if answer.found_in_generation != answer.generation {
        notes.push(format!(
            "this passage is from generation {} of `{}`, which is at {} now",
            answer.found_in_generation,
            clean::line(&answer.collection),
            answer.generation
        ));
    }
    if !answer.superseded_by.is_empty() {
        notes.push(format!(
            "at its place stands now: {}; fetch that",
            clean::line(&answer.superseded_by.join(" "))
        ));
    }
    notes.extend(answer.notices.iter().map(said));
    note(&mut text, &notes);
    text
}

/// The passages beside one, each behind the word for its side.
fn beside(text: &mut String, neighbors: &[Neighbor]) {
    for neighbor in neighbors {
        push(text, format_args!("{} it, ", neighbor.side().word().unwrap_or("beside")));
        passage(text, &Passage::from(neighbor));
    }
}

/// The verdict first: what follows on the line may be a name that somebody chose.
fn passage(text: &mut String, passage: &Passage<'_>) {
    text.push_str(passage.verdict.word().unwrap_or("unknown"));
    let Some(words) = passage.text else {
        let citation = &passage.citation;
        let place = format!("{}:{}", clean::line(&citation.source), citation.start_line);
        push(text, format_args!(", do not quote: {place}; {}\n", passage.instead()));
        return;
    };
    if let Some(why) = passage.why() {
        push(text, format_args!(" ({why})"));
    }
    push(text, format_args!(": {}\n", clean::line(passage.footnote)));
    let headings = clean::line(&passage.heading_path.join(" > "));
    if !headings.is_empty() {
        push(text, format_args!("under: {headings}\n"));
    }
    quote(text, words);
}

/// Every line behind a mark, whatever this document takes for the end of a line.
fn quote(text: &mut String, words: &str) {
    let words = clean::text(words);
    for line in words.trim_end().split(['\n', '\u{2028}', '\u{2029}']) {
        text.push_str(format!("> {line}").trim_end());
        text.push('\n');
    }
}

fn said(notice: &Notice) -> String {
    let (message, action) = (clean::line(&notice.message), clean::line(&notice.action));
    if action.is_empty() { message } else { format!("{message}; {action}") }
}

fn note(text: &mut String, notes: &[String]) {
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        push(text, format_args!("note: {note}\n"));
    }
}

fn push(text: &mut String, arguments: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    _ = text.write_fmt(arguments);
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use proto::v1::{Chunk, Citation, Evidence, Hit, Mode, ScoreScale, SourceClass, Truncation, Verdict};

    use super::*;

    pub(crate) fn hit(source: &str, verdict: Verdict, reason: &str) -> Hit {
        Hit {
            footnote: format!("[{source}:10-11](footnote:docs/{source}#L10-L11;9f3c2a1b)"),
            heading_path: vec!["Runbook".into(), "Restart".into()],
            text: Some("Stop the queue first.\n\nThen restart.\n".into()),
            citation: Some(citation(source)),
            score_scale: ScoreScale::Fused.into(),
            verdict: verdict.into(),
            reason: reason.into(),
            ..Hit::default()
        }
    }

    pub(crate) fn citation(source: &str) -> Citation {
        Citation {
            source: source.into(),
            source_class: SourceClass::Text.into(),
            start_line: 10,
            end_line: 11,
            ..Citation::default()
        }
    }

    pub(crate) fn gone(source: &str, verdict: Verdict, reason: &str, now: Option<&str>) -> Hit {
        Hit {
            text: None,
            indexed_text: Some("the old words".into()),
            current_text: now.map(str::to_owned),
            ..hit(source, verdict, reason)
        }
    }

    pub(crate) fn answer(hits: Vec<Hit>) -> SearchResponse {
        SearchResponse {
            collection: "docs".into(),
            generation: 7,
            mode: Mode::Hybrid.into(),
            hits,
            ..SearchResponse::default()
        }
    }

    #[test]
    fn passages_are_numbered_and_quoted_and_what_is_gone_is_one_line() {
        let mut answer = answer(vec![
            hit("runbook.md", Verdict::Verified, "bytes_equal"),
            hit("moved.md", Verdict::Relocated, "moved"),
            gone("old.md", Verdict::Drifted, "edited", Some("Start the queue\nfirst, then …")),
            gone("c.md", Verdict::Missing, "source_gone", None),
            hit("d.md", Verdict::NotChecked, "not_requested"),
        ]);
        answer.truncated =
            Some(Truncation { total_hits: 9, returned_hits: 5, total_bytes: 9000, returned_bytes: 1000 });
        answer.notices = vec![Notice {
            code: "no_vectors".into(),
            message: "ranked by words alone: the collection has no vectors".into(),
            action: "install a model".into(),
        }];
        insta::assert_snapshot!(search(&answer), @r"
        5 passages of `docs`, the best first. Lines that begin with > are the documents' own words.

        1. verified: [runbook.md:10-11](footnote:docs/runbook.md#L10-L11;9f3c2a1b)
        under: Runbook > Restart
        > Stop the queue first.
        >
        > Then restart.

        2. relocated (moved since it was indexed): [moved.md:10-11](footnote:docs/moved.md#L10-L11;9f3c2a1b)
        under: Runbook > Restart
        > Stop the queue first.
        >
        > Then restart.

        3. drifted, do not quote: old.md:10; there is now: Start the queue first, then …

        4. missing, do not quote: c.md:10; the file is gone

        5. not_checked: [d.md:10-11](footnote:docs/d.md#L10-L11;9f3c2a1b)
        under: Runbook > Restart
        > Stop the queue first.
        >
        > Then restart.

        note: 5 of 9 hits are here, 1000 of 9000 bytes of their text; a larger `max_bytes` gives more
        note: ranked by words alone: the collection has no vectors; install a model
        ");
    }

    #[test]
    fn whether_there_is_an_answer_is_said_first() {
        let first_line = |level: EvidenceLevel| {
            let mut answer = answer(vec![hit("a.md", Verdict::Verified, "bytes_equal")]);
            let reason = "a passage has 1 of the question's 4 words".to_owned();
            answer.evidence = Some(Evidence { level: level.into(), reason, ..Evidence::default() });
            search(&answer).lines().next().unwrap().to_owned()
        };
        insta::assert_snapshot!(first_line(EvidenceLevel::None), @"Evidence: none. Nothing here seems to answer the question (a passage has 1 of the question's 4 words); say so rather than answer from these.");
        insta::assert_snapshot!(first_line(EvidenceLevel::Weak), @"Evidence: weak. Nothing here clearly answers the question (a passage has 1 of the question's 4 words).");
        insta::assert_snapshot!(first_line(EvidenceLevel::Enough), @"Evidence: enough. 1 passage of `docs`. Lines that begin with > are the documents' own words.");
    }

    #[test]
    fn nothing_found_is_said() {
        assert_eq!(search(&answer(vec![])), "Nothing is found in `docs`.\n");
    }

    #[test]
    fn an_old_passage_says_what_stands_there_now() {
        let answer = FetchChunkResponse {
            collection: "docs".into(),
            generation: 9,
            found_in_generation: 7,
            superseded_by: vec!["00112233445566778899aabbccddeeff".into()],
            chunk: Some(Chunk {
                footnote: "[a.md:3](footnote:docs/a.md#L3;9f3c2a1b)".into(),
                indexed_text: Some("old".into()),
                current_text: Some("new words".into()),
                citation: Some(Citation { source: "a.md".into(), start_line: 3, ..Citation::default() }),
                verdict: Verdict::Drifted.into(),
                reason: "edited".into(),
                ..Chunk::default()
            }),
            ..FetchChunkResponse::default()
        };
        insta::assert_snapshot!(fetched(&answer), @r"
        drifted, do not quote: a.md:3; there is now: new words

        note: this passage is from generation 7 of `docs`, which is at 9 now
        note: at its place stands now: 00112233445566778899aabbccddeeff; fetch that
        ");
    }

    #[test]
    fn an_answer_without_passages_is_its_json() {
        let operation = Operation::named("index_status").unwrap();
        let answer = serde_json::json!({"collection": "docs"});
        assert_eq!(render(operation, &answer), r#"{"collection":"docs"}"#);
    }

    /// What a hostile document is made of: our own markup, ends of lines of every kind, what nobody sees.
    fn hostile() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "\n",
            "\r",
            "\r\n",
            "\u{2028}",
            "\u{2029}",
            "\u{85}",
            "\u{b}",
            "\u{c}",
            "\0",
            "\x1b[2J",
            "\u{202e}",
            "\u{2066}",
            "\u{e0041}",
            "\u{feff}",
            "> ",
            ">",
            "1. verified: ",
            "2. ",
            "note: ",
            "under: ",
            "```",
            "# ",
            "---",
            "](footnote:docs/a.md#L1;9f3c2a1b)",
            "[a.md:1]",
            "verified",
            "words",
            " ",
            "\t",
            "漢",
            "",
        ]);
        prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn hits() -> impl Strategy<Value = Vec<Hit>> {
        let hit = (hostile(), hostile(), hostile(), hostile(), prop::option::of(hostile()), any::<bool>())
            .prop_map(|(source, heading, footnote, text, now, stands)| Hit {
                footnote,
                heading_path: vec![heading],
                text: stands.then_some(text),
                current_text: now,
                ..hit(
                    &source,
                    if stands { Verdict::Verified } else { Verdict::Drifted },
                    if stands { "bytes_equal" } else { "edited" },
                )
            });
        prop::collection::vec(hit, 0..6)
    }

    /// The lines that are ours, by how they begin.
    fn skeleton(text: &str) -> Vec<String> {
        text.split(|character: char| {
            matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
        })
        .filter(|line| !line.starts_with('>') && !line.is_empty() && !line.starts_with("under: "))
        .map(|line| line.split([':', ',', '(']).next().unwrap_or_default().trim().to_owned())
        .collect()
    }

    proptest! {
        #[test]
        fn a_document_cannot_imitate_our_markup(hits in hits()) {
            let harmless = hits
                .iter()
                .map(|hit| Hit {
                    text: hit.text.is_some().then(|| "words".to_owned()),
                    current_text: None,
                    footnote: "[a.md:1](footnote:docs/a.md#L1;9f3c2a1b)".into(),
                    heading_path: vec![],
                    citation: Some(Citation { source: "a.md".into(), ..Citation::default() }),
                    ..hit.clone()
                })
                .collect();
            let text = search(&answer(hits));
            prop_assert_eq!(skeleton(&text), skeleton(&search(&answer(harmless))));
            prop_assert!(
                text.chars().all(|character| character == '\n' || character == '\t' || !character.is_control()),
                "{:?}", text
            );
        }

        #[test]
        fn a_passage_stays_readable(words in "[a-z \n>#]{0,200}") {
            let mut text = String::new();
            quote(&mut text, &words);
            let unquoted: Vec<_> =
                text.lines().map(|line| line.strip_prefix("> ").or(line.strip_prefix('>')).unwrap()).collect();
            let expected: Vec<_> = words.trim_end().split('\n').map(str::trim_end).collect();
            prop_assert_eq!(unquoted, expected);
        }
    }
}
