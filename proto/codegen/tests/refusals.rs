//! A contract that breaks a rule is refused by name. Each case spoils the real contract in one place.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

use codegen::{Error, generate};

/// Generates from the contract with `from` replaced by `to` once, and returns the refusal's words.
fn refusal(from: &str, to: &str) -> String {
    match spoil(from, to) {
        Ok(()) => panic!("accepted {to:?} in place of {from:?}"),
        Err(error) => error.to_string(),
    }
}

fn spoil(from: &str, to: &str) -> Result<(), Error> {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("codegen lies in proto");
    let contract = std::fs::read_to_string(proto.join("footnote/v1/retrieval.proto")).expect("readable");
    assert!(contract.contains(from), "the contract has no {from:?}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let package = folder.path().join("footnote/v1");
    std::fs::create_dir_all(&package).expect("writable");
    std::fs::copy(proto.join("footnote/v1/options.proto"), package.join("options.proto")).expect("writable");
    std::fs::write(package.join("retrieval.proto"), contract.replacen(from, to, 1)).expect("writable");
    generate(folder.path(), "footnote/v1/retrieval.proto").map(drop)
}

#[test]
fn the_contract_as_it_is_passes() {
    assert!(spoil("", "").is_ok());
}

#[test]
fn an_rpc_that_may_change_something_is_refused() {
    let words = "rpc footnote.v1.RetrievalService.Search must say `option idempotency_level = NO_SIDE_EFFECTS;`: \
                 every operation only reads";
    assert_eq!(refusal("    option idempotency_level = NO_SIDE_EFFECTS;\n", ""), words);
    assert_eq!(refusal("NO_SIDE_EFFECTS", "IDEMPOTENT"), words);
}

#[test]
fn what_has_no_comment_is_refused() {
    for (comment, what) in [
        ("  // List the collections that can be asked.\n", "footnote.v1.RetrievalService.ListCollections"),
        ("  // Hits at most.\n", "footnote.v1.SearchRequest.top_k"),
        (
            "  // A weighted mean of both legs' normalised scores, from 0 to 1.\n",
            "footnote.v1.SCORE_SCALE_FUSED",
        ),
        ("// One passage and its standing.\n", "footnote.v1.Hit"),
        ("// How passages are ranked.\n", "footnote.v1.Mode"),
    ] {
        assert_eq!(
            refusal(comment, ""),
            format!("{what} has no comment, and comments are what callers read")
        );
    }
}

#[test]
fn an_rpc_without_its_surfaces_is_refused() {
    for (from, to, words) in [
        ("title: \"Search documents\"", "", "needs a title, a command and at least one REST route"),
        ("method: \"POST\"", "method: \"PUT\"", "has a REST route whose method is neither GET nor POST"),
        (
            "positional: \"query\"",
            "positional: \"text\"",
            "names a positional that is no field of its request",
        ),
        ("chunks/{chunk_id}", "chunks/{id}", "has a REST route with a field that its request does not have"),
        (
            "// Find passages in the user's own documents.",
            "// Find passages, as many as are asked for, in all of the user's own documents there are.",
            "has a first sentence of 80 characters or more",
        ),
        (
            "returns (SearchResponse)",
            "returns (stream SearchResponse)",
            "streams; an operation is one question and one answer",
        ),
    ] {
        assert!(refusal(from, to).ends_with(words), "{to}: {}", refusal(from, to));
    }
}

#[test]
fn fields_that_no_surface_could_ask_for_are_refused() {
    for (from, to, words) in [
        (
            "optional string collection = 2 [(bounds) = {form: \"collection\"}]",
            "string collection = 2",
            "must be either `optional` or bound as required",
        ),
        ("{form: \"collection\"}", "{form: \"name\"}", "has a form that code generation does not know"),
        (
            "{minimum: 1 maximum: 50 default: \"5\"}",
            "{minimum: 1 default: \"5\"}",
            "must have both a minimum and a maximum if it is a number, else neither",
        ),
        (
            "min_length: 1 max_length: 4096 not_blank: true",
            "min_length: 1 not_blank: true",
            "is a string without a greatest length",
        ),
        (
            "min_length: 1 max_length: 4096 not_blank: true",
            "max_length: 4096",
            "is required and may be empty: its absence could not be told from that",
        ),
        (
            "optional bool verify = 6 [(bounds) = {default: \"true\"}]",
            "optional bool verify = 6 [(bounds) = {max_length: 1}]",
            "has bounds of a string and is none",
        ),
        ("optional uint32 top_k", "repeated uint32 top_k", "is a list without a greatest number of items"),
        ("{max_items: 64 ", "{max_items: 0 ", "is a list without a greatest number of items"),
        (
            "{max_items: 64 ",
            "{max_items: 64 default: \"[]\" ",
            "is a list, whose absence cannot be told from its being empty",
        ),
        (
            "optional Filter filter = 7",
            "repeated Filter filter = 7 [(bounds) = {max_items: 2}]",
            "is a list of what no command line can write down",
        ),
        ("optional Filter filter", "Filter filter", "must be either `optional` or bound as required"),
        (
            "{form: \"date\" ",
            "{max_items: 1 form: \"date\" ",
            "has a greatest number of items and is no list",
        ),
        (
            "optional uint32 top_k = 3 [(bounds) = {minimum: 1 maximum: 50 default: \"5\"}]",
            "optional double top_k = 3",
            "is of a kind that code generation does not read in requests yet",
        ),
        (
            "uint32 generation = 2;",
            "uint64 generation = 2;",
            "must be string, bool, uint32, double, an enum or a message: JSON has no 64-bit numbers",
        ),
        (
            "uint32 generation = 2;",
            "uint32 generation = 2 [(bounds) = {minimum: 1}];",
            "has bounds, which only fields of requests have",
        ),
        (
            "repeated string tags = 18;",
            "map<string, string> tags = 18;",
            "is a map, which a closed schema cannot list",
        ),
        ("  MODE_UNSPECIFIED = 0;", "  MODE_ANY = 0;", "is 0, which must be UNSPECIFIED"),
    ] {
        assert!(refusal(from, to).ends_with(words), "{to}: {}", refusal(from, to));
    }
}
