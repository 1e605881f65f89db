//! A request's body: bounded in size and in time, so that no caller holds memory or a place for long.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use proto::{Code, Failure};
use tokio::time::Sleep;

use crate::guests::Seat;

/// The largest body: the longest query in four-byte characters, escaped, is a tenth of it.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// A request's body, of at most [`MAX_BODY_BYTES`] that come within the body time-out.
#[derive(Debug)]
pub struct Body {
    incoming: Incoming,
    left: usize,
    patience: Duration,
    /// Begins with the first look at a body that is not there yet.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Hears when there is nothing more to wait for.
    seat: Arc<Seat>,
}

impl Drop for Body {
    fn drop(&mut self) {
        self.seat.work();
    }
}

/// Why a body could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// There is more than is read.
    #[error("the body is over {MAX_BODY_BYTES} bytes")]
    TooLarge,
    /// It did not come in time.
    #[error("the body did not come in time")]
    TooSlow,
    /// The connection broke, or the body's framing is wrong.
    #[error("the body broke off")]
    Broken(#[source] hyper::Error),
}

impl From<&Unread> for Failure {
    fn from(unread: &Unread) -> Self {
        match unread {
            Unread::TooLarge => Self::new(Code::TooLarge),
            Unread::TooSlow => Self::with_message(Code::DeadlineExceeded, "the body did not come in time"),
            Unread::Broken(_) => Self::with_message(Code::InvalidArgument, "the body broke off"),
        }
    }
}

impl Body {
    pub(crate) fn new(incoming: Incoming, patience: Duration, seat: Arc<Seat>) -> Self {
        if incoming.is_end_stream() {
            seat.work();
        }
        Self { incoming, left: MAX_BODY_BYTES, patience, deadline: None, seat }
    }

    fn wait(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Unread>>> {
        let patience = self.patience;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        deadline.as_mut().poll(context).map(|()| Some(Err(Unread::TooSlow)))
    }

    fn take(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, Unread> {
        let length = frame.data_ref().map_or(0, Bytes::len);
        self.left = self.left.checked_sub(length).ok_or(Unread::TooLarge)?;
        Ok(frame)
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Unread;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Unread>>> {
        match Pin::new(&mut self.incoming).poll_frame(context) {
            Poll::Pending => self.wait(context),
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(self.take(frame))),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(Unread::Broken(error)))),
            Poll::Ready(None) => {
                self.seat.work();
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// Reads a body to its end. Whatever the body was wrapped in on its way through a router, the failure says what
/// [`Body`] found.
pub async fn read_body<B>(body: B) -> Result<Bytes, Failure>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut body = std::pin::pin!(body);
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failure(error.into().as_ref()))?;
        if let Ok(data) = frame.into_data() {
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.freeze())
}

fn failure(error: &(dyn StdError + 'static)) -> Failure {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(unread) = error.downcast_ref::<Unread>() {
            return unread.into();
        }
        cause = error.source();
    }
    Failure::with_message(Code::InvalidArgument, "the body broke off")
}
