//! The fields of a `GET`: from path and query string to the request's JSON.
//!
//! Deliberately left out: what values are accepted. A value that does not read as its field's kind is handed on as
//! the text it is, and the contract's checks refuse it, in their words and in their order.

use proto::field::Violation;
use proto::form::percent_decoded;
use proto::{Failure, Operation};
use serde_json::{Map, Value};

/// Makes the request from what the path named, already decoded, and from the query string.
pub(crate) fn request(
    operation: &Operation,
    path: Vec<(String, String)>,
    query: &str,
) -> Result<Value, Failure> {
    let mut fields = Map::new();
    for (name, text) in path {
        insert(&mut fields, operation, name, text);
    }
    let in_path: Vec<String> = fields.keys().cloned().collect();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, text) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name =
            decoded(name).ok_or_else(|| refused("", "the query string is not percent-encoded UTF-8"))?;
        let Some(text) = decoded(text) else {
            return Err(refused(&name, &format!("`{}` is not percent-encoded UTF-8", quoted(&name))));
        };
        if in_path.contains(&name) {
            return Err(refused(
                &name,
                &format!("`{name}` stands in the path and must not stand in the query, too"),
            ));
        }
        if fields.contains_key(&name) {
            return Err(refused(&name, &format!("`{}` is given more than once", quoted(&name))));
        }
        insert(&mut fields, operation, name, text);
    }
    Ok(Value::Object(fields))
}

fn insert(fields: &mut Map<String, Value>, operation: &Operation, name: String, text: String) {
    let field = operation.fields.iter().find(|field| field.name == name);
    let value = field.and_then(|field| field.parse(&text).ok()).unwrap_or(Value::String(text));
    fields.insert(name, value);
}

/// A form's text: `+` is a space.
fn decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    String::from_utf8(percent_decoded(spaced.as_bytes())?).ok()
}

fn refused(field: &str, message: &str) -> Failure {
    Violation { field: quoted(field), message: message.to_owned() }.into()
}

/// A name that is the caller's own, shortened and without control characters.
pub(crate) fn quoted(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(operation: &str, path: &[(&str, &str)], query: &str) -> Result<Value, String> {
        let path = path.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        request(Operation::named(operation).unwrap(), path, query).map_err(|failure| failure.message)
    }

    #[test]
    fn text_becomes_what_its_field_is() {
        for (query, fields) in [
            ("", json!({})),
            ("page_size=7", json!({"page_size": 7})),
            ("page_size=7&page_token=a%2Fb+c%2B", json!({"page_size": 7, "page_token": "a/b c+"})),
            ("&page_size=7&&", json!({"page_size": 7})),
            ("page_token", json!({"page_token": ""})),
            ("page_token=a=b", json!({"page_token": "a=b"})),
            ("page_token=%E2%82%AC%00", json!({"page_token": "€\0"})),
            // What the checks will refuse.
            ("page_size=many", json!({"page_size": "many"})),
            ("pagesize=7", json!({"pagesize": "7"})),
        ] {
            assert_eq!(read("list_collections", &[], query).unwrap(), fields, "{query}");
        }
        let fields = read("index_status", &[("collection", "7")], "").unwrap();
        assert_eq!(fields, json!({"collection": "7"}));
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        let path = [("collection", "docs")];
        for (query, message) in [
            ("a=1&a=2", "`a` is given more than once"),
            ("collection=x", "`collection` stands in the path and must not stand in the query, too"),
            ("c%6Fllection=docs", "`collection` stands in the path and must not stand in the query, too"),
            ("a=%zz", "`a` is not percent-encoded UTF-8"),
            ("a=%ff", "`a` is not percent-encoded UTF-8"),
            ("a=%f", "`a` is not percent-encoded UTF-8"),
            ("%ff=1", "the query string is not percent-encoded UTF-8"),
        ] {
            assert_eq!(read("index_status", &path, query).unwrap_err(), message, "{query}");
        }
    }
}
