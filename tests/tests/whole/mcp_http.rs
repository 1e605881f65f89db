//! `footnote-mcp http` as clients of every revision meet it, and as those do that get it wrong.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use http::StatusCode;
use serde_json::{Value, json};
use tests::documents::RUNBOOK;
use tests::http::{Answer, ask, empty, get, post_bytes};
use tests::mcp::{LEGACY, SlowDaemon, call, initialize, modern, notification, post, request, text};
use tests::{Gateway, World};

fn ingested() -> World {
    let mut world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.start_daemon(&[]);
    world
}

fn front(world: &World) -> Gateway {
    Gateway::start(world, "footnote-mcp", &["http"])
}

fn send(front: &Gateway, message: &Value) -> Answer {
    ask(front.address, post(message))
}

fn search(id: u32) -> Value {
    call(id, "search", &json!({"query": "drain stuck on a volume"}))
}

#[test]
fn every_revision_is_spoken_without_a_session() {
    let world = ingested();
    let front = front(&world);
    for version in LEGACY {
        let answer = send(&front, &initialize(1, version));
        assert_eq!(answer.json()["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer.header("mcp-session-id"), "");
        assert_eq!(answer.header("content-type"), "application/json");
        let answer = send(&front, &notification("notifications/initialized", &json!({})));
        assert_eq!((answer.status, answer.body.len()), (StatusCode::ACCEPTED, 0));
        let mut list = post(&request(2, "tools/list", &json!({})));
        list.headers_mut().insert("mcp-protocol-version", version.parse().unwrap());
        list.headers_mut().insert("mcp-session-id", "made-up".parse().unwrap());
        let answer = ask(front.address, list);
        assert_eq!(answer.json()["result"]["tools"].as_array().unwrap().len(), 4, "{answer}");
        assert!(answer.json()["result"].get("resultType").is_none());
    }
    let answer = send(&front, &search(3)).json();
    assert_eq!(answer["result"]["structuredContent"]["hits"][0]["verdict"], "verified", "{answer:#}");
    assert!(answer["result"]["structuredContent"]["hits"][0]["citation"].get("open_path").is_none());

    for message in
        [request(4, "server/discover", &json!({})), request(4, "tools/list", &json!({})), search(4)]
    {
        let answer = send(&front, &modern(message));
        assert_eq!(answer.status, 200, "{answer}");
        let result = &answer.json()["result"];
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "footnote");
        assert_eq!(
            result["ttlMs"].is_u64(),
            result.get("content").is_none(),
            "lists may be kept, answers not"
        );
    }
}

#[test]
fn the_newest_revision_is_held_to_its_headers() {
    let world = World::new();
    let front = front(&world);
    let refused = |request, status: u16, code: i32| {
        let answer = ask(front.address, request);
        let json = answer.json();
        assert_eq!((answer.status.as_u16(), &json["error"]["code"]), (status, &json!(code)), "{answer}");
        assert_eq!(json["id"], 1, "{answer}");
    };
    let asked = modern(search(1));
    for (name, value) in
        [("mcp-method", "tools/list"), ("mcp-name", "fetch_chunk"), ("mcp-protocol-version", "2025-11-25")]
    {
        let mut wrong = post(&asked);
        wrong.headers_mut().insert(name, value.parse().unwrap());
        refused(wrong, 400, -32020);
        let mut without = post(&asked);
        without.headers_mut().remove(name);
        refused(without, 400, -32020);
    }
    let mut twice = post(&asked);
    twice.headers_mut().append("mcp-method", "tools/list".parse().unwrap());
    refused(twice, 400, -32020);

    let mut unknown = asked.clone();
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    refused(post(&unknown), 400, -32022);
    let mut incomplete = asked.clone();
    incomplete["params"]["_meta"]
        .as_object_mut()
        .unwrap()
        .remove("io.modelcontextprotocol/clientCapabilities");
    refused(post(&incomplete), 400, -32602);
    for method in [
        "no/such",
        "ping",
        "initialize",
        "resources/list",
        "prompts/list",
        "logging/setLevel",
        "completion/complete",
    ] {
        refused(post(&modern(request(1, method, &json!({})))), 404, -32601);
    }
    let mut legacy = post(&search(1));
    legacy.headers_mut().insert("mcp-protocol-version", "2099-01-01".parse().unwrap());
    refused(legacy, 400, -32022);
}

#[test]
fn an_older_client_hears_of_unknown_things_in_the_body() {
    let world = World::new();
    let front = front(&world);
    for (message, code) in [
        (request(1, "no/such", &json!({})), -32601),
        (request(1, "resources/list", &json!({})), -32601),
        (request(1, "tools/list", &json!({"cursor": "a"})), -32602),
        (call(1, "rm", &json!({})), -32602),
        (request(1, "tools/call", &json!({"name": 5})), -32602),
    ] {
        let answer = send(&front, &message);
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]["code"]),
            (200, &json!(code)),
            "{answer}"
        );
    }
}

