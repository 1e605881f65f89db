//! The operations, one row each: everything that a surface needs to offer them.
//!
//! The table is generated from the contract; gateways, command line and reference render its rows and know no
//! operation by name.

use std::pin::Pin;

use serde::Serialize;
use serde_json::Value;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Request, Response, Status};

use crate::line::Line;
use crate::v1::retrieval_service_client::RetrievalServiceClient;
use crate::{Code, Failure, Field, json, v1};

/// One operation.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name on every surface, snake case.
    pub name: &'static str,
    /// Its name in the gRPC service.
    pub rpc: &'static str,
    /// A title for people.
    pub title: &'static str,
    /// What it does, in a sentence of less than 80 characters.
    pub summary: &'static str,
    /// What it does and how to use it, for the caller.
    pub description: &'static str,
    /// The JSON schema of the request, closed.
    pub input_schema: &'static str,
    /// The JSON schema of the answer.
    pub output_schema: &'static str,
    /// Its routes, the preferred one first.
    pub rest: &'static [RestBinding],
    /// The subcommand of `footnote`.
    pub command: &'static str,
    /// The field that the command line takes without a flag.
    pub positional: Option<&'static str>,
    /// The fields of the request.
    pub fields: &'static [Field],
    /// Takes a request as JSON to the daemon and its answer back. What the checks refuse never touches the socket.
    pub call: Call,
}

/// A REST route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestBinding {
    /// Its method.
    pub method: Method,
    /// Its path; `{field}` stands for a request field.
    pub path: &'static str,
}

/// The methods that routes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Fields in path and query.
    Get,
    /// Fields in a JSON body.
    Post,
}

/// See [`Operation::call`]. The metadata carries deadline, request id and what the daemon may know of the caller.
pub type Call = fn(RetrievalServiceClient<Line>, MetadataMap, Value) -> Answering;

/// An answer on its way.
pub type Answering = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

include!("generated/operations.rs");

impl Operation {
    /// The operation of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }

    /// Names the front's own `collection` in a request that names none. A footnote names its collection itself,
    /// so that a default never contradicts it.
    pub fn name_collection(&self, request: &mut Value, collection: Option<&str>) {
        let takes_one = self.fields.iter().any(|field| field.name == "collection");
        if let (Some(name), Value::Object(fields), true) = (collection, request, takes_one)
            && !fields.contains_key("collection")
            && !fields.contains_key("footnote")
        {
            fields.insert("collection".to_owned(), Value::from(name));
        }
    }
}

fn asked<M>(metadata: MetadataMap, message: M) -> Request<M> {
    Request::from_parts(metadata, Extensions::default(), message)
}

fn answer<M: Serialize>(answered: Result<Response<M>, Status>) -> Result<Value, Failure> {
    let response = answered.map_err(Failure::from)?;
    json::answer(response.get_ref()).ok_or_else(|| Failure::new(Code::Internal))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fronts_collection_is_named_where_the_request_names_none() {
        for (operation, request, named) in [
            ("search", json!({"query": "q"}), json!({"query": "q", "collection": "docs"})),
            ("search", json!({"collection": "own"}), json!({"collection": "own"})),
            ("search", json!({"collection": null}), json!({"collection": null})),
            ("fetch_chunk", json!({"footnote": "footnote:own/a"}), json!({"footnote": "footnote:own/a"})),
            ("fetch_chunk", json!({}), json!({"collection": "docs"})),
            ("list_collections", json!({}), json!({})),
            ("search", json!([]), json!([])),
        ] {
            let operation = Operation::named(operation).expect("known");
            let mut asked = request.clone();
            operation.name_collection(&mut asked, None);
            assert_eq!(asked, request);
            operation.name_collection(&mut asked, Some("docs"));
            assert_eq!(asked, named);
        }
    }
}
