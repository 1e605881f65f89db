//! JSON schemas, plain enough for any client of a tool, and small: all of them together stand in a model's context.
//!
//! Objects at the root and beneath, one scalar `type` each, everything in line. No `$ref`, no `oneOf`, no
//! nullable types, no number formats: what is optional is not in `required`. They are written as text, in the order
//! of the contract.

use std::fmt::Write as _;

use crate::contract::{Field, Kind, Message};

/// The schema of a request: closed at every level, with bounds, defaults and descriptions.
pub(crate) fn request(message: &Message) -> String {
    object(&closed(message))
}

fn closed(message: &Message) -> Vec<String> {
    let mut members = vec![r#""type":"object""#.to_owned(), properties(message, request_property)];
    members.extend(required(message.fields.iter().filter(|field| field.bounds.required)));
    members.push(r#""additionalProperties":false"#.to_owned());
    members
}

/// The schema of an answer: open, since answers grow. Names stand for themselves and the reference page describes
/// them. Only the root says what is required; beneath, that every field is written holds without being said.
pub(crate) fn answer(message: &Message) -> String {
    let mut members = vec![r#""type":"object""#.to_owned(), properties(message, answer_property)];
    members.extend(required(message.fields.iter().filter(|field| !field.optional)));
    object(&members)
}

fn request_property(field: &Field) -> String {
    let mut members = vec![member("description", &quoted(&field.description))];
    match (&field.kind, field.bounds.max_items) {
        (Kind::Message(message), _) => members.extend(closed(message)),
        (_, Some(max_items)) => {
            members.push(r#""type":"array""#.to_owned());
            members.push(member("items", &object(&bounded(field))));
            members.push(member("maxItems", &max_items.to_string()));
        }
        (_, None) => members.extend(bounded(field)),
    }
    members.extend(field.bounds.default.as_ref().map(|default| member("default", default)));
    object(&members)
}

/// A scalar's type and bounds.
fn bounded(field: &Field) -> Vec<String> {
    let mut members = scalar(field);
    let bounds = &field.bounds;
    for (name, bound) in [
        ("minLength", bounds.min_length),
        ("maxLength", bounds.max_length),
        ("minimum", bounds.minimum),
        ("maximum", bounds.maximum),
    ] {
        members.extend(bound.map(|bound| member(name, &bound.to_string())));
    }
    members.extend(pattern(field).map(|pattern| member("pattern", &quoted(pattern))));
    members
}

fn answer_property(field: &Field) -> String {
    let schema = match &field.kind {
        Kind::Message(message) if message.fields.iter().all(is_plain_decimal) => {
            r#"{"type":"object","additionalProperties":{"type":"number"}}"#.to_owned()
        }
        Kind::Message(message) => {
            object(&[r#""type":"object""#.to_owned(), properties(message, answer_property)])
        }
        Kind::Text | Kind::Number | Kind::Decimal | Kind::Switch | Kind::Word(_) => object(&scalar(field)),
    };
    if field.list { format!(r#"{{"type":"array","items":{schema}}}"#) } else { schema }
}

fn is_plain_decimal(field: &Field) -> bool {
    matches!(field.kind, Kind::Decimal) && !field.list
}

/// `type`, and `enum` where words are meant.
fn scalar(field: &Field) -> Vec<String> {
    let name = match &field.kind {
        Kind::Text | Kind::Word(_) => "string",
        Kind::Number => "integer",
        Kind::Decimal => "number",
        Kind::Switch => "boolean",
        Kind::Message(_) => "object",
    };
    let mut members = vec![member("type", &quoted(name))];
    if let Kind::Word(list) = &field.kind {
        let words: Vec<_> = list.words.iter().map(|(word, _, _)| quoted(word)).collect();
        members.push(member("enum", &format!("[{}]", words.join(","))));
    }
    members
}

/// What JSON Schema can say of a form. `validate` says the rest.
fn pattern(field: &Field) -> Option<&'static str> {
    match field.bounds.form.as_deref() {
        Some("collection") => Some("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
        Some("id") => Some("^[0-9a-f]{32}$"),
        Some("date") => Some("^[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        _ if field.bounds.not_blank => Some("\\S"),
        _ => None,
    }
}

fn properties(message: &Message, property: fn(&Field) -> String) -> String {
    let members: Vec<_> = message.fields.iter().map(|field| member(&field.name, &property(field))).collect();
    member("properties", &object(&members))
}

fn required<'a>(fields: impl Iterator<Item = &'a Field>) -> Option<String> {
    let names: Vec<_> = fields.map(|field| quoted(&field.name)).collect();
    (!names.is_empty()).then(|| member("required", &format!("[{}]", names.join(","))))
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", quoted(name))
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            // Writing to a string does not fail.
            _ if character.is_control() => _ = write!(json, "\\u{:04x}", u32::from(character)),
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}
