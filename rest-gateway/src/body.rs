//! The fields of a `POST`: a JSON object, read strictly.
//!
//! What JSON leaves open is refused: a name that stands in an object twice means something else to every reader.
//! Deliberately left out: the body's type, size and pace, which are the door's, and what fields there are.

use std::cell::Cell;
use std::fmt;

use proto::field::Violation;
use proto::{Code, Failure};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a request.
pub(crate) fn request(bytes: &[u8]) -> Result<Value, Failure> {
    let repeated = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = Strict(&repeated).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| match repeated.take() {
        Some(name) => {
            let message = format!("`{name}` stands in the body more than once");
            Violation { field: name, message }.into()
        }
        None => Failure::with_message(Code::InvalidArgument, format!("the body is not JSON: {error}")),
    })
}

/// Any JSON; a repeated name is kept and ends the reading.
#[derive(Clone, Copy)]
struct Strict<'a>(&'a Cell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            if fields.contains_key(&name) {
                let quoted = name.chars().filter(|character| !character.is_control()).take(64).collect();
                self.0.set(Some(quoted));
                return Err(A::Error::custom("a name is repeated"));
            }
            fields.insert(name, object.next_value_seed(self)?);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_read_as_it_is() {
        let text = r#" {"a": [1, -2, 2.5, "\u00e9", null, true], "b": {"a": {}}} "#;
        assert_eq!(
            request(text.as_bytes()).unwrap(),
            json!({"a": [1, -2, 2.5, "é", null, true], "b": {"a": {}}})
        );
        assert_eq!(request(b"7").unwrap(), json!(7), "the checks refuse what is no object");
    }

    #[test]
    fn what_is_no_json_is_refused_with_the_place() {
        for text in [
            &b""[..],
            b"{",
            b"{'a': 1}",
            b"{} {}",
            b"\xff",
            b"{\"a\": \"\xff\"}",
            b"[1e999]",
            b"\"\\ud800\"",
            b"NaN",
        ] {
            let failure = request(text).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument);
            assert!(failure.message.starts_with("the body is not JSON: "), "{failure}");
            assert!(failure.message.contains(" at line 1 column "), "{failure}");
        }
        assert!(request("[".repeat(100_000).as_bytes()).is_err(), "deep nesting is refused, not a crash");
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_by_name() {
        for text in [r#"{"query": "a", "query": "b"}"#, r#"{"a": [{"query": 1, "qu\u0065ry": 1}]}"#] {
            let failure = request(text.as_bytes()).unwrap_err();
            assert_eq!(failure.message, "`query` stands in the body more than once");
            assert_eq!(failure.field.as_deref(), Some("query"));
        }
    }
}
