//! What travels beside a message: who asks, from where, for how long; and which version answers.
//!
//! Fronts write it and the daemon reads it, both here, so that they agree. Whoever may open the socket is
//! believed: the socket's modes and peer credentials are the check. Deliberately left out: the messages.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use tonic::metadata::{AsciiMetadataValue, BinaryMetadataValue, MetadataMap};

/// The request's id, from the first process that saw the request to the last.
pub const REQUEST_ID: &str = "x-request-id";
/// The W3C trace context.
pub const TRACE_PARENT: &str = "traceparent";
/// How long the caller waits, in gRPC's own form.
pub const TIMEOUT: &str = "grpc-timeout";
/// The front that the request came in by.
pub const SURFACE: &str = "footnote-surface";
/// The one who asks.
pub const PRINCIPAL: &str = "footnote-principal";
/// The caller's working directory: binary, because a path may hold any bytes but NUL.
pub const WORKING_DIRECTORY: &str = "footnote-working-directory-bin";
/// Present where the caller wants citations to carry absolute paths.
pub const OPEN_PATH: &str = "footnote-open-path";
/// On every response: the daemon's version.
pub const DAEMON_VERSION: &str = "footnote-version";

/// The version of this build, which fronts and daemon share.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The principal of everyone, until there are tokens.
pub const ANONYMOUS: &str = "anonymous";

/// Who asks, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The request's id.
    pub request_id: RequestId,
    /// The W3C trace context, where there is one.
    pub trace_parent: Option<String>,
    /// The front that the request came in by.
    pub surface: Surface,
    /// The one who asks.
    pub principal: String,
    /// The working directory, absolute; only local fronts have one.
    pub working_directory: Option<PathBuf>,
    /// Whether citations carry absolute paths; only for local fronts.
    pub open_paths: bool,
}

impl Caller {
    /// An anonymous caller of `surface` with a new request id, who is nowhere and wants no paths.
    pub fn new(surface: Surface) -> Self {
        Self {
            request_id: RequestId::random(),
            trace_parent: None,
            surface,
            principal: ANONYMOUS.to_owned(),
            working_directory: None,
            open_paths: false,
        }
    }

    /// Writes this beside a request. A principal or trace context that no header can carry is left out.
    pub fn write(&self, metadata: &mut MetadataMap) {
        let mut insert = |name: &'static str, value: &str| {
            if let Ok(value) = AsciiMetadataValue::try_from(value) {
                metadata.insert(name, value);
            }
        };
        insert(REQUEST_ID, self.request_id.as_str());
        insert(SURFACE, self.surface.as_str());
        insert(PRINCIPAL, &self.principal);
        if let Some(context) = &self.trace_parent {
            insert(TRACE_PARENT, context);
        }
        if self.open_paths {
            insert(OPEN_PATH, "1");
        }
        if let Some(path) = &self.working_directory {
            metadata
                .insert_bin(WORKING_DIRECTORY, BinaryMetadataValue::from_bytes(path.as_os_str().as_bytes()));
        }
    }

    /// Reads what stands beside a request. What is absent or malformed has the value of [`Caller::new`].
    pub fn read(metadata: &MetadataMap) -> Self {
        let text = |name| metadata.get(name).and_then(|value| value.to_str().ok());
        let surface = text(SURFACE).map_or(Surface::Grpc, Surface::named);
        let working_directory = metadata
            .get_bin(WORKING_DIRECTORY)
            .and_then(|value| value.to_bytes().ok())
            .map(|bytes| PathBuf::from(OsString::from_vec(bytes.to_vec())))
            .filter(|path| path.is_absolute() && surface.is_local());
        Self {
            request_id: text(REQUEST_ID).and_then(RequestId::accept).unwrap_or_else(RequestId::random),
            trace_parent: text(TRACE_PARENT).filter(|context| context.len() <= 128).map(str::to_owned),
            surface,
            principal: text(PRINCIPAL).filter(|name| name.len() <= 256).unwrap_or(ANONYMOUS).to_owned(),
            working_directory,
            open_paths: surface.is_local() && metadata.contains_key(OPEN_PATH),
        }
    }
}

/// The front that a request came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The command line.
    Cli,
    /// MCP over standard input and output.
    Stdio,
    /// MCP over HTTP.
    Mcp,
    /// REST.
    Rest,
    /// None of ours: a client of the socket itself.
    Grpc,
}

impl Surface {
    const ALL: [Self; 5] = [Self::Cli, Self::Stdio, Self::Mcp, Self::Rest, Self::Grpc];

