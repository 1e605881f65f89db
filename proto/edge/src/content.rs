//! Whether a request's body is small and in a form that is read, from its headers alone.

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use proto::Code;

use crate::body::MAX_BODY_BYTES;
use crate::refusal::Refusal;

/// Whether anything follows the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    Nothing,
    Body,
}

/// Refuses a body that is too large by its own account, compressed, or of a type that is not in `types`.
///
/// The type matters to more than routing: a page of somebody else may send `text/plain` without asking first.
pub(crate) fn check(headers: &HeaderMap, follows: Follows, types: &[&str]) -> Result<(), Refusal> {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(Refusal::of(Code::TooLarge));
    }
    if follows == Follows::Nothing {
        return Ok(());
    }
    let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(CONTENT_ENCODING).iter().all(is_plain) {
        let identity = HeaderValue::from_static("identity");
        return Err(Refusal::of(Code::UnsupportedMediaType).with_header(ACCEPT_ENCODING, identity));
    }
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    match (given.next().and_then(|given| given.to_str().ok()), given.next()) {
        (Some(given), None) if is_one_of(given, types) => Ok(()),
        _ => Err(Refusal::of(Code::UnsupportedMediaType)),
    }
}

/// One of the types, with no other character set than UTF-8.
fn is_one_of(given: &str, types: &[&str]) -> bool {
    let mut parts = given.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let charset = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    types.iter().any(|one| one.eq_ignore_ascii_case(essence))
        && charset.is_none_or(|(_, set)| set.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(fields: &[(&'static str, &'static str)], follows: Follows) -> Option<Code> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        check(&headers, follows, &["application/json"]).err().map(|refusal| refusal.failure().code)
    }

    #[test]
    fn only_json_in_utf_8_is_read() {
        for given in [
            "application/json",
            "Application/JSON",
            "application/json;charset=utf-8",
            "application/json ; charset=\"UTF-8\"",
        ] {
            assert_eq!(code(&[("content-type", given)], Follows::Body), None, "{given}");
        }
        for given in [
            "",
            "text/plain",
            "application/json5",
            "application/json, text/plain",
            "text/plain; application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/json; charset=utf-16",
        ] {
            let refused = Some(Code::UnsupportedMediaType);
            assert_eq!(code(&[("content-type", given)], Follows::Body), refused, "{given}");
        }
        let twice = [("content-type", "application/json"), ("content-type", "application/json")];
        assert_eq!(code(&twice, Follows::Body), Some(Code::UnsupportedMediaType));
        assert_eq!(code(&[], Follows::Body), Some(Code::UnsupportedMediaType));
        assert_eq!(code(&[], Follows::Nothing), None);
        let zipped = [("content-type", "application/json"), ("content-encoding", "gzip")];
        assert_eq!(code(&zipped, Follows::Body), Some(Code::UnsupportedMediaType));
    }

    #[test]
    fn what_is_too_large_is_so_whatever_it_is() {
        let large = ("content-length", "1048577");
        assert_eq!(code(&[large], Follows::Body), Some(Code::TooLarge));
        assert_eq!(code(&[large, ("content-type", "text/plain")], Follows::Body), Some(Code::TooLarge));
        let fits = [("content-length", "1048576"), ("content-type", "application/json")];
        assert_eq!(code(&fits, Follows::Body), None);
    }
}
