//! The host that a request is for, read from bytes: a name or an address, and perhaps a port.
//!
//! The grammar is that of RFC 3986, narrowed to what names a host in DNS: what could be read in two ways is
//! malformed. Nothing is decoded, trimmed or resolved. Deliberately left out: which hosts are ours (`policy`).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

/// The longest name that DNS knows, in its textual form without the root's dot.
const MAX_NAME: usize = 253;

/// The longest label between two dots.
const MAX_LABEL: usize = 63;

/// A host as `Host`, `:authority` and the absolute form of a target name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Host {
    pub(crate) name: Name,
    /// `None` where none is written, or an empty one.
    pub(crate) port: Option<NonZeroU16>,
}

/// What a host is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// Lower case, without the root's dot. Also what only looks like an IPv4 address: `127.1`, `0x7f000001`.
    Domain(Box<str>),
    /// An address, written as addresses are and in no other way.
    Address(IpAddr),
}

/// Bytes that name no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Host {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let (name, port) = if let Some(rest) = bytes.strip_prefix(b"[") {
            let (literal, port) = split_at(rest, b']').ok_or(Malformed)?;
            (Name::Address(IpAddr::V6(v6(literal)?)), port)
        } else {
            let end = bytes.iter().position(|&byte| byte == b':').unwrap_or(bytes.len());
            let (name, port) = bytes.split_at(end);
            (Name::parse(name)?, port)
        };
        let port = match port {
            [] | b":" => None,
            [b':', digits @ ..] => Some(parse_port(digits)?),
            _ => return Err(Malformed),
        };
        Ok(Self { name, port })
    }

    /// The port, where `default` stands for none.
    pub(crate) fn port_or(&self, default: u16) -> u16 {
        self.port.map_or(default, NonZeroU16::get)
    }
}

impl Name {
    pub(crate) const LOCALHOST: &str = "localhost";

    fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let name = bytes.strip_suffix(b".").unwrap_or(bytes);
        if name.len() > MAX_NAME || !name.split(|&byte| byte == b'.').all(is_label) {
            return Err(Malformed);
        }
        let name = str::from_utf8(name).map_err(|_| Malformed)?;
        // `FromStr` takes four decimal numbers without leading noughts; other spellings, which some resolvers take
        // for addresses, stay names, and no list has those. With the root's dot it is one of them.
        let dotted = name.len() < bytes.len();
        Ok(match name.parse::<Ipv4Addr>() {
            Ok(address) if !dotted => Self::Address(IpAddr::V4(address)),
            Ok(_) => Self::Domain(format!("{name}.").into()),
            Err(_) => Self::Domain(name.to_ascii_lowercase().into()),
        })
    }

    pub(crate) fn is_localhost(&self) -> bool {
        matches!(self, Self::Domain(name) if &**name == Self::LOCALHOST)
    }

    /// The address that it is, unless that is a bind's wildcard, which nobody can be at.
    pub(crate) fn destination(&self) -> Option<IpAddr> {
        match self {
            Self::Address(address) if !address.to_canonical().is_unspecified() => Some(*address),
            Self::Address(_) | Self::Domain(_) => None,
        }
    }
}

/// Letters, digits and hyphens inside. Underscores are no host name's in DNS, but Compose and Kubernetes have such
/// services, and nobody reads them in two ways.
fn is_label(label: &[u8]) -> bool {
    let fits = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_LABEL).contains(&label.len())
        && label.iter().all(fits)
        && !label.starts_with(b"-")
        && !label.ends_with(b"-")
}

/// Neither zone ids (they mean something on one host only) nor `v1.…` of the future.
fn v6(literal: &[u8]) -> Result<Ipv6Addr, Malformed> {
    str::from_utf8(literal).ok().and_then(|text| text.parse().ok()).ok_or(Malformed)
}

/// Noughts in front are in the grammar and change nothing; port 0 is nobody's.
fn parse_port(digits: &[u8]) -> Result<NonZeroU16, Malformed> {
    let mut port: u16 = 0;
    for digit in digits {
        let value = digit.checked_sub(b'0').filter(|value| *value < 10).ok_or(Malformed)?;
        port = port.checked_mul(10).and_then(|port| port.checked_add(value.into())).ok_or(Malformed)?;
    }
    NonZeroU16::new(port).ok_or(Malformed)
}

