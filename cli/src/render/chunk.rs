//! A fetched passage.

use proto::passage::Passage;
use proto::v1::FetchChunkResponse;

use super::passage::{beside, passage};
use super::{FAINT, Page, View, count};

/// Renders a passage and where it was found.
pub fn chunk(answer: &FetchChunkResponse, view: View<'_>) -> Page {
    let mut page = Page::default();
    let Some(chunk) = &answer.chunk else { return page };
    page.answer.push_str(&passage(&Passage::from(chunk), "", view));
    page.answer.push_str(&beside(&answer.neighbors, "", view));
    if answer.found_in_generation != answer.generation {
        page.line(format!(
            "{FAINT}from generation {} of {}, which is at {} now{FAINT:#}",
            answer.found_in_generation, answer.collection, answer.generation
        ));
    }
    if !answer.superseded_by.is_empty() {
        let number = u32::try_from(answer.superseded_by.len()).unwrap_or(u32::MAX);
        page.line(format!(
            "{FAINT}{} there now:{FAINT:#} {}",
            count(number, "passage stands", "passages stand"),
            answer.superseded_by.join(" ")
        ));
    }
    page.notices(&answer.notices);
    page
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proto::v1::{Chunk, Citation, Verdict};

    use super::super::tests::plain;
    use super::*;

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
        let page = chunk(&answer, View { working_directory: Some(Path::new("/")) });
        insta::assert_snapshot!(plain(&page.answer), @r###"
a.md:3  drifted  there is now: new words
from generation 7 of docs, which is at 9 now
1 passage stands there now: 00112233445566778899aabbccddeeff
"###);
    }
}
