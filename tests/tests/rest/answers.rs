//! Every route answers what the other surfaces answer, in the form that HTTP wants.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proto::OPERATIONS;
use serde_json::{Value, json};
use tests::http::{Answer, ask, empty, get, post};
use tests::programs::workspace;
use tests::{Gateway, World};

use super::served;

const QUESTION: &str = "drain stuck on a volume";

/// What two surfaces may differ in.
fn comparable(mut answer: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| name != "stats" && name != "open_path");
                fields.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    strip(&mut answer);
    answer
}

fn ok(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(!answer.header("x-request-id").is_empty(), "{answer}");
    comparable(answer.json())
}

#[test]
fn every_route_answers_as_the_command_line_does() {
    let (world, rest) = served();
    let cli = |arguments: &[&str]| comparable(world.footnote(arguments).json());

    let found = ok(&ask(rest.address, post("/v1/search", &json!({"query": QUESTION, "collection": "docs"}))));
    assert_eq!(found, cli(&["search", "--json", "--collection", "docs", QUESTION]));

    let hit = &found["hits"][0];
    let (id, footnote) = (hit["chunk_id"].as_str().unwrap(), hit["footnote"].as_str().unwrap());
    let fetched = cli(&["fetch", "--json", "--collection", "docs", id]);
    assert_eq!(fetched["chunk"]["verdict"], "verified");
    let by_address = get(&format!("/v1/collections/docs/chunks/{id}"));
    assert_eq!(ok(&ask(rest.address, empty(by_address))), fetched);
    assert_eq!(ok(&ask(rest.address, post("/v1/fetch", &json!({"chunk_id": id})))), fetched);
    assert_eq!(ok(&ask(rest.address, post("/v1/fetch", &json!({"footnote": footnote})))), fetched);

    let listed = ok(&ask(rest.address, empty(get("/v1/collections?page_size=5"))));
    assert_eq!(listed, cli(&["collections", "--json", "--page-size", "5"]));
    let status = ok(&ask(rest.address, empty(get("/v1/collections/docs"))));
    assert_eq!(status, cli(&["status", "--json", "docs"]));
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let (_world, rest) = served();
    for target in ["/v1/collections", "/v1/collections/docs", "/v1/collections/nope", "/openapi.json"] {
        for encoding in ["identity", "gzip"] {
            let request = |method| {
                get(target).method(method).header("accept-encoding", encoding).header("x-request-id", "same")
            };
            let got = ask(rest.address, empty(request("GET")));
            let head = ask(rest.address, empty(request("HEAD")));
            assert!(head.body.is_empty(), "{target}");
            assert_eq!(head.status, got.status);
            let comparable = |answer: &Answer| {
                let mut headers = answer.headers.clone();
                headers.remove("date");
                headers.remove("transfer-encoding");
                headers
            };
            assert_eq!(comparable(&head), comparable(&got), "{target} {encoding}");
        }
    }
}

#[test]
fn options_names_the_methods_of_every_route() {
    let (_world, rest) = served();
    let routes = OPERATIONS.iter().flat_map(|operation| operation.rest).map(|binding| binding.path);
    for target in routes.chain(["/openapi.json"]) {
        let target = target.replace("{collection}", "docs").replace("{chunk_id}", "x");
        let answer = ask(rest.address, empty(get(&target).method("OPTIONS")));
        assert_eq!(answer.status, 204, "{answer}");
        let allowed: Vec<_> = answer.header("allow").split(", ").collect();
        for method in ["GET", "HEAD", "POST"] {
            let request = get(&target).method(method).header("content-type", "application/json");
            let is_answered = ask(rest.address, empty(request)).status != 405;
            assert_eq!(allowed.contains(&method), is_answered, "{method} {target}");
        }
    }
}

#[test]
fn the_description_is_the_committed_one() {
    let (_world, rest) = served();
    let answer = ask(rest.address, empty(get("/openapi.json")));
    let committed = fs::read_to_string(workspace().join("docs/openapi.json")).unwrap();
    assert_eq!(answer.json(), serde_json::from_str::<Value>(&committed).unwrap());
}

