//! Durations as people type them: `30`, `1.5`, `500ms`, `90s`, `5m`, `2h`.
//!
//! Deliberately left out: sums of units (`1h30m`) and days.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A length of time that came from a flag, a variable or the configuration file. Seconds where no unit is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypedDuration(Duration);

impl TypedDuration {
    /// The time it stands for.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl From<Duration> for TypedDuration {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

/// A text that is no length of time.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a duration: write seconds (`30`, `1.5`), or a number with ms, s, m or h (`500ms`, `2h`)")]
pub struct ParseDurationError;

impl FromStr for TypedDuration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, ParseDurationError> {
        let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
        let milliseconds = match &text[digits.len()..] {
            "ms" => 1.0,
            "" | "s" => 1e3,
            "m" => 60e3,
            "h" => 3_600e3,
            _ => return Err(ParseDurationError),
        };
        // Rust's own parser also takes signs, exponents and words such as `inf`.
        if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(ParseDurationError);
        }
        let number: f64 = digits.parse().map_err(|_| ParseDurationError)?;
        Duration::try_from_secs_f64(number * milliseconds / 1e3).map(Self).map_err(|_| ParseDurationError)
    }
}

impl fmt::Display for TypedDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<'de> Deserialize<'de> for TypedDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Whole(u32),
            Fraction(f64),
            Text(String),
        }
        let text =
            match Written::deserialize(deserializer).map_err(|_| de::Error::custom(ParseDurationError))? {
                Written::Whole(seconds) => seconds.to_string(),
                Written::Fraction(seconds) => seconds.to_string(),
                Written::Text(text) => text,
            };
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_type_them() {
        for (text, milliseconds) in [
            ("30", 30_000),
            ("1.5", 1_500),
            ("500ms", 500),
            ("90s", 90_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
        ] {
            assert_eq!(text.parse(), Ok(TypedDuration(Duration::from_millis(milliseconds))), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in
            ["", "s", "-1", "1e3", "inf", "NaN", "1d", "1 s", "1h30m", "1.2.3", "99999999999999999999h"]
        {
            assert_eq!(text.parse::<TypedDuration>(), Err(ParseDurationError), "{text}");
        }
    }
}
