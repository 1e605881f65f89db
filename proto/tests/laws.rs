//! What holds for every row of the table of operations, whatever the contract says.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use proto::field::Kind;
use proto::line::{Absent, Line};
use proto::operations::Method;
use proto::places::SocketPath;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::{Code, Field, OPERATIONS, Operation};
use serde_json::{Value, json};
use tonic::metadata::MetadataMap;

/// What a model reads of all operations before it asks: names, descriptions, schemas of requests. How much of the
/// schemas of answers a `tools/list` holds beside them is the gateway's to say, and to measure.
const ROOM: usize = 4608;

fn input(operation: &Operation) -> Value {
    serde_json::from_str(operation.input_schema).expect("JSON")
}

fn output(operation: &Operation) -> Value {
    serde_json::from_str(operation.output_schema).expect("JSON")
}

/// Every schema within a schema, the root first.
fn schemas(schema: &Value) -> Vec<&Value> {
    let mut all = vec![schema];
    let properties = schema["properties"].as_object().into_iter().flat_map(|properties| properties.values());
    let inner = properties.chain(schema.get("items")).chain(schema.get("additionalProperties"));
    all.extend(inner.filter(|schema| schema.is_object()).flat_map(schemas));
    all
}

#[test]
fn names_commands_and_routes_are_unique() {
    let count = OPERATIONS.len();
    assert_eq!(OPERATIONS.iter().map(|operation| operation.name).collect::<HashSet<_>>().len(), count);
    assert_eq!(OPERATIONS.iter().map(|operation| operation.rpc).collect::<HashSet<_>>().len(), count);
    assert_eq!(OPERATIONS.iter().map(|operation| operation.command).collect::<HashSet<_>>().len(), count);
    let routes: Vec<_> = OPERATIONS
        .iter()
        .flat_map(|operation| operation.rest)
        .map(|binding| (binding.method == Method::Get, binding.path))
        .collect();
    assert_eq!(routes.iter().collect::<HashSet<_>>().len(), routes.len());
}

#[test]
fn summaries_are_short_and_begin_the_description() {
    for operation in OPERATIONS {
        assert!((1..80).contains(&operation.summary.chars().count()), "{}", operation.name);
        assert!(operation.description.starts_with(operation.summary), "{}", operation.name);
        assert!(!operation.title.is_empty(), "{}", operation.name);
    }
}

#[test]
fn every_row_can_be_reached_everywhere() {
    for operation in OPERATIONS {
        assert!(!operation.command.is_empty() && !operation.rest.is_empty(), "{}", operation.name);
        assert!(operation.rest.iter().all(|binding| binding.path.starts_with("/v1/")), "{}", operation.name);
        assert!(Operation::named(operation.name).is_some(), "{}", operation.name);
    }
}

#[test]
fn schemas_are_plain() {
    const KEYWORDS: [&str; 14] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "description",
        "default",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "maxItems",
    ];
    for operation in OPERATIONS {
        for root in [input(operation), output(operation)] {
            assert_eq!(root["type"], "object", "{}", operation.name);
            for schema in schemas(&root) {
                assert!(schema["type"].is_string(), "{}: {schema}", operation.name);
                for keyword in schema.as_object().expect("an object").keys() {
                    assert!(KEYWORDS.contains(&keyword.as_str()), "{}: {keyword}", operation.name);
                }
            }
        }
    }
}

#[test]
fn requests_are_closed_and_answers_may_grow() {
    for operation in OPERATIONS {
        let request = input(operation);
        for object in schemas(&request).into_iter().filter(|schema| schema["type"] == "object") {
            assert_eq!(object["additionalProperties"], false, "{}: {object}", operation.name);
        }
        assert!(
            schemas(&output(operation)).iter().all(|schema| schema["additionalProperties"] != false),
            "{}",
            operation.name
        );
    }
}

#[test]
fn the_schema_and_the_fields_say_the_same() {
    for operation in OPERATIONS {
        says_the_same(&input(operation), operation.fields);
    }
}

