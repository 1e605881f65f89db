//! Which host a request names, in all the places where one can stand.

use http::header::HOST;
use http::{HeaderMap, Uri, Version};

use crate::host::{Host, Malformed};

/// The one host that a request names.
///
/// HTTP/1 has exactly one `Host`, also where the target is absolute; HTTP/2 has `:authority` or one `Host`. Where a
/// request has both, they name the same host at the same port: RFC 9112 has the target win, but nobody honest sends
/// two hosts, and a proxy in front of us may have looked at the other one.
pub(crate) fn host(version: Version, target: &Uri, headers: &HeaderMap) -> Result<Host, Malformed> {
    let mut fields = headers.get_all(HOST).iter();
    let (field, second) = (fields.next(), fields.next());
    if second.is_some() {
        return Err(Malformed);
    }
    let field = field.map(|value| Host::parse(value.as_bytes())).transpose()?;
    let authority =
        target.authority().map(|authority| Host::parse(authority.as_str().as_bytes())).transpose()?;
    match (authority, field) {
        (None, Some(host)) => Ok(host),
        (Some(host), None) if version == Version::HTTP_2 => Ok(host),
        (Some(host), Some(field)) => {
            let default = default_port(target)?;
            let same = host.name == field.name && host.port_or(default) == field.port_or(default);
            if same { Ok(host) } else { Err(Malformed) }
        }
        (_, None) => Err(Malformed),
    }
}

/// The port that stands for none. `CONNECT` has no scheme, and is refused behind the lists.
fn default_port(target: &Uri) -> Result<u16, Malformed> {
    match target.scheme_str() {
        None => Ok(80),
        Some(scheme) if scheme.eq_ignore_ascii_case("http") => Ok(80),
        Some(scheme) if scheme.eq_ignore_ascii_case("https") => Ok(443),
        Some(_) => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn named(version: Version, target: &str, hosts: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in hosts {
            headers.append(HOST, HeaderValue::from_static(value));
        }
        host(version, &target.parse().unwrap(), &headers).ok().map(|host| host.to_string())
    }

    #[test]
    fn http_1_has_exactly_one_host() {
        for version in [Version::HTTP_10, Version::HTTP_11] {
            let named = |target, hosts| named(version, target, hosts);
            assert_eq!(named("/mcp", &["localhost:1"]).as_deref(), Some("localhost:1"));
            assert_eq!(named("/mcp", &[]), None);
            assert_eq!(named("/mcp", &[""]), None);
            assert_eq!(named("/mcp", &["localhost", "localhost"]), None);
            assert_eq!(named("http://localhost:1/mcp", &[]), None);
            assert_eq!(named("http://localhost:1/mcp", &["LOCALHOST:1"]).as_deref(), Some("localhost:1"));
            assert_eq!(named("http://localhost/mcp", &["localhost:80"]).as_deref(), Some("localhost"));
            assert_eq!(named("https://localhost/mcp", &["localhost:443"]).as_deref(), Some("localhost"));
            assert_eq!(named("HTTP://localhost/mcp", &["localhost"]).as_deref(), Some("localhost"));
            assert_eq!(named("http://localhost/mcp", &["localhost:1"]), None);
            assert_eq!(named("http://evil.example.net/mcp", &["localhost"]), None);
            assert_eq!(named("http://localhost/mcp", &["evil.example.net"]), None);
            assert_eq!(named("http://user@localhost/mcp", &["localhost"]), None);
            assert_eq!(named("ftp://localhost/mcp", &["localhost"]), None);
            assert_eq!(named("localhost:80", &["localhost:80"]).as_deref(), Some("localhost:80"));
            assert_eq!(named("*", &["localhost"]).as_deref(), Some("localhost"));
        }
    }

    #[test]
    fn http_2_has_an_authority_or_a_host() {
        let named = |target, hosts| named(Version::HTTP_2, target, hosts);
        assert_eq!(named("http://localhost:1/mcp", &[]).as_deref(), Some("localhost:1"));
        assert_eq!(named("/mcp", &["localhost:1"]).as_deref(), Some("localhost:1"));
        assert_eq!(named("/mcp", &[]), None);
        assert_eq!(named("http://localhost:1/mcp", &["localhost:1"]).as_deref(), Some("localhost:1"));
        assert_eq!(named("http://localhost:1/mcp", &["localhost:2"]), None);
        assert_eq!(named("http://localhost:1/mcp", &["localhost:1", "localhost:1"]), None);
        assert_eq!(named("http://user@localhost:1/mcp", &[]), None);
    }
}
