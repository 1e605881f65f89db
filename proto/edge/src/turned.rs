//! What the operator hears of those who were turned away for the host or the origin that they named.
//!
//! The log has the value, for whoever sets up a proxy and wonders; the caller never gets it back. Few lines are
//! written, however many are turned away.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use proto::Code;
use tracing::warn;

/// Lines in one period.
const LINES: u32 = 5;

/// How long a period is.
const PERIOD: Duration = Duration::from_secs(10);

/// How much of a value is written.
const MAX_VALUE: usize = 200;

/// Counts the lines.
#[derive(Debug)]
pub(crate) struct Turned(Mutex<Period>);

#[derive(Debug)]
struct Period {
    began: Instant,
    turned: u32,
}

impl Turned {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Period { began: Instant::now(), turned: 0 }))
    }

    /// Writes what was named, unless enough is written.
    pub(crate) fn tell<'value>(&self, code: Code, named: impl Iterator<Item = &'value [u8]>) {
        if let Some(untold) = self.line() {
            let named: Vec<String> = named.map(shown).collect();
            warn!(code = code.word(), named = named.join(" | "), untold, "turned away");
        }
    }

    /// Whether a line may be written, and how many were not written before it.
    fn line(&self) -> Option<u32> {
        let mut period = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let untold = if period.began.elapsed() >= PERIOD {
            let untold = period.turned.saturating_sub(LINES);
            *period = Period { began: Instant::now(), turned: 0 };
            untold
        } else {
            0
        };
        period.turned = period.turned.saturating_add(1);
        (period.turned <= LINES).then_some(untold)
    }
}

/// Escaped, so that no value forges a line.
fn shown(value: &[u8]) -> String {
    let end = value.len().min(MAX_VALUE);
    let more = if end < value.len() { "…" } else { "" };
    format!("{}{more}", value[..end].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_lines_are_written_and_then_how_many_were_not() {
        let turned = Turned::new();
        let lines = (0..100).filter_map(|_| turned.line()).count();
        assert_eq!(lines, 5);
        turned.0.lock().unwrap().began -= PERIOD;
        assert_eq!((turned.line(), turned.line()), (Some(95), Some(0)));
    }

    #[test]
    fn a_value_forges_no_line() {
        assert_eq!(shown(b"a\nb\x1b[31m\xff"), "a\\nb\\x1b[31m\\xff");
        assert!(shown(&[b'a'; 9000]).len() < 210);
    }
}
