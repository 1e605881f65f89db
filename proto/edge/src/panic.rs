//! A panic of a handler is that request's, and nobody else's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The answer was given up. The panic's own words are in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs a future to its end or its panic.
pub(crate) fn caught<F: Future>(future: F) -> impl Future<Output = Result<F::Output, Panicked>> {
    Caught(Box::pin(future))
}

struct Caught<F>(Pin<Box<F>>);

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Nothing that a panic left half done is looked at again: the future is dropped.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(cause) => {
                tracing::error!(cause = words(cause.as_ref()), "a request panicked");
                Poll::Ready(Err(Panicked))
            }
        }
    }
}

fn words(cause: &(dyn std::any::Any + Send)) -> &str {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}
