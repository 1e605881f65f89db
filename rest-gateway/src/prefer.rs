//! `Prefer: wait=SECONDS` (RFC 7240): how long a caller is willing to wait.
//!
//! A preference is never refused: one that is unknown or malformed says nothing.

use std::time::Duration;

use http::{HeaderMap, HeaderName};

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// How long the caller waits, where they say so.
pub(crate) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let lines = headers.get_all(PREFER).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).find_map(|preference| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        let value = value.trim();
        let digits = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        let is_wait = name.trim().eq_ignore_ascii_case("wait");
        digits.parse().ok().filter(|seconds| is_wait && *seconds > 0).map(Duration::from_secs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_number_of_seconds_is_a_wait() {
        for (line, seconds) in [
            ("wait=10", Some(10)),
            ("respond-async, Wait = \"5\"; foo=bar", Some(5)),
            ("wait=0", None),
            ("wait=-1", None),
            ("wait=1.5", None),
            ("wait", None),
            ("await=3", None),
            ("wait=99999999999999999999999", None),
            ("wait=x, wait=4", Some(4)),
        ] {
            let headers = HeaderMap::from_iter([(PREFER, line.parse().unwrap())]);
            assert_eq!(wait(&headers), seconds.map(Duration::from_secs), "{line}");
        }
    }
}
