//! Where a gateway listens, as it is written, and whether only this host can come in there.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP address. A port of 0 is chosen by the system.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
    /// The sockets that systemd (or another that speaks its protocol) opened for this process.
    Systemd,
}

/// Who can reach a place where is listened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those on this host, browsers among them.
    Loopback,
    /// Those on this host that may open the socket.
    Unix,
    /// Everybody who has a way to this address.
    Published,
}

impl Reach {
    /// The reach of a TCP address: what is literally loopback, also mapped into IPv6, and nothing that resolves to it.
    pub(crate) fn of(address: SocketAddr) -> Self {
        if address.ip().to_canonical().is_loopback() { Self::Loopback } else { Self::Published }
    }
}

/// A text that is no place to listen at.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParseListenError {
    /// A name could mean another address tomorrow.
    #[error("names are not resolved here: write {0}")]
    Name(String),
    /// There is nothing behind `unix:`, or it is relative.
    #[error("write `unix:` and an absolute path")]
    UnixPath,
    /// It is something else.
    #[error("write an address with a port (`127.0.0.1:7411`, `[::1]:7411`), `unix:/path` or `systemd`")]
    Neither,
}

impl FromStr for Listen {
    type Err = ParseListenError;

    fn from_str(text: &str) -> Result<Self, ParseListenError> {
        if text == "systemd" {
            return Ok(Self::Systemd);
        }
        if let Some(path) = text.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            return if path.is_absolute() { Ok(Self::Unix(path)) } else { Err(ParseListenError::UnixPath) };
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Tcp(address));
        }
        match text.rsplit_once(':') {
            Some((name, port)) if port.parse::<u16>().is_ok() => Err(match name {
                "" | "*" => ParseListenError::Neither,
                _ if name.eq_ignore_ascii_case("localhost") => {
                    ParseListenError::Name(format!("127.0.0.1:{port}"))
                }
                _ if name.contains([':', '[']) => ParseListenError::Neither,
                _ => ParseListenError::Name(format!("the address that {name} has")),
            }),
            Some(_) | None => Err(ParseListenError::Neither),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Systemd => f.write_str("systemd"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_as_they_are_written() {
        for text in ["127.0.0.1:7411", "[::1]:0", "0.0.0.0:80", "[::]:80", "unix:/run/rest.sock", "systemd"] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn names_are_refused_with_what_to_write() {
        let refused = |text: &str| text.parse::<Listen>().unwrap_err().to_string();
        assert_eq!(refused("localhost:7411"), "names are not resolved here: write 127.0.0.1:7411");
        assert_eq!(refused("LocalHost:1"), "names are not resolved here: write 127.0.0.1:1");
        assert!(refused("example.com:80").contains("the address that example.com has"));
        for text in ["", ":80", "80", "*:80", "::1:80", "127.0.0.1", "127.0.0.1:65536", "[::1]", "127.1:80 "]
        {
            assert_eq!(text.parse::<Listen>(), Err(ParseListenError::Neither), "{text}");
        }
        for text in ["unix:", "unix:relative.sock"] {
            assert_eq!(text.parse::<Listen>(), Err(ParseListenError::UnixPath), "{text}");
        }
    }

    #[test]
    fn only_what_is_literally_loopback_counts_as_such() {
        for (text, reach) in [
            ("127.0.0.1:1", Reach::Loopback),
            ("127.9.9.9:1", Reach::Loopback),
            ("[::1]:1", Reach::Loopback),
            ("[::ffff:127.0.0.1]:1", Reach::Loopback),
            ("0.0.0.0:1", Reach::Published),
            ("[::]:1", Reach::Published),
            ("[::ffff:0.0.0.0]:1", Reach::Published),
            ("192.168.1.10:1", Reach::Published),
            ("[fe80::1]:1", Reach::Published),
        ] {
            assert_eq!(Reach::of(text.parse().unwrap()), reach, "{text}");
        }
    }
}
