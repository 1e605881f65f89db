//! `/openapi.json`: the routes as OpenAPI 3.1, made from the same schemas and the same table of failures as
//! everything else.

use std::collections::BTreeMap;

use http::StatusCode;
use proto::code::{FAILURES, Row};
use proto::field::Kind;
use proto::form::Form;
use proto::operations::{Method, RestBinding};
use proto::{Failure, Field, OPERATIONS, Operation};
use serde_json::{Map, Value, json};

use crate::problem;

/// The description, for a gateway that is known by these URLs; by the one that it was asked at where there are none.
pub fn description(servers: &[String]) -> Value {
    let here = ["/".to_owned()];
    let servers = if servers.is_empty() { &here } else { servers };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Footnote",
            "summary": "Passages from documents, each with a footnote that is checked against its source.",
            "description": DESCRIPTION,
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": servers.iter().map(|url| json!({"url": url})).collect::<Vec<_>>(),
        "paths": paths(),
        "components": {
            "schemas": schemas(),
            "responses": by_status().iter().map(|(status, rows)| (name(*status), failed(rows))).collect::<Map<_, _>>(),
            "headers": headers(),
        },
    })
}

const DESCRIPTION: &str = "\
Every operation only reads. Requests refuse fields that they do not know; answers may grow. An optional field that is \
unset is absent, never `null`.\n\n\
Whatever fails is a problem (RFC 9457): `code` says which failure it is, `action` what to do now. Every response carries \
`x-request-id`, under which the log says more; a well-formed one that is sent is kept.\n\n\
A `GET` can be asked for again with `If-None-Match`: the tag is made of the answer after its text was checked, so a 304 says \
that nothing changed in the sources either.";

/// Every path with its methods.
fn paths() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in OPERATIONS {
        for (index, binding) in operation.rest.iter().enumerate() {
            let mut described = described(operation, *binding);
            let method = word(binding.method);
            let preferred = index == 0;
            let id =
                if preferred { operation.name.to_owned() } else { format!("{}_by_{method}", operation.name) };
            described["operationId"] = id.into();
            paths.entry(binding.path).or_default().insert(method.to_owned(), described);
        }
    }
    json!(paths)
}

fn word(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
    }
}

/// One operation at one of its routes.
fn described(operation: &Operation, binding: RestBinding) -> Value {
    let mut described = json!({
        "summary": operation.summary,
        "description": operation.description,
    });
    let answer = json!({"schema": {"$ref": format!("#/components/schemas/{}Response", operation.rpc)}});
    let mut answered = json!({"description": "The answer.", "content": {"application/json": answer}});
    let mut responses = Map::new();
    let mut parameters = vec![wait()];
    match binding.method {
        Method::Get => {
            parameters.extend(
                operation.fields.iter().filter_map(|field| parameter(operation, field, binding.path)),
            );
            parameters.push(if_none_match());
            answered["headers"] = json!({"ETag": header("ETag"), "Vary": header("Vary")});
            let unchanged = json!({"description": "You have this answer.", "headers": answered["headers"]});
            responses.insert("304".to_owned(), unchanged);
        }
        Method::Post => {
            let body = json!({"schema": {"$ref": format!("#/components/schemas/{}Request", operation.rpc)}});
            described["requestBody"] = json!({"required": true, "content": {"application/json": body}});
        }
    }
    responses.insert("200".to_owned(), answered);
    for status in by_status().into_keys() {
        let reference = json!({"$ref": format!("#/components/responses/{}", name(status))});
        responses.insert(status.as_str().to_owned(), reference);
    }
    described["parameters"] = json!(parameters);
    described["responses"] = json!(responses);
    described
}

/// A field in the path or in the query; `None` where the path has the other field of its group, so that this one is
/// never accepted.
fn parameter(operation: &Operation, field: &Field, path: &str) -> Option<Value> {
    let stands_in_path = |field: &Field| path.contains(&format!("{{{}}}", field.name));
    let in_path = stands_in_path(field);
    let excluded =
        |other: &Field| other.one_of.is_some() && other.one_of == field.one_of && stands_in_path(other);
    if !in_path && operation.fields.iter().any(excluded) {
        return None;
    }
    let mut schema = request_schema(operation)["properties"][field.name].take();
    if let Value::Object(schema) = &mut schema {
        schema.remove("description");
    }
    // What unset means is of no interest where the field cannot be.
    let set = field.description.split_once(" Unset:").map_or(field.description, |(set, _)| set);
    Some(json!({
        "name": field.name,
        "in": if in_path { "path" } else { "query" },
        "required": in_path || field.required,
        "description": if in_path { set } else { field.description },
        "schema": schema,
    }))
}

fn wait() -> Value {
    json!({
        "name": "Prefer",
        "in": "header",
        "description": "`wait=SECONDS` (RFC 7240): how long you are willing to wait, where that is less than the gateway would.",
        "schema": {"type": "string"},
        "example": "wait=5",
    })
}

fn if_none_match() -> Value {
    json!({
        "name": "If-None-Match",
        "in": "header",
        "description": "Tags of answers that you have.",
        "schema": {"type": "string"},
    })
}