    /// Its name in metadata and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Stdio => "stdio",
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Grpc => "grpc",
        }
    }

    /// Whether the caller sits at this host, so that a path of this host means something to them.
    pub const fn is_local(self) -> bool {
        match self {
            Self::Cli | Self::Stdio => true,
            Self::Mcp | Self::Rest | Self::Grpc => false,
        }
    }

    fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|surface| surface.as_str() == name).unwrap_or(Self::Grpc)
    }
}

/// A request's id: 1 to 64 of `A-Z a-z 0-9 . _ -`, so that it can stand in a log line and a header as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// A new one: 32 hex digits.
    pub fn random() -> Self {
        // The standard library keys every hasher with fresh randomness of the system's; an id needs no more.
        let half = || RandomState::new().hash_one(std::process::id());
        Self(format!("{:016x}{:016x}", half(), half()))
    }

    /// Takes over a caller's id, if it is one.
    pub fn accept(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        ((1..=64).contains(&text.len()) && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes how long the caller waits beside a request, as at most eight digits and a unit.
pub fn write_timeout(metadata: &mut MetadataMap, timeout: Duration) {
    let text = match timeout.as_millis() {
        // Less than a millisecond is no time to answer anything, and nought is not allowed.
        0 => "1m".to_owned(),
        milliseconds @ ..=99_999_999 => format!("{milliseconds}m"),
        _ => format!("{}S", timeout.as_secs().min(99_999_999)),
    };
    if let Ok(value) = AsciiMetadataValue::try_from(text) {
        metadata.insert(TIMEOUT, value);
    }
}

/// How long the caller waits: gRPC's `grpc-timeout`. `None` where it is absent or malformed.
pub fn timeout(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get(TIMEOUT)?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

/// Writes the version of this build beside a response.
pub fn write_version(metadata: &mut MetadataMap) {
    metadata.insert(DAEMON_VERSION, AsciiMetadataValue::from_static(VERSION));
}

/// The version of the daemon that answered; `None` where something else did.
pub fn version(metadata: &MetadataMap) -> Option<&str> {
    metadata.get(DAEMON_VERSION)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_front_writes_the_daemon_reads() {
        let caller = Caller {
            trace_parent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
            working_directory: Some(OsString::from_vec(b"/tmp/\xff \n\xc3\xa9".to_vec()).into()),
            open_paths: true,
            ..Caller::new(Surface::Cli)
        };
        let mut metadata = MetadataMap::new();
        caller.write(&mut metadata);
        assert_eq!(Caller::read(&metadata), caller);
    }

    #[test]
    fn a_stranger_is_anonymous_and_nowhere() {
        let caller = Caller::read(&MetadataMap::new());
        assert_eq!(caller, Caller { request_id: caller.request_id.clone(), ..Caller::new(Surface::Grpc) });
    }

    #[test]
    fn only_local_fronts_have_places() {
        for surface in Surface::ALL {
            let asked =
                Caller { working_directory: Some("/tmp".into()), open_paths: true, ..Caller::new(surface) };
            let mut metadata = MetadataMap::new();
            asked.write(&mut metadata);
            let read = Caller::read(&metadata);
            assert_eq!(
                (read.open_paths, read.working_directory.is_some()),
                (surface.is_local(), surface.is_local())
            );
        }
    }

    #[test]
    fn ids_that_could_forge_a_log_line_are_replaced() {
        for text in ["", "a b", "a\nb", "a\"b", &"a".repeat(65)] {
            assert_eq!(RequestId::accept(text), None, "{text:?}");
        }
        assert_eq!(RequestId::accept("a.B_9-").unwrap().as_str(), "a.B_9-");
        assert_ne!(RequestId::random(), RequestId::random());
        assert_eq!(RequestId::accept(RequestId::random().as_str()).map(|id| id.as_str().len()), Some(32));
    }

    #[test]
    fn timeouts_read_back_as_they_and_tonic_write_them() {
        for duration in [Duration::from_millis(1), Duration::from_secs(30), Duration::from_hours(200_000)] {
            let mut request = tonic::Request::new(());
            request.set_timeout(duration);
            assert_eq!(timeout(request.metadata()), Some(duration));
            write_timeout(request.metadata_mut(), duration);
            assert_eq!(timeout(request.metadata()), Some(duration.min(Duration::from_secs(99_999_999))));
        }
        for text in ["", "S", "1", "-1S", "123456789S", "1x", "1é"] {
            let mut metadata = MetadataMap::new();
            if let Ok(value) = text.parse() {
                metadata.insert(TIMEOUT, value);
            }
            assert_eq!(timeout(&metadata), None, "{text}");
        }
    }
}
