//! What the door knows of a request that it let in: its id, its trace, and who sent it.

use std::fmt;
use std::net::IpAddr;

use http::HeaderMap;
use proto::metadata::{Caller, REQUEST_ID, RequestId, Surface, TRACE_PARENT};

/// A request's identity, in its extensions for the gateway to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The id that log lines of every process carry: the caller's where it is well-formed, else a new one.
    pub request_id: RequestId,
    /// The W3C trace context, where the caller sent a well-formed one.
    pub trace_parent: Option<String>,
    /// Who sent it, for logs and limits. Never a reason to let somebody in.
    pub client: Client,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// A network address.
    Address(IpAddr),
    /// Somebody on this host, over a Unix socket.
    Local,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Local => f.write_str("unix"),
        }
    }
}

impl Visit {
    /// Reads id and trace from a request's headers.
    pub(crate) fn read(headers: &HeaderMap, client: Client) -> Self {
        Self {
            request_id: only(headers, REQUEST_ID)
                .and_then(RequestId::accept)
                .unwrap_or_else(RequestId::random),
            trace_parent: only(headers, TRACE_PARENT).filter(|text| is_trace_parent(text)).map(str::to_owned),
            client,
        }
    }

    /// The caller as the daemon hears of it.
    pub fn caller(&self, surface: Surface) -> Caller {
        Caller {
            request_id: self.request_id.clone(),
            trace_parent: self.trace_parent.clone(),
            ..Caller::new(surface)
        }
    }
}

/// The one value of a header; two contradict each other, so that neither is believed.
fn only<'headers>(headers: &'headers HeaderMap, name: &str) -> Option<&'headers str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether this is a `traceparent` as <https://www.w3.org/TR/trace-context/> has it: version, trace id, parent id
/// and flags in lower-case hex, neither id zero. A later version may go on behind the flags.
fn is_trace_parent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut hex = |length: usize| {
        parts.next().filter(|part| {
            part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    let (Some(version), Some(trace), Some(parent), Some(_flags)) = (hex(2), hex(32), hex(16), hex(2)) else {
        return false;
    };
    let ends = parts.next().is_none();
    let is_nought = |id: &str| id.bytes().all(|byte| byte == b'0');
    version != "ff"
        && (ends || version != "00")
        && !is_nought(trace)
        && !is_nought(parent)
        && text.len() <= 128
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(fields: &[(&'static str, &str)]) -> Visit {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        Visit::read(&headers, Client::Local)
    }

    #[test]
    fn a_well_formed_id_is_kept_and_any_other_replaced() {
        assert_eq!(read(&[(REQUEST_ID, "a-1")]).request_id.as_str(), "a-1");
        for fields in [&[][..], &[(REQUEST_ID, "a b")], &[(REQUEST_ID, "a"), (REQUEST_ID, "a")]] {
            assert_eq!(read(fields).request_id.as_str().len(), 32, "{fields:?}");
        }
    }

    #[test]
    fn only_a_well_formed_trace_goes_on() {
        assert_eq!(read(&[(TRACE_PARENT, GOOD)]).trace_parent.as_deref(), Some(GOOD));
        let later = format!("01{}-more", &GOOD[2..]);
        assert_eq!(read(&[(TRACE_PARENT, &later)]).trace_parent.as_deref(), Some(later.as_str()));
        for bad in [
            "",
            "00",
            &GOOD.to_uppercase(),
            &format!("ff{}", &GOOD[2..]),
            &format!("{GOOD}-more"),
            &GOOD.replace("b7ad6b7169203331", "0000000000000000"),
            &GOOD.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &format!("01{}-{}", &GOOD[2..], "x".repeat(100)),
        ] {
            assert_eq!(read(&[(TRACE_PARENT, bad)]).trace_parent, None, "{bad}");
        }
        assert_eq!(read(&[(TRACE_PARENT, GOOD), (TRACE_PARENT, GOOD)]).trace_parent, None);
    }
}
