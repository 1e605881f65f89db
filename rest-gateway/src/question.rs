//! A question's way through this process: from HTTP to the contract's JSON, to the daemon and back.

use std::time::Duration;

use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::response::Response;
use edge::Refusal;
use http::request::Parts;
use proto::field::Violation;
use proto::form::percent_decoded;
use proto::metadata::Caller;
use proto::{Code, Failure, Operation};
use serde_json::Value;

use crate::answer::{self, Tagged};
use crate::{Rest, accept, body, parameters, prefer};

/// Answers a `GET`: the fields stand in path and query, and the answer can be asked for again.
pub(crate) async fn by_address(
    rest: &Rest,
    caller: &Caller,
    operation: &Operation,
    request: Request,
) -> Result<Response, Refusal> {
    accept::json(request.headers())?;
    let (mut head, _) = request.into_parts();
    let path = in_path(&mut head).await?;
    let fields = parameters::request(operation, path, head.uri.query().unwrap_or_default())?;
    let answer = ask(rest, caller, operation, fields, &head).await?;
    Ok(Tagged::new(&answer)?.answer(&head.headers))
}

/// Answers a `POST`: the fields stand in the body.
pub(crate) async fn by_body(
    rest: &Rest,
    caller: &Caller,
    operation: &Operation,
    request: Request,
) -> Result<Response, Refusal> {
    accept::json(request.headers())?;
    let (head, body) = request.into_parts();
    nothing_in_query(&head)?;
    let fields = body::request(&edge::read_body(body).await?)?;
    Ok(answer::untagged(&ask(rest, caller, operation, fields, &head).await?)?)
}

async fn ask(
    rest: &Rest,
    caller: &Caller,
    operation: &Operation,
    mut fields: Value,
    head: &Parts,
) -> Result<Value, Failure> {
    operation.name_collection(&mut fields, rest.collection.as_deref());
    let patience = prefer::wait(&head.headers).unwrap_or(Duration::MAX);
    rest.client.within(patience).ask(operation, caller, fields).await
}

/// The fields that the path names, decoded.
async fn in_path(head: &mut Parts) -> Result<Vec<(String, String)>, Failure> {
    let refused = || Failure::with_message(Code::InvalidArgument, "the path is not percent-encoded UTF-8");
    percent_decoded(head.uri.path().as_bytes()).ok_or_else(refused)?;
    let named = RawPathParams::from_request_parts(head, &()).await.map_err(|_| refused())?;
    Ok(named.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
}

/// Refuses fields in the query string of a `POST`, which would be overlooked.
fn nothing_in_query(head: &Parts) -> Result<(), Failure> {
    let Some(query) = head.uri.query().filter(|query| !query.is_empty()) else { return Ok(()) };
    let name = parameters::quoted(query.split(['=', '&']).next().unwrap_or_default());
    let message = format!("`{name}` stands in the query, and the fields of a `POST` stand in its body");
    Err(Violation { field: name, message }.into())
}
