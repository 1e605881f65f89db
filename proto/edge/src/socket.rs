//! One connection's bytes: a TCP or a Unix stream as the door speaks HTTP over it.
//!
//! - Bytes that were read to tell HTTP/2 from HTTP/1 are read again.
//! - One who does not take its answer is not waited for.
//! - The end is gentle: closing on bytes that nobody read resets a connection, and then the other end may never see
//!   the refusal that it was sent. So the writing side is shut first, and a bounded amount is read and thrown away.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Sleep;

use crate::body::MAX_BODY_BYTES;
use crate::guests::Guest;

/// What HTTP/2 begins with (RFC 9113, 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long one waits for the other end to take a byte of its answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long, and how much, is read after the end: a body that is too large, as far as proxies let one pass. They send it
/// whole before they look for an answer.
const LINGER_TIME: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 4 * MAX_BODY_BYTES;

/// A stream of either kind.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What the other end speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// A stream whose first bytes were looked at.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    /// The first bytes, as far as they are not read again yet.
    first: Vec<u8>,
    /// Hears of bytes that come; nobody does for HTTP/2, where they need not be a request's.
    guest: Option<Arc<Guest>>,
    /// Runs while the other end takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    end: End,
}

#[derive(Debug)]
enum End {
    NotYet,
    Lingering { until: Pin<Box<Sleep>>, left: usize },
    Reached,
}

impl Socket {
    /// Reads until it is clear what the other end speaks: not a byte more than that takes.
    pub(crate) async fn look(mut stream: Stream, guest: &Arc<Guest>) -> io::Result<(Version, Self)> {
        let mut first = Vec::with_capacity(PREFACE.len());
        while first.len() < PREFACE.len() && PREFACE.starts_with(&first) {
            let mut more = [0; PREFACE.len()];
            let room = PREFACE.len() - first.len();
            match stream.read(&mut more[..room]).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => first.extend_from_slice(&more[..length]),
            }
        }
        let version = if first == PREFACE { Version::Http2 } else { Version::Http1 };
        let guest = (version == Version::Http1).then(|| Arc::clone(guest));
        if let Some(guest) = &guest {
            guest.hear();
        }
        Ok((version, Self { stream, first, guest, stalled: None, end: End::NotYet }))
    }

    /// Passes a write's outcome on, unless the other end has taken nothing for too long.
    fn in_time<T>(&mut self, context: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.stalled = None;
            return wrote;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIMEOUT)));
        stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Reads and throws away until the other end is done, too, or time or patience run out.
fn linger(
    stream: &mut Stream,
    context: &mut Context<'_>,
    until: &mut Pin<Box<Sleep>>,
    left: &mut usize,
) -> Poll<()> {
    let mut waste = [0; 4096];
    while until.as_mut().poll(context).is_pending() {
        let mut buffer = ReadBuf::new(&mut waste);
        let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
        let length = buffer.filled().len();
        if read.is_err() || length == 0 || length > *left {
            break;
        }
        *left -= length;
    }
    Poll::Ready(())
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let length = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first[..length]);
            self.first.drain(..length);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if let Some(guest) = &self.guest
            && buffer.filled().len() > before
        {
            guest.hear();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.in_time(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.end {
                End::NotYet => {
                    ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
                    let until = Box::pin(tokio::time::sleep(LINGER_TIME));
                    this.end = End::Lingering { until, left: LINGER_BYTES };
                }
                End::Lingering { until, left } => {
                    ready!(linger(&mut this.stream, context, until, left));
                    this.end = End::Reached;
                }
                End::Reached => return Poll::Ready(Ok(())),
            }
        }
    }
}

/// Gives each method of a trait to whichever stream it is.
macro_rules! either {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Stream::Tcp($stream) => $call,
            Stream::Unix($stream) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_shutdown(context))
    }
}
