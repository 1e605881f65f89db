//! A gateway for this crate's own tests: it says refusals as JSON.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::Full;
use proto::Audience;
use proto::metadata::Surface;

use crate::front::Front;
use crate::refusal::Refusal;

pub(crate) const FRONT: Front = Front {
    name: "footnote-door",
    surface: Surface::Rest,
    variables: "FOOTNOTE_DOOR",
    port: 7410,
    content_types: &["application/json"],
    refuse,
};

fn refuse(refusal: &Refusal) -> Response<Full<Bytes>> {
    let body = refusal.failure().json(Audience::Remote).to_string();
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = refusal.status();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
