//! `docs/openapi.json` and `docs/rest.md` are made from the contract. `BLESS=1` rewrites them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proto::code::FAILURES;
use proto::operations::{Method, RestBinding};
use proto::{OPERATIONS, Operation};
use rest_gateway::openapi::description;
use serde_json::Value;

#[test]
fn the_description_is_current() {
    let description = serde_json::to_string_pretty(&description(&[])).unwrap();
    is_current("openapi.json", &format!("{description}\n"));
}

#[test]
fn the_page_is_current() {
    is_current("rest.md", &page());
}

fn is_current(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == made, "docs/{name} is stale; run this test with BLESS=1");
}

const OPENING: &str = "\
<!-- Rendered from the contract by rest-gateway/tests/documents.rs; BLESS=1 rewrites it. -->
# REST

`footnote-rest` answers the four operations over HTTP and JSON, by default at `http://127.0.0.1:7412`. What the fields
mean and what an answer holds stands in the [reference](reference.md); the same for programs stands in
[`openapi.json`](openapi.json), which the gateway serves at `/openapi.json`.

```sh
footnote up                       # a gateway asks the daemon and never starts it
footnote-rest &
curl -s http://127.0.0.1:7412/v1/collections
curl -s http://127.0.0.1:7412/v1/search -H 'Content-Type: application/json' -d '{\"query\": \"how do I drain a node\"}'
```

- **Fields.** Of a `GET` they stand in the path and in the query string, of a `POST` in a JSON object. One that is
  unknown, repeated, or out of its bounds is refused by name, in the same words as on every other surface.
- **Failures.** Whatever fails is `application/problem+json` (RFC 9457): `code` says which failure it is, `detail` what
  happened, `action` what to do now, `request_id` where the log says more. `Retry-After` says when to ask again.
- **Asking again.** A `GET` has a weak `ETag`, made of the answer after its text was checked against the sources. With
  `If-None-Match`, a 304 says that the answer is still the same, and so that the sources are; an edited source never
  gets one.
- **Patience.** `Prefer: wait=5` waits five seconds at most; the gateway's own `--timeout` is the limit.
- **Encodings.** Answers above 1 KiB come in `zstd` or `gzip` where the caller takes them.
- **Behind a proxy.** `--public-url https://example.com/search` answers to that name alone, and beneath `/search` whether the
  proxy takes that path off or not.
";

fn page() -> String {
    let mut page = OPENING.to_owned();
    page += "\n## Routes\n\n| route | operation | in the path | else |\n|---|---|---|---|\n";
    let description = description(&[]);
    for operation in OPERATIONS {
        for binding in operation.rest {
            page += &route(operation, *binding, &description["paths"][binding.path]);
        }
    }
    page += "| `GET /openapi.json` | these routes, for programs | | |\n";
    page += "\n`HEAD` is answered wherever `GET` is, and `OPTIONS` everywhere, with the methods that there are.\n";
    page += "\n## Failures\n\n| status | code | it means | what to do |\n|---|---|---|---|\n";
    let mut rows: Vec<_> = FAILURES.iter().collect();
    rows.sort_by_key(|row| row.http);
    for row in rows {
        writeln!(page, "| {} | `{}` | {} | {} |", row.http, row.word, row.message, row.remote).unwrap();
    }
    page
}

fn route(operation: &Operation, binding: RestBinding, described: &Value) -> String {
    let (method, path, rest) = match binding.method {
        Method::Get => {
            let parameters = described["get"]["parameters"].as_array().unwrap();
            let stands_in = |place: &str| named(parameters.iter().filter(|one| one["in"] == place).map(name));
            ("GET", stands_in("path"), stands_in("query"))
        }
        Method::Post => ("POST", String::new(), named(operation.fields.iter().map(|field| field.name))),
    };
    let place = match (binding.method, rest.is_empty()) {
        (_, true) => "",
        (Method::Get, false) => "in the query: ",
        (Method::Post, false) => "in the body: ",
    };
    let operation = operation.name;
    format!(
        "| `{method} {}` | [{operation}](reference.md#{operation}) | {path} | {place}{rest} |\n",
        binding.path
    )
}

fn name(parameter: &Value) -> &str {
    parameter["name"].as_str().unwrap()
}

fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
