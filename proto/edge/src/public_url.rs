//! The address by which the world knows a gateway that stands behind a proxy.

use std::fmt;
use std::str::FromStr;

use crate::host::Host;

/// An `http` or `https` URL without user, query and fragment. Its path, if any, stands before every route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: Scheme,
    host: Host,
    path: String,
}

/// How a public URL is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS, which a proxy ends.
    Https,
}

impl Scheme {
    /// The port that stands for none.
    pub(crate) const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Splits a text into scheme and what stands behind `://`; the scheme's case does not matter.
    pub(crate) fn split(text: &[u8]) -> Option<(Self, &[u8])> {
        let colon = text.iter().position(|&byte| byte == b':')?;
        let (scheme, rest) = text.split_at(colon);
        let scheme = match scheme {
            _ if scheme.eq_ignore_ascii_case(b"http") => Self::Http,
            _ if scheme.eq_ignore_ascii_case(b"https") => Self::Https,
            _ => return None,
        };
        Some((scheme, rest.strip_prefix(b"://")?))
    }
}

/// A text that is no public URL.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("write a URL such as `https://search.example.com` or `https://example.com/search`")]
pub struct ParsePublicUrlError;

impl PublicUrl {
    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The path before every route: empty, or with a slash at its beginning and none at its end.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl FromStr for PublicUrl {
    type Err = ParsePublicUrlError;

    fn from_str(text: &str) -> Result<Self, ParsePublicUrlError> {
        let (scheme, rest) = Scheme::split(text.as_bytes()).ok_or(ParsePublicUrlError)?;
        let slash = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
        let (host, path) = rest.split_at(slash);
        let host = Host::parse(host).map_err(|_| ParsePublicUrlError)?;
        let path = str::from_utf8(path).ok().filter(|path| is_path(path)).ok_or(ParsePublicUrlError)?;
        Ok(Self { scheme, host, path: path.trim_end_matches('/').to_owned() })
    }
}

/// Plain segments only: what is written in one way alone cannot be routed in two.
fn is_path(path: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    path.trim_end_matches('/')
        .split('/')
        .skip(1)
        .all(|segment| !matches!(segment, "" | "." | "..") && segment.bytes().all(fits))
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.as_str(), self.host, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_has_scheme_host_and_perhaps_port_and_path() {
        for (text, shown, path) in [
            ("https://search.example.com", "https://search.example.com", ""),
            ("HTTPS://Search.Example.COM/", "https://search.example.com", ""),
            ("http://[::1]:8080/a/b-c/", "http://[::1]:8080/a/b-c", "/a/b-c"),
            ("https://example.com:8443/search", "https://example.com:8443/search", "/search"),
        ] {
            let url: PublicUrl = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), url.path()), (shown, path), "{text}");
        }
        for text in [
            "",
            "search.example.com",
            "//search.example.com",
            "ftp://search.example.com",
            "https:/search.example.com",
            "https://",
            "https://user@example.com",
            "https://example.com?query",
            "https://example.com#fragment",
            "https://example.com/a//b",
            "https://example.com/a/../b",
            "https://example.com/%61",
            "https://example.com/ä",
            "https://bücher.example",
            "https://example.com:0",
            " https://example.com",
        ] {
            assert_eq!(text.parse::<PublicUrl>(), Err(ParsePublicUrlError), "{text}");
        }
    }
}
