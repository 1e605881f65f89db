//! Which hosts and which web pages are ours, by where is listened and what was said.
//!
//! | listened at | hosts | origins |
//! |---|---|---|
//! | loopback | `localhost`, `127.0.0.1`, `[::1]` and the address bound, at any port | `http://` those, at the bound port |
//! | a Unix socket | the same | `http://` those, at port 80 |
//! | an address others reach | `localhost` and every address | `http://` and the request's own host |
//! | the same with `--any-host` | every one | the same |
//! | anywhere with `--public-url` | the URL's | the URL's |
//!
//! `--allowed-host` adds a host, and `http://` and it as an origin. Nothing else widens this: no forwarded header, no
//! resolver. Deliberately left out: how hosts and origins are read (`host`, `origin`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::host::{Host, Name};
use crate::listen::Reach;
use crate::origin::Origin;
use crate::public_url::{PublicUrl, Scheme};

/// A host that was allowed by name, at the given port or, without one, at every port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(Host);

/// A text that is no host.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("write a host name or an address, and perhaps a port: `search.lan`, `[fd00::10]:8080`")]
pub struct ParseAllowedHostError;

impl FromStr for AllowedHost {
    type Err = ParseAllowedHostError;

    fn from_str(text: &str) -> Result<Self, ParseAllowedHostError> {
        Host::parse(text.as_bytes()).map(Self).map_err(|_| ParseAllowedHostError)
    }
}

/// What was said about names.
#[derive(Clone, Debug)]
pub(crate) enum Names {
    /// Nothing: those of the place, and these.
    OfPlace { besides: Vec<AllowedHost> },
    /// The names of these URLs alone, and these.
    Public { urls: Vec<PublicUrl>, besides: Vec<AllowedHost> },
    /// Every name.
    Any { besides: Vec<AllowedHost> },
}

impl Names {
    pub(crate) fn besides(&self) -> &[AllowedHost] {
        match self {
            Self::OfPlace { besides } | Self::Public { besides, .. } | Self::Any { besides } => besides,
        }
    }
}

/// The lists of one place.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    names: Names,
    reach: Reach,
    /// The address that is listened at; none for a Unix socket.
    bound: Option<SocketAddr>,
}

impl Policy {
    pub(crate) fn new(names: Names, reach: Reach, bound: Option<SocketAddr>) -> Self {
        Self { names, reach, bound }
    }

    /// Whether requests for this host are for us.
    pub(crate) fn admits_host(&self, host: &Host) -> bool {
        let of_names = match &self.names {
            Names::OfPlace { .. } => self.is_of_place(&host.name),
            Names::Public { urls, .. } => urls.iter().any(|url| is_public(url, host)),
            Names::Any { .. } => true,
        };
        of_names || self.names.besides().iter().any(|AllowedHost(allowed)| is_allowed(allowed, host))
    }

    /// Whether pages of this origin may ask by this host, which was admitted.
    pub(crate) fn admits_origin(&self, origin: &Origin, host: &Host) -> bool {
        let is = |scheme, name: &Name, port| {
            origin.scheme == scheme && origin.name == *name && origin.port == port
        };
        let of_names = match (&self.names, self.reach) {
            (Names::Public { urls, .. }, _) => urls.iter().any(|url| {
                is(url.scheme(), &url.host().name, url.host().port_or(url.scheme().default_port()))
            }),
            (Names::OfPlace { .. } | Names::Any { .. }, Reach::Published) => {
                is(Scheme::Http, &host.name, host.port_or(Scheme::Http.default_port()))
            }
            (Names::OfPlace { .. } | Names::Any { .. }, Reach::Loopback | Reach::Unix) => {
                self.is_of_place(&origin.name) && is(Scheme::Http, &origin.name, self.port())
            }
        };
        of_names
            || self
                .names
                .besides()
                .iter()
                .any(|AllowedHost(allowed)| is(Scheme::Http, &allowed.name, allowed.port_or(self.port())))
    }

