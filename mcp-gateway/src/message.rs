//! A JSON-RPC message from its bytes, with an answer for everything that is none.
//!
//! rmcp drops or misreports what it cannot read, so it is shown only what it can. Deliberately left out: what a
//! message asks for.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use serde_json::{Map, Value, json};

/// Why something is no message, ready to be answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    /// The request's id, where it could be read.
    pub(crate) id: Option<RequestId>,
    /// What is wrong with it.
    pub(crate) error: ErrorData,
}

impl Refused {
    /// What cannot be read at all.
    pub(crate) fn unreadable(why: &'static str) -> Self {
        Self { id: None, error: ErrorData::parse_error(why, None) }
    }

    /// What is JSON and no request that can be served.
    pub(crate) fn invalid(id: Option<RequestId>, why: &'static str) -> Self {
        Self { id, error: ErrorData::invalid_request(why, None) }
    }

    /// As JSON-RPC wrote it first and every reader of lines expects it: an id that could not be read is null.
    pub(crate) fn line(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.error})
    }

    /// As MCP wants it over HTTP: an id that could not be read is left out.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"jsonrpc": "2.0", "error": self.error});
        if let Some(id) = &self.id {
            body["id"] = json!(id);
        }
        body
    }
}

/// Reads one message.
pub(crate) fn read(bytes: &[u8]) -> Result<ClientJsonRpcMessage, Refused> {
    let (id, message) = open(bytes)?;
    serde_json::from_value(Value::Object(message)).map_err(|_| no_message(id))
}

/// Looks at one message without reading what it asks for, and gives the id of what is answered.
pub(crate) fn look(bytes: &[u8]) -> Result<Option<RequestId>, Refused> {
    open(bytes).map(|(id, _)| id)
}

/// What is no message in spite of its envelope.
pub(crate) fn no_message(id: Option<RequestId>) -> Refused {
    Refused::invalid(id, "this is not a JSON-RPC message")
}

fn open(bytes: &[u8]) -> Result<(Option<RequestId>, Map<String, Value>), Refused> {
    let value = serde_json::from_slice(bytes).map_err(|_| Refused::unreadable("this is not JSON"))?;
    let message: Map<String, Value> = match value {
        Value::Object(message) => message,
        Value::Array(_) => {
            return Err(Refused::invalid(None, "batches are not accepted: send one message at a time"));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Err(no_message(None)),
    };
    let id = id(&message)?;
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Refused::invalid(id, "`jsonrpc` is not \"2.0\""));
    }
    if id.is_some() && message.get("params").is_some_and(|params| !params.is_object()) {
        return Err(Refused { id, error: ErrorData::invalid_params("`params` is not an object", None) });
    }
    Ok((id, message))
}

/// The message's id, if it has one. A request with an id that is none could never be answered.
fn id(message: &Map<String, Value>) -> Result<Option<RequestId>, Refused> {
    let Some(id) = message.get("id") else { return Ok(None) };
    serde_json::from_value(id.clone())
        .map(Some)
        .map_err(|_| Refused::invalid(None, "`id` is neither a string nor an integer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &[u8]) -> (Option<Value>, i32) {
        let refused = read(text).unwrap_err();
        (refused.id.as_ref().map(|id| json!(id)), refused.error.code.0)
    }

    #[test]
    fn what_is_no_message_is_answered() {
        for (text, id, code) in [
            (&b"{"[..], None, -32700),
            (b"hello", None, -32700),
            (b"\xff\xfe", None, -32700),
            (br#"{"jsonrpc":"2.0","id":1,"method":"a\xff"}"#, None, -32700),
            (b"[]", None, -32600),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, None, -32600),
            (b"1", None, -32600),
            (b"null", None, -32600),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None, -32600),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None, -32600),
            (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None, -32600),
            (br#"{"jsonrpc":"2.0","id":7}"#, Some(json!(7)), -32600),
            (br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, Some(json!("a")), -32600),
            (br#"{"id":"a","method":"ping"}"#, Some(json!("a")), -32600),
            (br#"{"jsonrpc":"2.0","id":7,"method":7}"#, Some(json!(7)), -32600),
            (br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#, Some(json!(7)), -32602),
        ] {
            assert_eq!(refused(text), (id, code), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn nesting_without_end_is_not_read() {
        assert_eq!(refused("[".repeat(100_000).as_bytes()), (None, -32700));
    }

    #[test]
    fn requests_notifications_and_responses_are_messages() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"no/such/method","params":{"x":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(read(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_id_that_could_not_be_read_is_null_on_a_line_and_absent_in_a_body() {
        let unreadable = Refused::unreadable("x");
        assert_eq!(unreadable.line()["id"], Value::Null);
        assert!(unreadable.line().as_object().unwrap().contains_key("id"));
        assert!(!unreadable.body().as_object().unwrap().contains_key("id"));
        let known = Refused::invalid(Some(RequestId::Number(7)), "x");
        assert_eq!((&known.line()["id"], &known.body()["id"]), (&json!(7), &json!(7)));
    }
}
