//! A gateway as the door knows it: its name, its port, and how it says a refusal.

use std::borrow::Cow;

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use proto::metadata::Surface;

use crate::refusal::Refusal;

/// A gateway. A constant of its crate.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// Its program, as in `footnote-rest`.
    pub name: &'static str,
    /// The surface that it is.
    pub surface: Surface,
    /// What its variables begin with, as in `FOOTNOTE_REST`.
    pub variables: &'static str,
    /// The port of the loopback address where it listens unless told otherwise.
    pub port: u16,
    /// The content types of bodies that it reads, lower case and without parameters.
    pub content_types: &'static [&'static str],
    /// Says a refusal: status, content type and body. The door adds the refusal's headers and its own.
    pub refuse: fn(&Refusal) -> Response<Full<Bytes>>,
}

impl Front {
    /// The whole answer for a refusal, its headers included.
    pub fn answer(&self, refusal: &Refusal) -> Response<Full<Bytes>> {
        let mut response = (self.refuse)(refusal);
        for (name, value) in refusal.headers() {
            response.headers_mut().insert(name, value.clone());
        }
        response
    }
}

/// Which of the gateway's routes answered, for log and metrics: put it into a response's extensions. A pattern
/// (`/v1/collections/{collection}`), never what a caller sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route(pub Cow<'static, str>);
