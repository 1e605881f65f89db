//! Asking again for what one has already.

use serde_json::json;
use tests::documents::RUNBOOK;
use tests::http::{Answer, ask, empty, get, post};
use tests::{Gateway, World};

use super::served;

fn chunk(rest: &Gateway) -> String {
    let question = json!({"query": "drain stuck on a volume", "collection": "docs"});
    let found = ask(rest.address, post("/v1/search", &question)).json();
    format!("/v1/collections/docs/chunks/{}", found["hits"][0]["chunk_id"].as_str().unwrap())
}

fn again(rest: &Gateway, target: &str, tag: &str) -> Answer {
    ask(rest.address, empty(get(target).header("if-none-match", tag)))
}

#[test]
fn what_is_unchanged_is_not_sent_again() {
    let (_world, rest) = served();
    for target in [&chunk(&rest), "/v1/collections", "/v1/collections/docs", "/openapi.json"] {
        let first = ask(rest.address, empty(get(target)));
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\""), "{first}");
        for known in [tag, tag.trim_start_matches("W/"), &format!("\"a,b\", {tag}"), "*"] {
            let unchanged = again(&rest, target, known);
            assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0), "{target} {known}");
            for name in ["etag", "vary", "cache-control"] {
                assert_eq!(unchanged.header(name), first.header(name), "{target} {name}");
            }
            assert!(!first.header("cache-control").is_empty() && !first.header("vary").is_empty(), "{first}");
        }
        assert_eq!(again(&rest, target, "\"other\"").status, 200, "{target}");
        let head = get(target).method("HEAD").header("if-none-match", tag);
        assert_eq!(ask(rest.address, empty(head)).status, 304, "{target}");
    }
}

#[test]
fn an_edited_source_is_seen_between_two_questions() {
    let (world, rest) = served();
    let target = chunk(&rest);
    let first = ask(rest.address, empty(get(&target)));
    assert_eq!(first.json()["chunk"]["verdict"], "verified");
    edit(&world);
    let drifted = again(&rest, &target, first.header("etag"));
    assert_eq!(drifted.status, 200, "{drifted}");
    assert_eq!(drifted.json()["chunk"]["verdict"], "drifted");
    assert_ne!(drifted.header("etag"), first.header("etag"));
    assert_eq!(again(&rest, &target, drifted.header("etag")).status, 304, "it is still the same edit");
    world.write("runbook.md", RUNBOOK);
    let back = ask(rest.address, empty(get(&target)));
    assert_eq!(back.header("etag"), first.header("etag"), "the same answer has the same tag");
}

/// The same length, so that nothing but the text tells.
fn edit(world: &World) {
    world.write("runbook.md", RUNBOOK.replace("stuck on a volume", "stuck on a VOLUME"));
}

#[test]
fn a_failure_is_said_whatever_the_caller_has() {
    let (_world, rest) = served();
    let failed = again(&rest, "/v1/collections/nope", "*");
    assert_eq!((failed.status.as_u16(), failed.header("etag")), (404, ""));
    let question = post("/v1/search", &json!({"query": "drain", "collection": "docs"}));
    let (mut head, body) = question.into_parts();
    head.headers.insert("if-none-match", "*".parse().unwrap());
    let searched = ask(rest.address, http::Request::from_parts(head, body));
    assert_eq!(
        (searched.status.as_u16(), searched.header("etag")),
        (200, ""),
        "only a GET can be asked again"
    );
}
