//! A filter leaves exactly what one who looks at every document would leave, and ranking among that is exact.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "filter/corpus.rs"]
mod corpus;

use engine::dense::{Among, scan};
use engine::filter::{Filter, Paths, Period, Tag};
use engine::lexical::{Candidate, Lexical, Selection, WordQuery};
use engine::stop::Stop;
use proptest::prelude::*;
use tantivy::DocAddress;

use self::corpus::{Document, Index, Numbers, vectors_of};

/// What a query finds in `selection`, as one finds it who ranks everything and then looks at each.
fn by_brute_force(lexical: &Lexical, query: &WordQuery, k: usize, selection: &Selection) -> Vec<Candidate> {
    let all = usize::try_from(lexical.chunks()).expect("few");
    let ranked = lexical.search(query, all, &Stop::never()).expect("searched").into_iter();
    let is_left = |candidate: &Candidate| {
        selection.rows(candidate.address.segment_ord).contains(candidate.address.doc_id)
    };
    ranked.filter(is_left).take(k).collect()
}

fn left_by_brute_force(lexical: &Lexical, filter: &Filter) -> Vec<DocAddress> {
    let mut left = Vec::new();
    lexical
        .for_each_alive(|address, chunk| {
            let dates: Vec<&str> = chunk.date.iter().chain(&chunk.updated).map(String::as_str).collect();
            if filter.admits(&chunk.source, &chunk.tags, &dates) {
                left.push(address);
            }
            Ok(())
        })
        .expect("read");
    left
}

fn addresses(selection: &Selection) -> Vec<DocAddress> {
    let rows = (0..).zip(selection.segments());
    rows.flat_map(|(segment, rows)| rows.runs().flatten().map(move |row| DocAddress::new(segment, row)))
        .collect()
}