fn says_the_same(schema: &Value, fields: &[Field]) {
    let properties = schema["properties"].as_object().expect("an object");
    assert_eq!(properties.len(), fields.len(), "{schema}");
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for field in fields {
        let property = &properties[field.name];
        assert_eq!(property["description"], field.description);
        assert_eq!(required.contains(&json!(field.name)), field.required, "{}", field.name);
        let default = field.default.map(|default| serde_json::from_str(default).expect("JSON"));
        assert_eq!(property.get("default").cloned(), default, "{}", field.name);
        is_of_kind(property, &field.kind);
    }
}

fn is_of_kind(schema: &Value, kind: &Kind) {
    match kind {
        Kind::Text { min_length, max_length, .. } => {
            assert_eq!(schema["type"], "string");
            assert_eq!(schema["minLength"].as_u64().unwrap_or_default(), u64::from(*min_length));
            assert_eq!(schema["maxLength"].as_u64(), max_length.map(u64::from));
        }
        Kind::Number { minimum, maximum } => {
            assert_eq!(schema["type"], "integer");
            assert_eq!((&schema["minimum"], &schema["maximum"]), (&json!(minimum), &json!(maximum)));
        }
        Kind::Switch => assert_eq!(schema["type"], "boolean"),
        Kind::Word(words) => assert_eq!(schema["enum"], json!(words)),
        Kind::List { item, max_items } => {
            assert_eq!((&schema["type"], &schema["maxItems"]), (&json!("array"), &json!(max_items)));
            is_of_kind(&schema["items"], item);
        }
        Kind::Object(fields) => {
            assert_eq!(schema["type"], "object");
            says_the_same(schema, fields);
        }
    }
}

#[test]
fn all_requests_together_are_small() {
    let room = |operation: &Operation| {
        operation.name.len()
            + operation.title.len()
            + operation.description.len()
            + operation.input_schema.len()
    };
    let total: usize = OPERATIONS.iter().map(room).sum();
    println!(
        "names, titles, descriptions and schemas of requests of all operations: {total} bytes of {ROOM}"
    );
    assert!(total <= ROOM, "{total}");
}

#[tokio::test]
async fn what_the_checks_refuse_never_touches_the_socket() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let socket = folder.path().join("nobody-listens.sock");
    let socket = SocketPath::try_from(socket).expect("short");
    let client = RetrievalServiceClient::new(Line::new(socket, Absent::Fail));
    for (name, json, code, field) in [
        ("search", json!({}), Code::InvalidArgument, Some("query")),
        ("search", json!({"query": "q", "top_k": 51}), Code::InvalidArgument, Some("top_k")),
        ("search", json!({"query": "q", "topk": 5}), Code::InvalidArgument, Some("topk")),
        ("search", json!({"query": "q", "filter": {"path": []}}), Code::InvalidArgument, Some("filter.path")),
        (
            "search",
            json!({"query": "q", "filter": {"paths": ["a", ""]}}),
            Code::InvalidArgument,
            Some("filter.paths[1]"),
        ),
        (
            "search",
            json!({"query": "q", "filter": {"until": "2023-02-29"}}),
            Code::InvalidArgument,
            Some("filter.until"),
        ),
        ("search", json!({"query": "q", "filter": {"from": "2024-02-29"}}), Code::CoreUnavailable, None),
        ("search", json!({"query": "q"}), Code::CoreUnavailable, None),
        ("fetch_chunk", json!({}), Code::InvalidArgument, Some("chunk_id")),
        ("fetch_chunk", json!({"chunk_id": "0".repeat(32)}), Code::CoreUnavailable, None),
        ("list_collections", json!({"page_size": 0}), Code::InvalidArgument, Some("page_size")),
        ("list_collections", json!({}), Code::CoreUnavailable, None),
        ("index_status", json!({"collection": "../etc"}), Code::InvalidArgument, Some("collection")),
        ("index_status", json!({}), Code::CoreUnavailable, None),
    ] {
        let call = Operation::named(name).expect("known").call;
        let failure = call(client.clone(), MetadataMap::new(), json.clone()).await.expect_err("refused");
        assert_eq!((failure.code, failure.field.as_deref()), (code, field), "{name} {json}");
    }
}
