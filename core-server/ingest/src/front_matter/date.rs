//! Dates as people write them in front matter, as RFC 3339.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// `words` as an RFC 3339 date, or as a time in UTC where a time of day is given; without an offset it is taken for UTC.
/// `None` where it is no date, or one of two that could be meant.
pub(super) fn rfc3339(words: &str) -> Option<String> {
    let words = words.trim();
    date(words).map(|date| date.to_string()).or_else(|| time(words).map(|time| time.to_string()))
}

/// A date without a time of day. Of dates between slashes the month comes first, as in the United States, unless it
/// cannot be one.
fn date(words: &str) -> Option<Date> {
    const FORMS: &[&str] = &[
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%Y.%m.%d",
        "%m/%d/%Y",
        "%d/%m/%Y",
        "%d.%m.%Y",
        "%B %d, %Y",
        "%b %d, %Y",
        "%d %B %Y",
        "%d %b %Y",
    ];
    FORMS.iter().find_map(|form| Date::strptime(form, words).ok()).filter(|date| date.year() > 0)
}

fn time(words: &str) -> Option<Timestamp> {
    const LOCAL: &[&str] =
        &["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%Y/%m/%d %H:%M:%S"];
    const WITH_OFFSET: &[&str] = &["%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M %z", "%a, %d %b %Y %H:%M:%S %z"];
    let zoned = |form: &&str| strtime::parse(form, words).ok()?.to_timestamp().ok();
    let local = |form: &&str| DateTime::strptime(form, words).ok();
    words
        .parse()
        .ok()
        .or_else(|| WITH_OFFSET.iter().find_map(zoned))
        .or_else(|| in_utc(words.parse().ok().or_else(|| LOCAL.iter().find_map(local))?))
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_one_way() {
        for (words, date) in [
            ("2024-12-31", Some("2024-12-31")),
            ("12/31/2024", Some("2024-12-31")),
            ("1/7/2025", Some("2025-01-07")),
            ("31/12/2024", Some("2024-12-31")),
            ("31.12.2024", Some("2024-12-31")),
            ("2024/12/31", Some("2024-12-31")),
            ("December 31, 2024", Some("2024-12-31")),
            ("31 Dec 2024", Some("2024-12-31")),
            ("2024-12-31T10:00:00Z", Some("2024-12-31T10:00:00Z")),
            ("2024-12-31T10:00:00+08:00", Some("2024-12-31T02:00:00Z")),
            ("2024-12-31 10:00:00 +0800", Some("2024-12-31T02:00:00Z")),
            ("2024-12-31 10:00:00", Some("2024-12-31T10:00:00Z")),
            ("2024-12-31T10:00:00", Some("2024-12-31T10:00:00Z")),
            ("2024-12-31 10:00", Some("2024-12-31T10:00:00Z")),
            ("2024-13-01", None),
            ("2024-02-30", None),
            ("soon", None),
            ("2024", None),
            ("", None),
        ] {
            assert_eq!(rfc3339(words).as_deref(), date, "{words}");
        }
    }
}
