//! What is refused, and that every refusal has the same form.

use http::Request;
use serde_json::{Value, json};
use tests::http::{Answer, ask, empty, get, post, post_bytes, raw, status};
use tests::{Gateway, World};

use super::served;

/// Checks the form of a refusal and returns it.
fn refused(answer: &Answer, http: u16, code: &str) -> Value {
    assert_eq!(answer.status, http, "{answer}");
    assert_eq!(answer.header("content-type"), "application/problem+json", "{answer}");
    assert_eq!(answer.header("content-encoding"), "", "{answer}");
    let problem = answer.json();
    assert_eq!(problem["code"], code, "{answer}");
    assert_eq!(problem["status"], http, "{answer}");
    assert_eq!(problem["type"], "about:blank");
    for name in ["title", "detail", "action"] {
        assert!(problem[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {answer}");
    }
    assert_eq!(problem["request_id"], answer.header("x-request-id"), "{answer}");
    assert!(!answer.text().contains("`footnote "), "no shell commands: {answer}");
    problem
}

#[test]
fn fields_are_refused_by_name_wherever_they_stand() {
    let (_world, rest) = served();
    let zeros = "0".repeat(32);
    let chunk = format!("/v1/collections/docs/chunks/{zeros}");
    for (request, field, detail) in [
        (empty(get("/v1/collections?page_size=0")), "page_size", "from 1 to 100"),
        (empty(get("/v1/collections?page_size=many")), "page_size", "from 1 to 100"),
        (empty(get("/v1/collections?page_size=5&page_size=6")), "page_size", "more than once"),
        (empty(get("/v1/collections?pagesize=5")), "pagesize", "did you mean `page_size`?"),
        (empty(get("/v1/collections?page_token=%00")), "page_token", "NUL"),
        (empty(get("/v1/collections?page_token=%ff")), "page_token", "percent-encoded UTF-8"),
        (empty(get("/v1/collections?page_token=%zz")), "page_token", "percent-encoded UTF-8"),
        (empty(get("/v1/collections?page_token=")), "page_token", "1 to 256 characters"),
        (empty(get("/v1/collections/docs?collection=docs")), "collection", "in the path"),
        (empty(get("/v1/collections/..%2fetc")), "collection", "a collection's name"),
        (empty(get("/v1/collections/%00")), "collection", "NUL"),
        (empty(get("/v1/collections/docs/chunks/short")), "chunk_id", "32 lower-case hex digits"),
        (empty(get(&format!("{chunk}?footnote=x"))), "footnote", "a footnote"),
        (post("/v1/search", &json!({"query": "x", "top_k": 51})), "top_k", "from 1 to 50"),
        (post("/v1/search", &json!({"query": "x", "topk": 5})), "topk", "did you mean `top_k`?"),
        (post("/v1/search", &json!({"query": "x", "top_k": "5"})), "top_k", "from 1 to 50"),
        (post("/v1/search", &json!({"query": "a\0b"})), "query", "NUL"),
        (post("/v1/search", &json!({"query": "x".repeat(4097)})), "query", "1 to 4096"),
        (post("/v1/search", &json!({"query": " "})), "query", "1 to 4096"),
        (post("/v1/search", &json!({"query": null})), "query", "1 to 4096"),
        (post_bytes("/v1/search", r#"{"query": "a", "query": "b"}"#), "query", "more than once"),
        (post("/v1/search?top_k=5", &json!({"query": "x"})), "top_k", "in the query"),
        (post("/v1/fetch", &json!({})), "chunk_id", "exactly one of"),
    ] {
        let asked = format!("{} {}", request.method(), request.uri());
        let problem = refused(&ask(rest.address, request), 400, "invalid_argument");
        assert_eq!(problem["field"], field, "{asked}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{asked}: {problem}");
    }
}

#[test]
fn what_is_no_request_is_refused_with_what_is_wrong() {
    let (_world, rest) = served();
    for (request, detail) in [
        (post_bytes("/v1/search", ""), "not JSON"),
        (post_bytes("/v1/search", "{\"query\": \"x\""), "line 1 column 13"),
        (post_bytes("/v1/search", &b"{\"query\": \"\xff\"}"[..]), "not JSON"),
        (post_bytes("/v1/search", "{\"query\": \"\\ud800\"}"), "not JSON"),
        (post_bytes("/v1/search", "[".repeat(100_000)), "not JSON"),
        (post("/v1/search", &json!(["x"])), "must be a JSON object"),
        (post("/v1/search", &json!("x")), "must be a JSON object"),
        (empty(get("/v1/collections/%ff")), "percent-encoded UTF-8"),
        (empty(get("/v1/collections/%zz")), "percent-encoded UTF-8"),
        (empty(get("/v1/collections?%ff=1")), "percent-encoded UTF-8"),
    ] {
        let problem = refused(&ask(rest.address, request), 400, "invalid_argument");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
    }
}

#[test]
fn http_itself_is_refused_in_the_same_form() {
    let (_world, rest) = served();
    let post_as = |kind: &str| {
        let request = Request::post("/v1/search").header("content-type", kind);
        request.body(r#"{"query": "x"}"#.into()).unwrap()
    };
    let untyped = Request::post("/v1/search").body(r#"{"query": "x"}"#.into()).unwrap();
    let accepting = |accept: &str| empty(get("/v1/collections").header("accept", accept));
    for (request, http, code) in [
        (empty(get("/")), 404, "not_found"),
        (empty(get("/v1")), 404, "not_found"),
        (empty(get("/v1/collections/")), 404, "not_found"),
        (empty(get("/v1/collections/docs/chunks/a/b")), 404, "not_found"),
        (empty(get("/v1/../openapi.json")), 404, "not_found"),
        (post("/nowhere", &json!({})), 404, "not_found"),
        (empty(get("/v1/collections/nope")), 404, "collection_not_found"),
        (empty(get(&format!("/v1/collections/docs/chunks/{}", "0".repeat(32)))), 404, "chunk_not_found"),
        (accepting("text/html"), 406, "not_acceptable"),
        (accepting("application/json;q=0, */*"), 406, "not_acceptable"),
        (empty(get("/v1/collections").header("accept-encoding", "identity;q=0, br")), 406, "not_acceptable"),
        (post_bytes("/v1/search", vec![b' '; 2 * 1024 * 1024]), 413, "too_large"),
        (post_as("text/plain"), 415, "unsupported_media_type"),
        (post_as("application/json; charset=latin1"), 415, "unsupported_media_type"),
        (untyped, 415, "unsupported_media_type"),
    ] {
        let asked = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
        println!("{asked}");
        refused(&ask(rest.address, request), http, code);
    }
    for kind in ["application/json", "Application/JSON; charset=UTF-8"] {
        assert_eq!(ask(rest.address, post_as(kind)).status, 200, "{kind}");
    }
}

#[test]
fn a_method_that_is_not_answered_is_refused_with_those_that_are() {
    let (_world, rest) = served();
    for (method, target, allowed) in [
        ("GET", "/v1/search", "POST, OPTIONS"),
        ("HEAD", "/v1/search", "POST, OPTIONS"),
        ("DELETE", "/v1/collections/docs", "GET, HEAD, OPTIONS"),
        ("PUT", "/v1/collections", "GET, HEAD, OPTIONS"),
        ("PATCH", "/openapi.json", "GET, HEAD, OPTIONS"),
        ("TRACE", "/v1/collections", "GET, HEAD, OPTIONS"),
        ("BREW", "/v1/fetch", "POST, OPTIONS"),
    ] {
        let request = get(target).method(method).header("content-type", "application/json");
        let answer = ask(rest.address, empty(request));
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, allowed), "{method} {target}");
        if method != "HEAD" {
            refused(&answer, 405, "method_not_allowed");
        }
    }
}

#[test]
fn the_longest_question_is_answered_and_hostile_ones_do_no_harm() {
    let (_world, rest) = served();
    for query in ["é".repeat(4096), "\u{1f980}".repeat(4096), "\" OR 1=1 -- \u{202e}\r\nx: y".to_owned()] {
        let answer = ask(rest.address, post("/v1/search", &json!({"query": query})));
        assert_eq!(answer.status, 200, "{answer}");
    }
    let long = format!("/v1/collections?page_token={}", "%F0%9F%A6%80".repeat(256));
    refused(&ask(rest.address, empty(get(&long))), 400, "invalid_argument");
    still_answers(&rest);
}

#[test]
fn bytes_that_are_no_http_end_their_own_connection_only() {
    let (_world, rest) = served();
    let host = rest.address;
    for bytes in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        format!("GET /v1/collections/\0 HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(),
        format!("GET /v1/collections HTTP/1.1\r\nHost: {host}\r\nX: \0\r\n\r\n").into_bytes(),
        format!(
            "POST /v1/search HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345"
        )
        .into_bytes(),
        [format!("GET /v1/{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "x".repeat(100_000)).into_bytes()].concat(),
    ] {
        let answer = raw(rest.address, &bytes);
        assert!(
            answer.is_empty() || status(&answer).is_some_and(|status| (400..500).contains(&status)),
            "{answer:?}"
        );
    }
    still_answers(&rest);
}

fn still_answers(rest: &Gateway) {
    assert_eq!(ask(rest.address, empty(get("/v1/collections/docs"))).status, 200);
}

#[test]
fn a_door_that_is_shut_says_so_in_the_same_form() {
    let world = World::new();
    let rest = world.start_rest(&[]);
    let named = |host: &str| empty(get("/v1/collections").header("host", host));
    refused(&ask(rest.address, named("evil.example")), 421, "host_not_allowed");
    refused(&ask(rest.address, named("a b")), 400, "bad_host");
    let from = get("/v1/collections").header("origin", "https://evil.example");
    refused(&ask(rest.address, empty(from)), 403, "origin_not_allowed");
    let bearer = get("/v1/collections").header("authorization", "Bearer x");
    refused(&ask(rest.address, empty(bearer)), 401, "unauthenticated");
}