fn schemas() -> Value {
    let mut schemas = BTreeMap::from([("Problem".to_owned(), problem_schema())]);
    for operation in OPERATIONS {
        if operation.rest.iter().any(|binding| binding.method == Method::Post) {
            schemas.insert(format!("{}Request", operation.rpc), request_schema(operation));
        }
        schemas.insert(format!("{}Response", operation.rpc), read(operation.output_schema));
    }
    json!(schemas)
}

/// A footnote, as a link or as its address alone. It takes a little more than footnotes: that lines are in order and
/// that a source is UTF-8 is beyond a pattern.
const FOOTNOTE: &str = r"^\s*(\[[^\u0000]*\]\()?footnote:[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[^#\u0000-\u001f]+#L[1-9][0-9]*(-L[1-9][0-9]*)?;[0-9a-f]{8}\)?\s*$";

/// The request's schema, with what the table says in words alone: what a footnote looks like, that no text holds NUL,
/// and of which fields exactly one is present.
fn request_schema(operation: &Operation) -> Value {
    let mut schema = read(operation.input_schema);
    for field in operation.fields {
        if let Kind::Text { form: Some(Form::Footnote), .. } = field.kind {
            schema["properties"][field.name]["pattern"] = FOOTNOTE.into();
        }
    }
    without_nul(&mut schema);
    let mut groups: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for field in operation.fields {
        if let Some(group) = field.one_of {
            groups.entry(group).or_default().push(json!({"required": [field.name]}));
        }
    }
    let groups: Vec<_> = groups.into_values().map(|fields| json!({"oneOf": fields})).collect();
    if !groups.is_empty() {
        schema["allOf"] = json!(groups);
    }
    schema
}

fn without_nul(schema: &mut Value) {
    if schema["type"] == "string" && schema.get("enum").is_none() {
        let pattern = schema["pattern"].as_str();
        let without_nul = match pattern {
            None => Some(r"^[^\u0000]*$"),
            Some(r"\S") => Some(r"^[^\u0000]*[^\s\u0000][^\u0000]*$"),
            // A narrower one has none in it.
            Some(_) => None,
        };
        if let Some(pattern) = without_nul {
            schema["pattern"] = pattern.into();
        }
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(without_nul),
        Value::Array(elements) => elements.iter_mut().for_each(without_nul),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The table's schemas are JSON; a test of the contract says so.
fn read(schema: &str) -> Value {
    serde_json::from_str(schema).unwrap_or_default()
}

fn problem_schema() -> Value {
    let words: Vec<_> = FAILURES.iter().map(|row| row.word).collect();
    json!({
        "type": "object",
        "description": "What went wrong (RFC 9457).",
        "properties": {
            "type": {"type": "string", "const": "about:blank"},
            "title": {"type": "string", "description": "The status in words."},
            "status": {"type": "integer", "description": "The status."},
            "detail": {"type": "string", "description": "What happened."},
            "code": {"type": "string", "description": "Which failure it is. There may be more some day.", "examples": words},
            "action": {"type": "string", "description": "What to do now."},
            "field": {"type": "string", "description": "The field that is refused."},
            "retry_after_ms": {"type": "integer", "description": "When to ask again, in milliseconds."},
            "request_id": {"type": "string", "description": "The id under which the log says more."},
        },
        "required": ["type", "title", "status", "detail", "code", "action", "request_id"],
    })
}

/// The failures by their status.
fn by_status() -> BTreeMap<StatusCode, Vec<&'static Row>> {
    let mut rows: BTreeMap<StatusCode, Vec<&Row>> = BTreeMap::new();
    for row in FAILURES {
        if let Ok(status) = StatusCode::from_u16(row.http) {
            rows.entry(status).or_default().push(row);
        }
    }
    rows
}

/// A status as the name of a component: `NotFound`.
fn name(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or_default().split([' ', '-']).collect()
}

/// The response for failures of one status, with an example of each.
fn failed(rows: &[&Row]) -> Value {
    let examples: Map<_, _> = rows.iter().map(|row| (row.word.to_owned(), example(row))).collect();
    let words: Vec<_> = rows.iter().map(|row| format!("`{}`", row.word)).collect();
    let problem = json!({"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples});
    let mut response = json!({
        "description": format!("{}.", words.join(" or ")),
        "content": {problem::MEDIA_TYPE: problem},
    });
    let mut headers = Map::new();
    if rows.iter().any(|row| row.retry_after.is_some()) {
        headers.insert("Retry-After".to_owned(), header("Retry-After"));
    }
    if rows.iter().any(|row| row.http == 405) {
        headers.insert("Allow".to_owned(), header("Allow"));
    }
    if !headers.is_empty() {
        response["headers"] = json!(headers);
    }
    response
}

fn example(row: &Row) -> Value {
    let failure = Failure::new(row.code).of_request("9c1f0e7a5d3b48c6a2e4f6081b3d5f70");
    json!({"summary": row.message, "value": problem::problem(&failure)})
}

fn header(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

fn headers() -> Value {
    let header =
        |description: &str, kind: &str| json!({"description": description, "schema": {"type": kind}});
    json!({
        "ETag": header("A weak tag: it changes with everything in the answer but `stats`.", "string"),
        "Vary": header("What the answer depends on besides the address.", "string"),
        "Retry-After": header("Seconds to wait before asking again.", "integer"),
        "Allow": header("The methods that are answered here.", "string"),
    })
}
