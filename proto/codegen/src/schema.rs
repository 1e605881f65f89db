//! JSON schemas, plain enough for any client of a tool.
//!
//! Objects at the root and beneath, one scalar `type` each, everything in line. No `$ref`, no `oneOf`, no
//! nullable types, no number formats: what is optional is not in `required`.

use serde_json::{Map, Value, json};

use crate::contract::{Field, Kind, Message};

/// The schema of a request: closed, with bounds, defaults and descriptions.
pub(crate) fn request(message: &Message) -> Value {
    let mut schema = object(message, Detail::Request);
    schema.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(schema)
}

/// The schema of an answer: open, since answers grow. Names and words stand for themselves; the reference page
/// describes them, and a client's context has better uses for the room.
pub(crate) fn answer(message: &Message) -> Value {
    Value::Object(object(message, Detail::Answer))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Request,
    Answer,
}

fn object(message: &Message, detail: Detail) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in &message.fields {
        properties.insert(field.name.clone(), property(field, detail));
        let is_required = match detail {
            Detail::Request => field.bounds.required,
            Detail::Answer => !field.optional,
        };
        if is_required {
            required.push(field.name.clone());
        }
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(field: &Field, detail: Detail) -> Value {
    let mut schema = if field.list {
        let mut list = Map::new();
        list.insert("type".to_owned(), json!("array"));
        list.insert("items".to_owned(), Value::Object(single(field, detail)));
        list
    } else {
        single(field, detail)
    };
    if detail == Detail::Request {
        schema.insert("description".to_owned(), json!(field.description));
        if let Some(default) = &field.bounds.default {
            let value = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            schema.insert("default".to_owned(), value);
        }
    }
    Value::Object(schema)
}

fn single(field: &Field, detail: Detail) -> Map<String, Value> {
    let mut schema = Map::new();
    let kind = match &field.kind {
        Kind::Text | Kind::Word(_) => "string",
        Kind::Number => "integer",
        Kind::Decimal => "number",
        Kind::Switch => "boolean",
        Kind::Message(message) => return object(message, detail),
    };
    schema.insert("type".to_owned(), json!(kind));
    if let Kind::Word(list) = &field.kind {
        let words: Vec<_> = list.words.iter().map(|(word, _, _)| word).collect();
        schema.insert("enum".to_owned(), json!(words));
    }
    let bounds = &field.bounds;
    for (name, bound) in [
        ("minLength", bounds.min_length),
        ("maxLength", bounds.max_length),
        ("minimum", bounds.minimum),
        ("maximum", bounds.maximum),
    ] {
        if let Some(bound) = bound {
            schema.insert(name.to_owned(), json!(bound));
        }
    }
    if let Some(pattern) = pattern(field) {
        schema.insert("pattern".to_owned(), json!(pattern));
    }
    schema
}

/// What JSON Schema can say of a form. `validate` says the rest.
fn pattern(field: &Field) -> Option<&'static str> {
    match field.bounds.form.as_deref() {
        Some("collection") => Some("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        Some("id") => Some("^[0-9a-f]{32}$"),
        _ if field.bounds.not_blank => Some("\\S"),
        _ => None,
    }
}
