//! Who sent a request, where proxies stand between: for logs and limits alone.
//!
//! Every proxy writes behind what it was sent whom it was sent by. So the list is read from its end, as long as the
//! hop that wrote is one that is trusted: what a client wrote itself stands further left and is never reached.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::HeaderMap;
use http::header::FORWARDED;
use ipnet::IpNet;

use crate::visit::Client;

/// A proxy that is believed who its client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustedProxy {
    /// Those of a network.
    Network(IpNet),
    /// Those that come in by a Unix socket.
    Unix,
}

/// A text that is no network.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("write an address, a network (`10.0.0.0/8`, `fd00::/8`) or `unix`")]
pub struct ParseTrustedProxyError;

impl FromStr for TrustedProxy {
    type Err = ParseTrustedProxyError;

    fn from_str(text: &str) -> Result<Self, ParseTrustedProxyError> {
        let network = || text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        match text {
            "unix" => Ok(Self::Unix),
            _ => network().map(Self::Network).map_err(|_| ParseTrustedProxyError),
        }
    }
}

impl TrustedProxy {
    fn is(&self, client: Client) -> bool {
        match (self, client) {
            (Self::Network(network), Client::Address(address)) => network.contains(&address),
            (Self::Unix, Client::Local) => true,
            (Self::Network(_), Client::Local) | (Self::Unix, Client::Address(_)) => false,
        }
    }
}

/// The right-most hop that is not trusted. The two headers that name hops are not believed beside each other: a proxy
/// writes one and passes the other on as its client made it up.
pub(crate) fn client(peer: Client, headers: &HeaderMap, trusted: &[TrustedProxy]) -> Client {
    let is_trusted = |client| trusted.iter().any(|proxy| proxy.is(client));
    if !is_trusted(peer) {
        return peer;
    }
    let hops = match (hops(headers, "x-forwarded-for"), hops(headers, FORWARDED.as_str())) {
        (listed, forwarded) if forwarded.is_empty() => listed.iter().map(|hop| address(hop)).collect(),
        (listed, forwarded) if listed.is_empty() => forwarded.iter().map(|hop| forwarded_for(hop)).collect(),
        _ => Vec::new(),
    };
    let mut client = peer;
    for hop in hops.into_iter().rev() {
        match hop {
            Some(address) if is_trusted(client) => client = Client::Address(address.to_canonical()),
            // What nobody can read was perhaps written to be skipped.
            Some(_) | None => break,
        }
    }
    client
}

/// The elements of a list header, in order over all of its lines.
fn hops<'headers>(headers: &'headers HeaderMap, name: &str) -> Vec<&'headers str> {
    let lines = headers.get_all(name).iter().map(|line| line.to_str().unwrap_or("unreadable"));
    lines.flat_map(|line| line.split(',')).map(str::trim).collect()
}

/// The address in an element of `Forwarded` (RFC 7239), such as `proto=https;for="[2001:db8::17]:4711"`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(node.trim_matches('"'))
}

/// An address, perhaps with brackets, perhaps with a port.
fn address(node: &str) -> Option<IpAddr> {
    let bracketed = || node.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    node.parse()
        .ok()
        .or_else(|| node.parse().ok().map(|with_port: SocketAddr| with_port.ip()))
        .or_else(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_of(peer: &str, fields: &[(&'static str, &'static str)], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        let trusted: Vec<_> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let peer = peer.parse().map_or(Client::Local, Client::Address);
        client(peer, &headers, &trusted).to_string()
    }

    #[test]
    fn the_client_is_the_right_most_hop_that_is_not_trusted() {
        let xff = "x-forwarded-for";
        for (peer, fields, trusted, expected) in [
            // Nobody is trusted: nothing is believed.
            ("10.0.0.1", &[(xff, "192.0.2.1")][..], &[][..], "10.0.0.1"),
            ("203.0.113.9", &[(xff, "192.0.2.1")], &["10.0.0.0/8"], "203.0.113.9"),
            ("10.0.0.1", &[(xff, "192.0.2.1")], &["10.0.0.0/8"], "192.0.2.1"),
            // The client made the first one up.
            ("10.0.0.1", &[(xff, "127.0.0.1, 192.0.2.1")], &["10.0.0.0/8"], "192.0.2.1"),
            ("10.0.0.1", &[(xff, "127.0.0.1"), (xff, "192.0.2.1")], &["10.0.0.0/8"], "192.0.2.1"),
            ("10.0.0.1", &[(xff, "192.0.2.1, 10.0.0.2")], &["10.0.0.0/8"], "192.0.2.1"),
            ("10.0.0.1", &[(xff, "10.0.0.3, 10.0.0.2")], &["10.0.0.0/8"], "10.0.0.3"),
            ("10.0.0.1", &[(xff, "192.0.2.1, nonsense, 10.0.0.2")], &["10.0.0.0/8"], "10.0.0.2"),
            ("10.0.0.1", &[(xff, "nonsense")], &["10.0.0.0/8"], "10.0.0.1"),
            ("10.0.0.1", &[(xff, "")], &["10.0.0.0/8"], "10.0.0.1"),
            ("10.0.0.1", &[(xff, "192.0.2.1:4711")], &["10.0.0.1"], "192.0.2.1"),
            ("10.0.0.1", &[(xff, "[2001:db8::1]:4711")], &["10.0.0.1"], "2001:db8::1"),
            ("10.0.0.1", &[(xff, "2001:db8::1")], &["10.0.0.1"], "2001:db8::1"),
            ("10.0.0.1", &[(xff, "::ffff:192.0.2.1")], &["10.0.0.1"], "192.0.2.1"),
            ("10.0.0.1", &[("forwarded", "for=192.0.2.1")], &["10.0.0.1"], "192.0.2.1"),
            (
                "10.0.0.1",
                &[("forwarded", "for=1.1.1.1, proto=https;For=\"[2001:db8::17]:4711\"")],
                &["10.0.0.1"],
                "2001:db8::17",
            ),
            ("10.0.0.1", &[("forwarded", "for=_hidden")], &["10.0.0.1"], "10.0.0.1"),
            // One of the two is made up, and nobody knows which.
            ("10.0.0.1", &[("forwarded", "for=1.1.1.1"), (xff, "192.0.2.1")], &["10.0.0.1"], "10.0.0.1"),
            ("unix", &[(xff, "192.0.2.1")], &["unix"], "192.0.2.1"),
            ("unix", &[(xff, "192.0.2.1")], &["0.0.0.0/0"], "unix"),
            ("unix", &[], &["unix"], "unix"),
        ] {
            assert_eq!(client_of(peer, fields, trusted), expected, "{peer} {fields:?} {trusted:?}");
        }
    }
}