    fn is_of_place(&self, name: &Name) -> bool {
        let Some(address) = name.destination() else { return name.is_localhost() };
        match self.reach {
            // An address cannot be made to mean another host, as a name can.
            Reach::Published => true,
            Reach::Loopback | Reach::Unix => {
                address == IpAddr::V4(Ipv4Addr::LOCALHOST)
                    || address == IpAddr::V6(Ipv6Addr::LOCALHOST)
                    || self.bound.is_some_and(|bound| bound.ip() == address)
            }
        }
    }

    fn port(&self) -> u16 {
        self.bound.map_or(Scheme::Http.default_port(), |bound| bound.port())
    }
}

/// Rebinding is about names and not about ports, so that a proxy may leave a port out; another one is not ours.
fn is_public(url: &PublicUrl, host: &Host) -> bool {
    let port = url.host().port_or(url.scheme().default_port());
    host.name == url.host().name && host.port.map(NonZeroU16::get).is_none_or(|given| given == port)
}

fn is_allowed(allowed: &Host, host: &Host) -> bool {
    host.name == allowed.name && (allowed.port.is_none() || allowed.port == host.port)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The four configurations that the door is held against, listening at port 7411.
    fn policies() -> [(&'static str, Policy); 4] {
        let bound = |text: &str| Some(text.parse().unwrap());
        let public =
            Names::Public { urls: vec!["https://search.example.com".parse().unwrap()], besides: vec![] };
        let lan = || vec!["search.lan".parse().unwrap()];
        [
            ("a", Policy::new(Names::OfPlace { besides: vec![] }, Reach::Loopback, bound("127.0.0.1:7411"))),
            ("b", Policy::new(public, Reach::Loopback, bound("127.0.0.1:7411"))),
            ("c2", Policy::new(Names::OfPlace { besides: lan() }, Reach::Published, bound("0.0.0.0:7411"))),
            ("c", Policy::new(Names::Any { besides: vec![] }, Reach::Published, bound("0.0.0.0:7411"))),
        ]
    }

    #[test]
    fn each_configuration_has_its_hosts() {
        for (host, admitted_by) in [
            ("localhost", &["a", "c2", "c"][..]),
            ("localhost:7411", &["a", "c2", "c"]),
            ("localhost:9", &["a", "c2", "c"]),
            ("LOCALHOST.", &["a", "c2", "c"]),
            ("127.0.0.1", &["a", "c2", "c"]),
            ("[::1]:7411", &["a", "c2", "c"]),
            ("127.0.0.2", &["c2", "c"]),
            ("[::ffff:127.0.0.1]", &["c2", "c"]),
            ("192.168.1.10:7411", &["c2", "c"]),
            ("[fd00::10]", &["c2", "c"]),
            ("0.0.0.0", &["c"]),
            ("[::]:7411", &["c"]),
            ("127.1", &["c"]),
            ("2130706433", &["c"]),
            ("127.000.000.001", &["c"]),
            ("search.example.com", &["b", "c"]),
            ("search.example.com:443", &["b", "c"]),
            ("SEARCH.example.com.", &["b", "c"]),
            ("search.example.com:80", &["c"]),
            ("search.example.com:7411", &["c"]),
            ("sub.search.example.com", &["c"]),
            ("evilsearch.example.com", &["c"]),
            ("search.example.com.evil.example.net", &["c"]),
            ("search.lan", &["c2", "c"]),
            ("search.lan:8080", &["c2", "c"]),
            ("foo.localhost", &["c"]),
            ("localhost.localdomain", &["c"]),
            ("127.0.0.1.nip.io", &["c"]),
            ("evil.example.net", &["c"]),
        ] {
            let parsed = Host::parse(host.as_bytes()).unwrap();
            for (name, policy) in policies() {
                assert_eq!(policy.admits_host(&parsed), admitted_by.contains(&name), "{host} in {name}");
            }
        }
    }

    #[test]
    fn each_configuration_has_its_origins() {
        let own = ["localhost:7411", "search.example.com", "192.0.2.10:7411", "192.0.2.10:7411"];
        for (origin, admitted_by) in [
            ("http://localhost:7411", &["a"][..]),
            ("http://127.0.0.1:7411", &["a"]),
            ("http://[::1]:7411", &["a"]),
            ("http://localhost", &[]),
            ("http://localhost:9", &[]),
            ("https://localhost:7411", &[]),
            ("http://127.0.0.2:7411", &[]),
            ("https://search.example.com", &["b"]),
            ("https://search.example.com:443", &["b"]),
            ("https://search.example.com:7411", &[]),
            ("http://search.example.com", &[]),
            ("https://sub.search.example.com", &[]),
            ("http://192.0.2.10:7411", &["c2", "c"]),
            ("http://192.0.2.10", &[]),
            ("https://192.0.2.10:7411", &[]),
            ("http://192.0.2.11:7411", &[]),
            ("http://search.lan:7411", &["c2"]),
            ("http://search.lan", &[]),
            ("http://2130706433:7411", &[]),
            ("http://evil.example.net", &[]),
        ] {
            let parsed = Origin::parse(origin.as_bytes()).unwrap();
            for ((name, policy), own) in policies().into_iter().zip(own) {
                let host = Host::parse(own.as_bytes()).unwrap();
                assert_eq!(
                    policy.admits_origin(&parsed, &host),
                    admitted_by.contains(&name),
                    "{origin} in {name}"
                );
            }
        }
    }

    #[test]
    fn the_address_bound_is_ours_and_so_is_an_allowed_host_at_its_port() {
        let besides = vec!["search.lan:8080".parse().unwrap(), "[fd00::10]".parse().unwrap()];
        let bound = Some("127.0.0.9:7411".parse().unwrap());
        let policy = Policy::new(Names::OfPlace { besides }, Reach::Loopback, bound);
        let admits = |text: &str| policy.admits_host(&Host::parse(text.as_bytes()).unwrap());
        assert!(admits("127.0.0.9:1") && admits("search.lan:8080") && admits("[fd00::10]:1"));
        assert!(!admits("127.0.0.8") && !admits("search.lan") && !admits("search.lan:80"));
    }

    #[test]
    fn a_public_url_has_its_port_and_may_come_without() {
        let urls = vec!["http://a.example:8080/x".parse().unwrap(), "https://b.example".parse().unwrap()];
        let policy = Policy::new(Names::Public { urls, besides: vec![] }, Reach::Unix, None);
        let admits = |text: &str| policy.admits_host(&Host::parse(text.as_bytes()).unwrap());
        assert!(admits("a.example:8080") && admits("a.example") && admits("b.example:443"));
        assert!(!admits("a.example:80") && !admits("b.example:8080") && !admits("localhost"));
        let origin = |text: &str| {
            policy
                .admits_origin(&Origin::parse(text.as_bytes()).unwrap(), &Host::parse(b"a.example").unwrap())
        };
        assert!(origin("http://a.example:8080") && origin("https://b.example"));
        assert!(!origin("http://a.example") && !origin("http://b.example"));
    }

    proptest! {
        #[test]
        fn the_door_refuses_what_it_does_not_list(text in "[a-zA-Z0-9._:\\[\\]-]{1,30}") {
            let listed = [
                "localhost", "127.0.0.1", "[::1]", "search.example.com", "search.lan",
            ];
            if let Ok(host) = Host::parse(text.as_bytes()) {
                let bare = Host { port: None, ..host.clone() }.to_string();
                for (name, policy) in policies() {
                    let is_address = host.name.destination().is_some();
                    let may = listed.contains(&bare.as_str()) || name == "c" || name == "c2" && is_address;
                    prop_assert!(may || !policy.admits_host(&host), "{} in {}", text, name);
                }
            }
        }

        #[test]
        fn a_suffix_or_prefix_of_a_listed_name_is_another_name(extra in "[a-z0-9.-]{1,10}") {
            for listed in ["localhost", "127.0.0.1", "search.example.com", "search.lan"] {
                for text in [format!("{extra}{listed}"), format!("{listed}{extra}")] {
                    let Ok(host) = Host::parse(text.as_bytes()) else { continue };
                    if host.to_string() == listed || host.name.destination().is_some() { continue }
                    for (name, policy) in policies() {
                        prop_assert!(name == "c" || !policy.admits_host(&host), "{} in {}", text, name);
                    }
                }
            }
        }
    }
}
