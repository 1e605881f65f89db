//! Catches a handler's panic, so that its request is answered like any other.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::ErrorData;

/// What `work` answers, or `fault` where it panics. The panic hook has said by then what happened and where.
pub(crate) async fn caught<T>(
    work: impl Future<Output = Result<T, ErrorData>>,
    fault: impl FnOnce() -> ErrorData,
) -> Result<T, ErrorData> {
    // What a panic leaves half done is dropped with its future: handlers share nothing that can be half done.
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a handler panicked");
        Err(fault())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault() -> ErrorData {
        ErrorData::internal_error("something went wrong that is not your fault", None)
    }

    #[tokio::test]
    async fn a_panic_is_an_answered_internal_error() {
        let before_it_waits = async { panic!("planted") };
        assert_eq!(caught::<()>(before_it_waits, fault).await, Err(fault()));
        let after_it_waited = async {
            tokio::task::yield_now().await;
            panic!("planted")
        };
        assert_eq!(caught::<()>(after_it_waited, fault).await, Err(fault()));
    }

    #[tokio::test]
    async fn answers_and_errors_pass() {
        assert_eq!(caught(async { Ok(7) }, fault).await, Ok(7));
        let refused = || ErrorData::invalid_params("x", None);
        assert_eq!(caught::<()>(async { Err(refused()) }, fault).await, Err(refused()));
    }
}