fn split_at(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == separator)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::Domain(name) => f.write_str(name)?,
            Name::Address(IpAddr::V4(address)) => address.fmt(f)?,
            Name::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn shown(bytes: &[u8]) -> String {
        Host::parse(bytes).unwrap_or_else(|_| panic!("{}", bytes.escape_ascii())).to_string()
    }

    #[test]
    fn hosts_are_read_by_value() {
        for (written, meant) in [
            ("localhost", "localhost"),
            ("LOCALHOST:7411", "localhost:7411"),
            ("localhost:", "localhost"),
            ("localhost:080", "localhost:80"),
            ("localhost:00000000000000065535", "localhost:65535"),
            ("search.example.com.", "search.example.com"),
            ("search.example.com.:443", "search.example.com:443"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]:80", "[::1]:80"),
            ("[0:0:0:0:0:0:0:1]", "[::1]"),
            ("[FD00::A]", "[fd00::a]"),
            ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
            ("xn--lcalhost-2fg", "xn--lcalhost-2fg"),
            ("my_service:80", "my_service:80"),
            ("a-b.c", "a-b.c"),
            ("1.example", "1.example"),
        ] {
            assert_eq!(shown(written.as_bytes()), meant);
        }
    }

    #[test]
    fn what_only_looks_like_an_address_is_a_name() {
        for text in [
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "017700000001",
            "127.000.000.001",
            "127.0.0.01",
            "256.256.256.256",
            "1.2.3.4.5",
            "127.0.0.1.",
        ] {
            let host = Host::parse(text.as_bytes()).unwrap();
            assert!(matches!(host.name, Name::Domain(_)), "{text}");
            assert_eq!(host.name.destination(), None, "{text}");
        }
        for text in ["0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "[0:0::0]"] {
            assert_eq!(Host::parse(text.as_bytes()).unwrap().name.destination(), None, "{text}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_malformed() {
        for bytes in [
            &b""[..],
            b" ",
            b".",
            b"..",
            b"a..b",
            b".a",
            b"a..",
            b":80",
            b"localhost:0",
            b"localhost:00",
            b"localhost:65536",
            b"localhost:184467440737095516160",
            b"localhost:-1",
            b"localhost:+80",
            b"localhost:abc",
            b"localhost:80abc",
            b"localhost:80:80",
            b"localhost:80 ",
            b"localhost :80",
            b"localhost: 80",
            b" localhost",
            b"localhost ",
            b"localhost\t",
            b"localhost\r\n",
            b"localhost\0",
            b"localhost\x7f",
            b"localhost\xa0",
            b"l\xd0\xbecalhost",
            b"\xef\xbd\x8cocalhost",
            b"b\xc3\xbccher.example",
            b"::1",
            b"::1:80",
            b"[::1",
            b"::1]",
            b"[[::1]]",
            b"[]",
            b"[]:80",
            b"[::1]]",
            b"[::1]80",
            b"[::1]evil.example.net",
            b"[::1].evil.example.net:80",
            b"[::1%lo]",
            b"[::1%25lo]",
            b"[fe80::1%1]",
            b"[127.0.0.1]:80",
            b"[localhost]",
            b"[v1.fe80]",
            b"[::1 ]",
            b"[12345::]",
            b"[:::]",
            b"[1:2:3:4:5:6:7:8:9]",
            b"[::ffff:127.1]",
            b"user@localhost",
            b"user:pass@localhost",
            b"@localhost",
            b"localhost:80@evil.example.net",
            b"localhost/",
            b"localhost?",
            b"localhost#evil.example.net",
            b"localhost\\",
            b"http://localhost",
            b"//localhost",
            b"localhost,evil.example.net",
            b"localhost, localhost",
            b"localhost;evil.example.net",
            b"localhost evil.example.net",
            b"\"localhost\"",
            b"*",
            b"*.localhost",
            b"%6c%6f%63alhost",
            b"localhost%00.evil.example.net",
            b"localhost%2eevil.example.net",
            b"-localhost",
            b"localhost-",
            b"a.-b",
            b"a$b",
            b"a!b",
            b"a~b",
            b"a'b",
        ] {
            assert_eq!(Host::parse(bytes), Err(Malformed), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn names_are_no_longer_than_in_dns() {
        let label = "a".repeat(63);
        let long = [label.as_str(); 4].join(".");
        assert_eq!(shown(&long.as_bytes()[..253]), long[..253]);
        assert_eq!(Host::parse(&long.as_bytes()[..254]), Err(Malformed));
        assert_eq!(Host::parse("a".repeat(64).as_bytes()), Err(Malformed));
        assert_eq!(Host::parse("a".repeat(9000).as_bytes()), Err(Malformed));
    }

    /// Bytes in which hosts are likely, and everything else possible.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..40),
            "[a-zA-Z0-9._:@%/\\[\\] -]{0,24}".prop_map(String::into_bytes),
            "(localhost|127\\.0\\.0\\.1|\\[::1\\]|[0-9a-fx.]{1,12})(:[0-9]{0,6})?"
                .prop_map(String::into_bytes),
        ]
    }

    proptest! {
        #[test]
        fn a_host_reads_back_as_it_is_shown(bytes in bytes()) {
            if let Ok(host) = Host::parse(&bytes) {
                prop_assert_eq!(Host::parse(host.to_string().as_bytes()), Ok(host));
            }
        }

        #[test]
        fn case_does_not_matter(bytes in bytes()) {
            prop_assert_eq!(Host::parse(&bytes.to_ascii_uppercase()), Host::parse(&bytes.to_ascii_lowercase()));
        }

        #[test]
        fn only_bytes_of_hosts_are_in_a_host(bytes in bytes()) {
            let fits = |&byte: &u8| byte.is_ascii_alphanumeric() || b".:[]-_".contains(&byte);
            if Host::parse(&bytes).is_ok() {
                prop_assert!(bytes.iter().all(fits));
            }
        }
    }
}
