//! The tools: a row of the table of operations each.
//!
//! All of them together stand in a model's context before it has asked anything, so what is listed is kept small.
//! Input schemas are the contract's own, described; output schemas are outlines of it, whose keys speak. An outline
//! requires nothing, so that a client that holds answers against it also takes those of an older daemon.

use std::sync::Arc;

use proto::{OPERATIONS, Operation};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value};

/// An answer's subject has at least so many fields; one without such a part is its own subject.
const SUBJECT_FIELDS: usize = 6;

/// Every tool, in the order of the contract.
pub(crate) fn all() -> Vec<Tool> {
    OPERATIONS.iter().map(tool).collect()
}

fn tool(operation: &'static Operation) -> Tool {
    Tool::new(operation.name, operation.description, Arc::new(object(operation.input_schema)))
        .with_title(operation.title)
        .with_raw_output_schema(Arc::new(outline(&object(operation.output_schema))))
        .with_annotations(annotations())
}

/// The contract generates nothing that has side effects, and asks nobody but the daemon.
fn annotations() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false)
}

/// A schema of the table, whose own laws say that it is an object.
fn object(schema: &str) -> JsonObject {
    serde_json::from_str(schema).unwrap_or_default()
}

/// The types of an answer's fields, and of those of its subject: the part that has most of them.
fn outline(answer: &JsonObject) -> JsonObject {
    let widest = fields(answer).max_by_key(|(_, part)| width(part));
    let mut outline = shape(answer, true);
    if let Some((name, subject)) = widest.filter(|(_, part)| width(part) >= SUBJECT_FIELDS) {
        outline["properties"][name] = shape(subject, true).into();
    }
    outline
}

/// A schema's type, its items', and, where they are to be named, its fields'.
fn shape(schema: &JsonObject, named: bool) -> JsonObject {
    let mut outline = Map::new();
    if let Some(kind) = schema.get("type") {
        outline.insert("type".to_owned(), kind.clone());
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        outline.insert("items".to_owned(), shape(items, named).into());
    }
    if named && fields(schema).next().is_some() {
        let fields = fields(schema).map(|(name, field)| (name.to_owned(), shape(field, false).into()));
        outline.insert("properties".to_owned(), Value::Object(fields.collect()));
    }
    outline
}

/// How many fields a part has, or each of its items.
fn width(part: &JsonObject) -> usize {
    fields(part.get("items").and_then(Value::as_object).unwrap_or(part)).count()
}

fn fields(schema: &JsonObject) -> impl Iterator<Item = (&String, &JsonObject)> {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name, field.as_object()?)))
}

#[cfg(test)]
mod tests {
    use rmcp::model::ListToolsResult;
    use serde_json::json;

    use super::*;

    /// What a client takes in before the first question.
    const MOST_BYTES: usize = 8 * 1024;

    #[test]
    fn the_whole_list_is_small() {
        let list = serde_json::to_string(&ListToolsResult::with_all_items(all())).unwrap();
        println!("tools/list: {} bytes of {MOST_BYTES}", list.len());
        assert!(list.len() <= MOST_BYTES, "{}", list.len());
    }

    #[test]
    fn every_operation_is_a_tool_that_only_reads() {
        let tools = all();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, OPERATIONS.iter().map(|operation| operation.name).collect::<Vec<_>>());
        for tool in tools {
            let annotations = tool.annotations.unwrap();
            assert_eq!((annotations.read_only_hint, annotations.open_world_hint), (Some(true), Some(false)));
            assert!(tool.title.is_some() && tool.description.is_some(), "{}", tool.name);
        }
    }

    #[test]
    fn input_schemas_are_the_contracts_own_and_output_schemas_its_outlines() {
        for (tool, operation) in all().iter().zip(OPERATIONS) {
            let contract: Value = serde_json::from_str(operation.input_schema).unwrap();
            assert_eq!(Value::Object((*tool.input_schema).clone()), contract);
            let outline = Value::Object((*tool.output_schema.clone().unwrap()).clone());
            let contract: Value = serde_json::from_str(operation.output_schema).unwrap();
            let names = |schema: &Value| {
                schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(&outline), names(&contract));
        }
        let search = Value::Object((*all()[0].output_schema.clone().unwrap()).clone());
        assert_eq!(
            search["properties"]["hits"]["items"]["properties"]["footnote"],
            json!({"type": "string"})
        );
        assert_eq!(
            search["properties"]["hits"]["items"]["properties"]["citation"],
            json!({"type": "object"})
        );
        assert_eq!(search["properties"]["explanation"], json!({"type": "object"}));
        let list = Value::Object((*all()[2].output_schema.clone().unwrap()).clone());
        assert_eq!(
            list["properties"]["collections"]["items"]["properties"]["modes"],
            json!({"type": "array", "items": {"type": "string"}})
        );
    }

    #[test]
    fn schemas_are_plain() {
        fn walk(schema: &Value, tool: &Tool) {
            const UNWANTED: [&str; 7] = ["$ref", "$defs", "oneOf", "anyOf", "allOf", "format", "nullable"];
            match schema {
                Value::Object(members) => {
                    assert!(members.get("type").is_none_or(|kind| kind.is_string() || kind.is_object()));
                    for (name, value) in members {
                        assert!(!UNWANTED.contains(&name.as_str()), "{}: {name}", tool.name);
                        walk(value, tool);
                    }
                }
                Value::Array(values) => values.iter().for_each(|value| walk(value, tool)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        for tool in all() {
            walk(&Value::Object((*tool.input_schema).clone()), &tool);
            walk(&Value::Object((*tool.output_schema.clone().unwrap()).clone()), &tool);
            assert_eq!(tool.input_schema["type"], "object");
            assert_eq!(tool.output_schema.unwrap()["type"], "object");
        }
    }
}
