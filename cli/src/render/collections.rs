//! The collections there are.

use proto::json::Word;
use proto::v1::{Collection, ListCollectionsResponse, Mode};

use super::{Page, STRONG, moment};

/// Renders a page of collections as a table.
pub fn collections(answer: &ListCollectionsResponse) -> Page {
    let mut page = Page::default();
    if answer.collections.is_empty() && answer.next_page_token.is_none() {
        page.note("nothing is ingested yet", "put documents in with `footnote ingest DIR`");
    } else {
        page.answer = table(&answer.collections);
    }
    if let Some(token) = &answer.next_page_token {
        page.note("there are more", &format!("see them with `--page-token {token}`"));
    }
    page.notices(&answer.notices);
    page
}

const HEAD: [&str; 6] = ["NAME", "DOCUMENTS", "PASSAGES", "GENERATION", "PUBLISHED", "MODES"];

fn table(collections: &[Collection]) -> String {
    let rows: Vec<[String; 6]> = collections.iter().map(row).collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([HEAD[column].len()])
            .max()
            .unwrap_or_default()
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |cells: [&str; 6]| {
        let cells: Vec<_> = (0..6)
            .map(|column| {
                let (cell, width) = (cells[column], widths[column]);
                // Numbers to the right, words to the left.
                if (1..=3).contains(&column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    let mut text = format!("{STRONG}{}{STRONG:#}\n", line(HEAD));
    for row in &rows {
        text.push_str(&line(row.each_ref().map(String::as_str)));
        text.push('\n');
    }
    text
}

fn row(collection: &Collection) -> [String; 6] {
    [
        collection.name.clone(),
        collection.documents.to_string(),
        collection.chunks.to_string(),
        collection.generation.to_string(),
        moment(&collection.published_at),
        modes(collection.modes()),
    ]
}

pub(super) fn modes(modes: impl Iterator<Item = Mode>) -> String {
    modes.filter_map(Word::word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::plain;
    use super::*;

    fn render(answer: &ListCollectionsResponse) -> String {
        let page = collections(answer);
        plain(&format!("{}--\n{}", page.answer, page.notes))
    }

    #[test]
    fn collections_are_a_table() {
        let collection = |name: &str, documents, modes: &[Mode]| Collection {
            name: name.into(),
            documents,
            chunks: documents * 12,
            generation: 3,
            published_at: "2026-11-30T12:00:00Z".into(),
            modes: modes.iter().map(|mode| i32::from(*mode)).collect(),
        };
        insta::assert_snapshot!(render(&ListCollectionsResponse {
            collections: vec![
                collection("docs", 1200, &[Mode::Hybrid, Mode::Bm25, Mode::Dense]),
                collection("n", 1, &[Mode::Bm25]),
            ],
            next_page_token: Some("n".into()),
            notices: vec![],
        }), @r###"
NAME  DOCUMENTS  PASSAGES  GENERATION  PUBLISHED             MODES
docs       1200     14400           3  2026-11-30T12:00:00Z  hybrid, bm25, dense
n             1        12           3  2026-11-30T12:00:00Z  bm25
--
note: there are more; see them with `--page-token n`
"###);
    }

    #[test]
    fn an_empty_index_says_how_to_fill_it() {
        insta::assert_snapshot!(render(&ListCollectionsResponse::default()), @r###"
--
note: nothing is ingested yet; put documents in with `footnote ingest DIR`
"###);
    }
}
