//! Dates and times as RFC 3339 writes them, as the stretch of time that they mean.

use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil::{self, DateTime, Time};

/// A day, from its first nanosecond in UTC to its last, or an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Nanoseconds since 1970.
    first: i128,
    last: i128,
}

/// A text that is neither a date nor a time with its offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date as RFC 3339 has it")]
pub struct InvalidDate;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

const DAY: i128 = 86_400_000_000_000;

impl Date {
    /// Its first nanosecond, since 1970.
    pub(super) fn first(&self) -> i128 {
        self.first
    }

    /// Its last.
    pub(super) fn last(&self) -> i128 {
        self.last
    }
}

impl FromStr for Date {
    type Err = InvalidDate;

    fn from_str(text: &str) -> Result<Self, InvalidDate> {
        let (day, time) = text.split_at_checked(10).ok_or(InvalidDate)?;
        let day = civil::Date::strptime("%Y-%m-%d", day).map_err(|_| InvalidDate)?;
        if time.is_empty() {
            let first = nanoseconds(day.to_datetime(Time::midnight()));
            return Ok(Self { first, last: first + DAY - 1 });
        }
        let (clock, offset) = clock(time).ok_or(InvalidDate)?;
        let instant = nanoseconds(day.to_datetime(clock)) - offset.as_nanos();
        Ok(Self { first: instant, last: instant })
    }
}

/// `T12:00:00.5+02:00`: the time of day and its offset from UTC.
fn clock(text: &str) -> Option<(Time, SignedDuration)> {
    let text = text.strip_prefix('T')?;
    if let Some(clock) = text.strip_suffix('Z') {
        return Some((clock.parse().ok()?, SignedDuration::ZERO));
    }
    let (clock, offset) = text.split_at_checked(text.rfind(['+', '-'])?)?;
    let (hours, minutes) = offset[1..].split_once(':')?;
    let minutes = 60 * i64::from(hours.parse::<u8>().ok()?) + i64::from(minutes.parse::<u8>().ok()?);
    let offset = SignedDuration::from_mins(if offset.starts_with('-') { -minutes } else { minutes });
    Some((clock.parse().ok()?, offset))
}

fn nanoseconds(time: DateTime) -> i128 {
    time.duration_since(EPOCH).as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_day_is_all_of_it_in_utc() {
        let day = date("1970-01-02");
        assert_eq!((day.first, day.last), (DAY, 2 * DAY - 1));
        assert_eq!(date("1969-12-31").last, -1);
        assert_eq!(date("1970-01-02T00:00:00Z"), Date { first: DAY, last: DAY });
        assert!(date("9999-12-31").last > date("9999-12-31T23:59:59Z").last);
        assert!(date("0001-01-01").first < date("1000-01-01").first);
    }

    #[test]
    fn an_instant_is_the_same_wherever_it_is_told() {
        let noon = date("2024-12-31T12:00:00Z");
        for text in [
            "2024-12-31T12:00:00.000Z",
            "2024-12-31T14:00:00+02:00",
            "2025-01-01T11:59:00+23:59",
            "2024-12-31T06:30:00-05:30",
            "2024-12-31T12:00:00-00:00",
        ] {
            assert_eq!(date(text), noon, "{text}");
        }
        assert_eq!(date("2024-12-31T12:00:00.5Z").first, noon.first + 500_000_000);
        assert_eq!(
            date("2016-12-31T23:59:60Z"),
            date("2016-12-31T23:59:59Z"),
            "a leap second is the one before"
        );
    }

    #[test]
    fn what_has_no_offset_is_no_instant() {
        for text in [
            "",
            "2024",
            "2024-12-31T12:00:00",
            "2024-12-31 12:00:00Z",
            "2024-02-30",
            "2024-12-31T",
            "soon, at last",
        ] {
            assert_eq!(text.parse::<Date>(), Err(InvalidDate), "{text}");
        }
    }
}
