//! Ways to ask the same, compared question by question: what else the machine does then falls on all of them alike.

use std::time::{Duration, Instant};

/// Times of one way, in the order of the questions.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Runs a question and keeps how long it took.
    pub(crate) fn take<T>(&mut self, question: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = question();
        self.0.push(began.elapsed());
        answer
    }

    /// The median in milliseconds.
    pub(crate) fn median(&self) -> f64 {
        median(self.0.iter().map(|time| millis(*time)).collect())
    }

    /// The median of what each question took longer than the same one in `other`, in milliseconds.
    pub(crate) fn median_above(&self, other: &Self) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(this, other)| millis(*this) - millis(*other)).collect())
    }
}

/// Milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