fn filters() -> impl Strategy<Value = Filter> {
    let glob = prop::sample::select(vec![
        "docs",
        "!docs/old",
        "*.md",
        "!*.txt",
        "src/**",
        "no/such",
        "!*",
        "d?cs/*",
    ]);
    let tag = || prop::sample::select(vec!["ops", "draft", "caf\u{e9}", "cafe\u{301}", "none"]);
    let date = || {
        prop::option::weighted(
            0.3,
            prop::sample::select(vec![
                "2024-01-05",
                "2024-01-10",
                "2024-01-10T12:00:00Z",
                "2023-12-31",
                "2030-01-01",
            ]),
        )
    };
    let list = |most| 0..=most;
    (
        prop::collection::vec(glob, list(3)),
        prop::collection::vec(tag(), list(2)),
        prop::collection::vec(tag(), list(2)),
        date(),
        date(),
    )
        .prop_map(|(paths, any, all, from, until)| Filter {
            paths: Paths::new(&paths).expect("globs"),
            tags_any: any.into_iter().map(Tag::new).collect(),
            tags_all: all.into_iter().map(Tag::new).collect(),
            dates: Period {
                from: from.map(|date| date.parse().expect("a date")),
                until: until.map(|date| date.parse().expect("a date")),
            },
        })
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    let path = prop::sample::select(vec![
        "docs/a.md",
        "docs/old/b.md",
        "src/c.txt",
        "d.md",
        "docs/e.txt",
        "docs/old/f.md",
    ]);
    let tags = prop::sample::subsequence(vec!["ops", "draft", "caf\u{e9}", "cafe\u{301}"], 0..=3);
    let date = || {
        prop::option::of(prop::sample::select(vec![
            "2024-01-10",
            "2024-01-10T11:59:59Z",
            "2024-01-05T00:00:00+02:00",
            "2023-01-01",
            "no date",
        ]))
    };
    let document = (path, tags, date(), date(), 1_u32..6);
    prop::collection::vec(document, 1..12).prop_map(|documents| {
        let named = documents.into_iter().enumerate();
        named
            .map(|(number, (path, tags, date, updated, chunks))| Document {
                // Six paths and more documents: most lie in folders of their own.
                source: if number < 3 {
                    path.to_owned()
                } else {
                    path.replacen('/', &format!("/{number}/"), 1) + "x"
                },
                tags: tags.into_iter().map(str::to_owned).collect(),
                date: date.map(str::to_owned),
                updated: updated.map(str::to_owned),
                chunks,
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_left_is_what_every_condition_admits(
        documents in documents(),
        filters in prop::collection::vec(filters(), 8),
        seed in any::<u64>(),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let removed: Vec<usize> = removed.iter().map(|index| index.index(documents.len())).collect();
        let index = Index::build(&documents, &removed, Numbers(seed));
        let lexical = &index.lexical;
        for filter in filters {
            let selection = lexical.select(&filter, &Stop::never()).expect("selected");
            let left = left_by_brute_force(lexical, &filter);
            prop_assert_eq!(addresses(&selection), left.clone(), "{:?}", filter);
            prop_assert_eq!(selection.chunks(), left.len() as u64);
            prop_assert_eq!(selection.is_empty(), left.is_empty());
            let sources: std::collections::BTreeSet<String> =
                left.iter().map(|&address| lexical.record(address).expect("read").source).collect();
            prop_assert_eq!(lexical.documents_in(&selection).expect("counted"), sources.len() as u64);
            for text in ["word1 word2", "word3", "docs", "word0 word4 word9 nowhere"] {
                let query = lexical.query(text);
                for k in [1, 3, 50] {
                    let found = lexical.search_in(&query, k, Some(&selection), &Stop::never()).expect("searched");
                    prop_assert_eq!(found, by_brute_force(lexical, &query, k, &selection), "{:?}", filter);
                }
            }
        }
    }
}

/// Five chunks of two hundred thousand, in the midst of others that answer better.
#[test]
fn five_of_two_hundred_thousand_are_found_by_both_legs() {
    let document = |number: u32| Document {
        source: format!("part-{}/{number}.md", number / 100),
        tags: vec![if number % 40_001 == 7 { "rare".to_owned() } else { format!("tag{}", number % 50) }],
        date: Some(format!("20{:02}-{:02}-{:02}", number % 25, number % 12 + 1, number % 28 + 1)),
        updated: None,
        chunks: 1,
    };
    let documents: Vec<Document> = (0..200_000).map(document).collect();
    let index = Index::build(&documents, &[], Numbers(5));
    let lexical = &index.lexical;
    let rare = documents.iter().filter(|document| document.tags == ["rare"]);
    let by_path =
        Paths::new(&rare.map(|document| document.source.as_str()).collect::<Vec<_>>()).expect("globs");
    let vectors = vectors_of(lexical, 64);
    let wanted = (0..64).map(|number| if number == 3 { 1.0 } else { 0.01 }).collect::<Vec<f32>>();
    let tie = |address| lexical.tie(address);
    for filter in [
        Filter { tags_any: vec![Tag::new("rare")], ..Filter::default() },
        Filter { paths: by_path, ..Filter::default() },
    ] {
        let selection = lexical.select(&filter, &Stop::never()).expect("selected");
        assert_eq!(addresses(&selection), left_by_brute_force(lexical, &filter));
        assert_eq!((selection.chunks(), lexical.documents_in(&selection).expect("counted")), (5, 5));
        // Nearly every chunk has one of these words.
        let query = lexical.query("word0 word1 word2 word3 word4 word5");
        let found = lexical.search_in(&query, 5, Some(&selection), &Stop::never()).expect("searched");
        assert_eq!(found, by_brute_force(lexical, &query, 5, &selection));
        assert_eq!(found.len(), 5);

        let among: Vec<_> = vectors.iter().zip(selection.segments()).collect();
        let among: Vec<_> =
            among.into_iter().map(|(vectors, rows)| (vectors, Some(Among::Selected(rows)))).collect();
        let found = scan(&among, &wanted, 5, &tie, &Stop::never()).expect("scanned");
        let all: Vec<_> = vectors.iter().map(|vectors| (vectors, None)).collect();
        let mut expected = scan(&all, &wanted, 200_000, &tie, &Stop::never()).expect("scanned");
        expected.retain(|(address, _)| selection.rows(address.segment_ord).contains(address.doc_id));
        assert_eq!((found.len(), found), (5, expected));
    }
}
