//! A query is its plain words, whatever it looks like.

use tests::World;

fn world() -> World {
    let world = World::with_hashing_model();
    world.write(
        "cpp.md",
        "# Notes on C++\n\nThe C++ compiler writes `a^2` as a*a and never as a field:value pair.\n",
    );
    world.write("logic.md", "# Logic\n\nAND binds tighter than OR, and NOT binds tightest of all.\n");
    world.write("web.md", "# Links\n\nThe manual is at https://example.com/manual?page=2 for now.\n");
    world.ingest();
    world
}

#[test]
fn operators_quotes_and_punctuation_are_plain_words() {
    let world = world();
    for (query, source) in [
        ("\"the C++ compiler", "cpp.md"),
        ("C++", "cpp.md"),
        ("a^2 compiler", "cpp.md"),
        ("field:value", "cpp.md"),
        ("AND OR NOT", "logic.md"),
        ("-tighter", "logic.md"),
        ("binds tight*", "logic.md"),
        ("https://example.com/manual?page=2", "web.md"),
        ("(((links", "web.md"),
    ] {
        let answer = world.search(&["--mode", "bm25", "--", query]);
        assert_eq!(answer["hits"][0]["citation"]["source"], source, "{query}: {answer:#}");
    }
}

#[test]
fn punctuation_alone_finds_nothing_and_is_no_error() {
    let world = world();
    for query in ["?!", "*", "\"", "^~^", "...", "()[]{}"] {
        let answer = world.search(&["--mode", "bm25", "--", query]);
        assert_eq!(answer["hits"].as_array().map(Vec::len), Some(0), "{query}: {answer:#}");
        world.search(&["--", query]);
    }
}

#[test]
fn queries_out_of_bounds_are_refused_by_name() {
    let world = world();
    for query in [String::new(), " \t ".to_owned(), "x".repeat(4097)] {
        let run = world.footnote(["search", "--json", "--collection", "docs", "--", &query]);
        assert_eq!(run.code, 2, "{run}");
        assert!(run.stderr.contains("invalid_argument") && run.stderr.contains("query"), "{run}");
    }
    world.search(&["--", &"x".repeat(4096)]);
    world.search(&["--", &"\u{1F600}".repeat(4096)]);
}

#[test]
fn a_nul_is_refused() {
    let run = world().footnote_with_input(&["search", "--json", "--collection", "docs", "-"], b"a\0b");
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("query"), "{run}");
}
