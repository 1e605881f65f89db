//! The web page that asks, read from bytes: `Origin` and `Sec-Fetch-Site`.
//!
//! Browsers send them and pages cannot forge them; programs send neither, and are let in. Deliberately left out:
//! `Referer`, and answers to CORS preflights: no page of somebody else is ever let in.

use http::header::ORIGIN;
use http::{HeaderMap, Method};

use crate::host::{Host, Malformed, Name};
use crate::public_url::Scheme;

/// Where a page came from: scheme, host and port, as RFC 6454 writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) name: Name,
    pub(crate) port: u16,
}

impl Origin {
    /// Neither `null` nor another scheme has a page that may ask, so that those are malformed here. A name with the
    /// root's dot is another origin to a browser, and is nobody's.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let (scheme, host) = Scheme::split(bytes).ok_or(Malformed)?;
        let name_end = host.iter().rposition(|&byte| byte == b':').unwrap_or(host.len());
        if host[..name_end].ends_with(b".") {
            return Err(Malformed);
        }
        let host = Host::parse(host)?;
        let port = host.port_or(scheme.default_port());
        Ok(Self { scheme, name: host.name, port })
    }
}

/// What the headers say of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// No page asks, or one of ours that need not say so.
    None,
    /// A page of this origin asks.
    Of(Origin),
    /// A page asks that cannot be one of ours.
    Foreign,
}

impl Page {
    pub(crate) fn read(method: &Method, headers: &HeaderMap) -> Self {
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (Some(origin), None) => Origin::parse(origin.as_bytes()).map_or(Self::Foreign, Self::Of),
            // The field is one: two are a forgery, also where they are equal.
            (Some(_), Some(_)) => Self::Foreign,
            (None, _) if is_cross_site(headers) && !is_navigation(method, headers) => Self::Foreign,
            (None, _) => Self::None,
        }
    }
}

/// Browsers leave `Origin` out of `GET`s for images and scripts, but not this.
fn is_cross_site(headers: &HeaderMap) -> bool {
    headers.get_all("sec-fetch-site").iter().any(|site| site.as_bytes().eq_ignore_ascii_case(b"cross-site"))
}

/// A person follows a link: the page that has it sees nothing of the answer.
fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    let mut modes = headers.get_all("sec-fetch-mode").iter();
    method == Method::GET
        && modes.next().is_some_and(|mode| mode.as_bytes().eq_ignore_ascii_case(b"navigate"))
        && modes.next().is_none()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn page(method: &Method, fields: &[(&'static str, &str)]) -> Page {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Page::read(method, &headers)
    }

    #[test]
    fn origins_are_read_by_value() {
        for (text, port) in [
            ("http://localhost", 80),
            ("http://localhost:80", 80),
            ("http://LOCALHOST:7411", 7411),
            ("HTTP://localhost:7411", 7411),
            ("https://localhost", 443),
            ("https://localhost:443", 443),
            ("http://[::1]:7411", 7411),
            ("http://127.0.0.1", 80),
        ] {
            assert_eq!(Origin::parse(text.as_bytes()).unwrap().port, port, "{text}");
        }
    }

    #[test]
    fn what_is_no_origin_of_a_page_of_ours_is_foreign() {
        for text in [
            "",
            "null",
            "NULL",
            "*",
            "!!!",
            "localhost",
            "localhost:7411",
            "//localhost",
            "http:localhost",
            "http:/localhost",
            "http:///localhost",
            "http://",
            "http://localhost/",
            "http://localhost/path",
            "http://localhost?",
            "http://localhost#x",
            "http://localhost:0",
            "http://localhost:65536",
            "http://localhost.",
            "http://localhost.:80",
            "http://user@localhost",
            "http://localhost@evil.example.net",
            "http://evil.example.net#http://localhost:7411",
            "http://localhost, http://evil.example.net",
            "http://localhost http://evil.example.net",
            " http://localhost",
            "http://loc%61lhost",
            "http://l\u{43e}calhost",
            "http://::1",
            "http://[::1%25lo]",
            "file://",
            "file:///",
            "ws://localhost:7411",
            "ftp://localhost",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
            "moz-extension://0d1b7b3e-0000-4000-8000-000000000000",
            "vscode-webview://1abc",
            "app://localhost",
            "tauri://localhost",
            "http+unix://localhost",
        ] {
            assert_eq!(page(&Method::POST, &[("origin", text)]), Page::Foreign, "{text}");
        }
    }

    #[test]
    fn two_origins_are_foreign_whatever_they_are() {
        let twice = [("origin", "http://localhost"), ("origin", "http://localhost")];
        assert_eq!(page(&Method::POST, &twice), Page::Foreign);
    }

    #[test]
    fn a_page_of_another_site_is_foreign_unless_a_person_follows_a_link() {
        let cross = ("sec-fetch-site", "cross-site");
        let navigate = ("sec-fetch-mode", "navigate");
        assert_eq!(page(&Method::GET, &[cross]), Page::Foreign);
        assert_eq!(page(&Method::GET, &[("sec-fetch-site", "Cross-Site")]), Page::Foreign);
        assert_eq!(page(&Method::GET, &[("sec-fetch-site", "none"), cross]), Page::Foreign);
        assert_eq!(page(&Method::GET, &[cross, ("sec-fetch-mode", "no-cors")]), Page::Foreign);
        assert_eq!(page(&Method::POST, &[cross, navigate]), Page::Foreign);
        assert_eq!(page(&Method::HEAD, &[cross, navigate]), Page::Foreign);
        assert_eq!(page(&Method::GET, &[cross, navigate]), Page::None);
        for site in ["none", "same-origin", "same-site"] {
            assert_eq!(page(&Method::POST, &[("sec-fetch-site", site)]), Page::None);
        }
        // What the list of origins says counts then.
        let both = page(&Method::POST, &[cross, ("origin", "http://localhost:7411")]);
        assert!(matches!(both, Page::Of(_)));
    }

    proptest! {
        #[test]
        fn case_does_not_matter(text in "(https?|ws)://[a-zA-Z0-9.:\\[\\]-]{0,20}") {
            let lower = Origin::parse(text.to_ascii_lowercase().as_bytes());
            prop_assert_eq!(Origin::parse(text.to_ascii_uppercase().as_bytes()), lower);
        }
    }
}
