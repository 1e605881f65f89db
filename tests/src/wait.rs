//! Waiting for something to become true, with an end.

use std::time::{Duration, Instant};

/// Asks `question` every few milliseconds until it has an answer.
///
/// # Panics
/// Where there is none after `seconds`; `what` says what was waited for.
pub fn until<T>(seconds: u64, what: &str, mut question: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(answer) = question() {
            return answer;
        }
        assert!(Instant::now() < end, "waited {seconds} s for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