#[test]
fn only_post_is_allowed_and_only_at_one_path() {
    let world = World::new();
    let front = front(&world);
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"] {
        let asked = get("/mcp").method(method).header("accept", "text/event-stream");
        let answer = ask(front.address, empty(asked));
        assert_eq!(
            (answer.status, answer.header("allow")),
            (StatusCode::METHOD_NOT_ALLOWED, "POST"),
            "{method}"
        );
        if method != "HEAD" {
            assert_eq!(answer.json()["error"]["data"]["code"], "method_not_allowed", "{method}");
            assert!(answer.json().get("id").is_none());
        }
    }
    for path in ["/", "/mcp/", "/mcp/x", "/sse", "/.well-known/oauth-protected-resource", "/metrics"] {
        let answer = ask(front.address, empty(get(path)));
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.json()["error"]["data"]["code"], "not_found", "{path}");
    }
}

#[test]
fn what_is_no_message_is_answered_in_json_rpc() {
    let world = World::new();
    let front = front(&world);
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"", -32700),
        (b"\xff", -32700),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"1.0","method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
    ] {
        let answer = ask(front.address, post_bytes("/mcp", body));
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]["code"]),
            (400, &json!(code)),
            "{answer}"
        );
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let mut form = post(&search(1));
    form.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    let answer = ask(front.address, form);
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["data"]["code"]),
        (415, &json!("unsupported_media_type"))
    );
    let answer = ask(front.address, post_bytes("/mcp", vec![b' '; 1024 * 1024 + 1]));
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]["data"]["code"]), (413, &json!("too_large")));
}

#[test]
fn a_client_gets_what_it_accepts() {
    let world = World::new();
    let front = front(&world);
    let accepting = |accept: &str| {
        let mut request = post(&request(1, "ping", &json!({})));
        request.headers_mut().insert("accept", accept.parse().unwrap());
        ask(front.address, request)
    };
    for accept in ["application/json", "*/*", "application/json, text/event-stream"] {
        assert_eq!(accepting(accept).json()["result"], json!({}), "{accept}");
    }
    let answer = accepting("text/event-stream");
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let data = answer.text();
    let data = data.strip_prefix("event: message\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
    assert_eq!(serde_json::from_str::<Value>(data).unwrap()["result"], json!({}));
    let answer = accepting("text/html");
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["data"]["code"]),
        (406, &json!("not_acceptable"))
    );
}

#[test]
fn one_who_is_not_here_is_told_nothing_of_this_host() {
    let world = World::new();
    let front = front(&world);
    let answer = send(&front, &modern(search(1)));
    assert_eq!(answer.status, 200, "a tool's failure is a result");
    let result = &answer.json()["result"];
    assert_eq!(result["isError"], true);
    let failure = &result["_meta"]["footnote/failure"];
    assert_eq!(failure["code"], "core_unavailable");
    assert_eq!(failure["request_id"], answer.header("x-request-id"), "{answer}");
    assert!(
        !answer.text().contains("`footnote ") && !answer.text().contains(world.home().to_str().unwrap()),
        "{answer}"
    );
    assert!(!world.socket().exists(), "a gateway starts no daemon");
    assert!(text(&answer.json()).starts_with("core_unavailable: "));
}

#[test]
fn a_collection_that_the_front_names_is_asked() {
    let world = ingested();
    let other = world.home().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("a.md"), "# Other\n\nAnother text.\n").unwrap();
    assert_eq!(
        world.footnote(["ingest", other.to_str().unwrap(), "--collection", "other", "--json"]).code,
        0
    );
    let unnamed = front(&world);
    let answer = send(&unnamed, &search(1)).json();
    assert_eq!(answer["result"]["_meta"]["footnote/failure"]["code"], "invalid_argument", "{answer:#}");
    let front = Gateway::start(&world, "footnote-mcp", &["http", "--collection", "docs"]);
    let answer = send(&front, &search(1)).json();
    assert_eq!(answer["result"]["structuredContent"]["collection"], "docs", "{answer:#}");
}

#[test]
fn a_client_that_leaves_takes_its_question_back() {
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let daemon = SlowDaemon::start(&world);
    let front = front(&world);
    for message in [search(1), modern(search(2))] {
        let before = daemon.finished().len();
        let (head, _) = post(&message).into_parts();
        let mut stream = TcpStream::connect(front.address).unwrap();
        write!(stream, "POST /mcp HTTP/1.1\r\nhost: {}\r\n", front.address).unwrap();
        for (name, value) in &head.headers {
            write!(stream, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
        }
        let body = message.to_string();
        write!(stream, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        daemon.holds_a_question();
        // A second question is answered meanwhile.
        assert_eq!(send(&front, &call(9, "list_collections", &json!({}))).status, 200);
        drop(stream);
        let line = tests::wait::until(20, "the question's end", || {
            daemon.finished().into_iter().skip(before).find(|line| line["code"] == "cancelled")
        });
        assert_eq!(line["surface"], "mcp");
    }
}

#[test]
fn keep_alive_serves_many_messages() {
    let world = World::new();
    let front = front(&world);
    let mut stream = TcpStream::connect(front.address).unwrap();
    for id in 0..20 {
        let body = request(id, "tools/list", &json!({})).to_string();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {}\r\naccept: */*\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            front.address,
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        let mut chunk = [0; 16 * 1024];
        while !String::from_utf8_lossy(&answer).contains(&format!(r#""id":{id},"#)) || !answer.ends_with(b"}")
        {
            let read = stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&chunk[..read]);
        }
    }
}
