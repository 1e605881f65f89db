//! What a caller takes: media types and encodings with their weights, as RFC 9110 §12.5 has them.
//!
//! Everything here is JSON, so there is nothing to choose, only to refuse. Deliberately left out: choosing an
//! encoding, which the compression layer does by the same header.

use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::{HeaderMap, HeaderName};
use proto::{Code, Failure};

/// The encodings that answers come in; `identity` is none at all.
const ENCODINGS: [&str; 3] = ["zstd", "gzip", "identity"];

/// Refuses a caller who does not take `application/json`.
pub(crate) fn json(headers: &HeaderMap) -> Result<(), Failure> {
    let ranges = weighted(headers, &ACCEPT);
    let nearest = ranges.iter().filter_map(|(range, wanted)| Some((nearness(range)?, *wanted))).max();
    match nearest {
        Some((_, true)) => Ok(()),
        None if ranges.is_empty() => Ok(()),
        Some((_, false)) | None => Err(not_acceptable("answers are `application/json` only")),
    }
}

/// Refuses a caller who takes no encoding of ours, not even none at all.
pub(crate) fn encoding(headers: &HeaderMap) -> Result<(), Failure> {
    let codings = weighted(headers, &ACCEPT_ENCODING);
    let said = |name: &str| codings.iter().find(|(coding, _)| coding == name).map(|(_, wanted)| *wanted);
    let takes = |name: &str| said(name).or(said("*")).unwrap_or(name == "identity");
    if ENCODINGS.into_iter().any(takes) {
        return Ok(());
    }
    Err(not_acceptable("answers come as they are or in the encodings `gzip` and `zstd`"))
}

fn not_acceptable(message: &str) -> Failure {
    Failure::with_message(Code::NotAcceptable, message)
}

/// How closely a media range describes JSON; `None` where it does not.
fn nearness(range: &str) -> Option<u8> {
    match range {
        "application/json" => Some(2),
        "application/*" => Some(1),
        "*/*" => Some(0),
        _ => None,
    }
}

/// The elements of a list in lower case without parameters, and whether their weight is above nought. One whose
/// weight is malformed says nothing.
fn weighted(headers: &HeaderMap, name: &HeaderName) -> Vec<(String, bool)> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .filter_map(|element| {
            let mut parts = element.split(';').map(str::trim);
            let name = parts.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
            Some((name, weight.map_or(Some(true), is_above_nought)?))
        })
        .collect()
}

/// `0` to `1` with at most three digits behind the point; `None` for anything else.
fn is_above_nought(weight: &str) -> Option<bool> {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let rest = fraction.bytes().any(|byte| byte != b'0');
    match whole {
        "0" if digits => Some(rest),
        "1" if digits && !rest => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (name.clone(), line.parse().unwrap())).collect()
    }

    #[test]
    fn json_is_taken_by_all_who_do_not_refuse_it() {
        for (lines, is_taken) in [
            (&[][..], true),
            (&[""], true),
            (&["application/json"], true),
            (&["*/*"], true),
            (&["text/html, application/xhtml+xml, */*;q=0.8"], true),
            (&["text/html", "Application/JSON; charset=utf-8"], true),
            (&["application/*;q=0.001"], true),
            (&["application/json;q=banana"], true),
            (&["text/html"], false),
            (&["application/problem+json"], false),
            (&["application/json;q=0"], false),
            (&["application/json; Q=0.000, */*"], false),
            (&["*/*, application/*;q=0"], false),
            (&["application/*;q=0, application/json"], true),
        ] {
            assert_eq!(json(&headers(&ACCEPT, lines)).is_ok(), is_taken, "{lines:?}");
        }
    }

    #[test]
    fn an_answer_without_an_encoding_is_taken_unless_it_is_refused() {
        for (lines, is_taken) in [
            (&[][..], true),
            (&["br"], true),
            (&["gzip;q=0"], true),
            (&["identity;q=0"], false),
            (&["identity;q=0, gzip"], true),
            (&["*;q=0"], false),
            (&["*;q=0", "zstd;q=0.1"], true),
            (&["identity;q=0, *"], true),
            (&["identity;q=0, br"], false),
        ] {
            assert_eq!(encoding(&headers(&ACCEPT_ENCODING, lines)).is_ok(), is_taken, "{lines:?}");
        }
    }

    #[test]
    fn weights_have_three_digits_at_most() {
        for (weight, said) in [
            ("0", Some(false)),
            ("0.", Some(false)),
            ("0.001", Some(true)),
            ("1.000", Some(true)),
            ("0.0001", None),
            ("1.001", None),
            ("2", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(is_above_nought(weight), said, "{weight}");
        }
    }
}