#[test]
fn behind_a_public_url_with_a_path_all_routes_stand_beneath_it() {
    let (world, _) = served();
    let rest = world.start_rest(&["--public-url", "https://example.com/search/"]);
    let named = |target: &str| ask(rest.address, empty(get(target).header("host", "example.com")));
    assert_eq!(named("/search/v1/collections").status, 200);
    assert_eq!(named("/v1/collections").status, 200, "a proxy may take the path off");
    for outside in ["/other/v1/collections", "/search/search/v1/collections", "/searchv1/collections"] {
        assert_eq!(named(outside).json()["code"], "not_found", "{outside}");
    }
    let description = named("/search/openapi.json").json();
    assert_eq!(description["servers"], json!([{"url": "https://example.com/search"}]));
    assert!(description["paths"].get("/v1/search").is_some());
}

#[test]
fn the_gateways_own_collection_is_asked_where_none_is_named() {
    let mut world = World::new();
    for (collection, text) in [("docs", "Cordon the node first."), ("other", "Bake the bread.")] {
        let folder = world.home().join(collection);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.md"), text).unwrap();
        let run = world.footnote(["ingest", folder.to_str().unwrap(), "--collection", collection]);
        assert_eq!(run.code, 0, "{run}");
    }
    world.start_daemon(&[]);
    let question = json!({"query": "bread"});
    let nameless = world.start_rest(&[]);
    let refused = ask(nameless.address, post("/v1/search", &question));
    assert_eq!(
        (refused.status.as_u16(), refused.json()["field"].as_str()),
        (400, Some("collection")),
        "{refused}"
    );
    let rest = world.start_rest(&["--collection", "other"]);
    let answer = ok(&ask(rest.address, post("/v1/search", &question)));
    assert_eq!(answer["collection"], "other");
    let footnote = answer["hits"][0]["footnote"].as_str().unwrap().to_owned();
    let elsewhere = world.start_rest(&["--collection", "docs"]);
    let fetched = ok(&ask(elsewhere.address, post("/v1/fetch", &json!({"footnote": footnote}))));
    assert_eq!(fetched["collection"], "other", "a footnote names its own");
}

#[test]
fn long_answers_are_compressed_for_those_who_take_it() {
    let (_world, rest) = served();
    let encoded = |target: &str, encoding: &str| {
        ask(rest.address, empty(get(target).header("accept-encoding", encoding)))
    };
    let plain = encoded("/openapi.json", "identity");
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "accept, accept-encoding"));

    let gzip = encoded("/openapi.json", "gzip");
    assert_eq!((gzip.header("content-encoding"), gzip.header("vary")), ("gzip", "accept, accept-encoding"));
    assert_eq!(gzip.header("etag"), plain.header("etag"), "a weak tag is of all encodings");
    assert_eq!(gunzip(&gzip.body), plain.body);
    let zstd = encoded("/openapi.json", "gzip, zstd");
    assert_eq!(zstd.header("content-encoding"), "zstd");
    assert!(zstd.body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) && zstd.body.len() < plain.body.len() / 2);

    for (target, encoding) in
        [("/v1/collections", "gzip"), ("/nowhere", "gzip"), ("/openapi.json", "gzip;q=0, br")]
    {
        assert_eq!(encoded(target, encoding).header("content-encoding"), "", "{target} {encoding}");
    }
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip =
        Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = gzip.stdin.take().unwrap();
    let bytes = bytes.to_owned();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = gzip.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn the_request_id_of_the_caller_reaches_the_daemon() {
    let (_world, rest): (World, Gateway) = served();
    let answer = ask(rest.address, empty(get("/v1/collections/nope").header("x-request-id", "mine-7")));
    assert_eq!(
        (answer.header("x-request-id"), answer.json()["request_id"].as_str()),
        ("mine-7", Some("mine-7"))
    );
    assert!(rest.log().contains("mine-7"), "{}", rest.log());
}
