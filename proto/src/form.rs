//! Forms that text can be held to: names, ids, footnotes and dates.
//!
//! Only whether text has a form is said here, so that every surface refuses the same text; who serves the request
//! reads it.

/// A form that text can be held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A collection's name: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    Collection,
    /// An id: 32 lower-case hex digits.
    Id,
    /// A footnote: the Markdown link, or its `footnote:` address alone, white space around it left out.
    Footnote,
    /// A date, or a time with its offset from UTC, as RFC 3339 writes them.
    Date,
}

impl Form {
    /// What has this form, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Collection => {
                "a collection's name: 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
            }
            Self::Id => "an id: 32 lower-case hex digits",
            Self::Footnote => {
                "a footnote as an answer gave it, `[…](footnote:COLLECTION/SOURCE#L1-L2;9f3c2a1b)`, \
                 or its `footnote:` address alone"
            }
            Self::Date => "a date as RFC 3339 has it: `2026-01-31`, or with a time `2026-01-31T12:00:00Z`",
        }
    }

    /// Whether `text` has this form.
    pub fn matches(self, text: &str) -> bool {
        match self {
            Self::Collection => is_collection(text),
            Self::Id => is_lower_hex(text, 32),
            Self::Footnote => is_footnote(text.trim()).unwrap_or(false),
            Self::Date => is_date(text),
        }
    }
}

fn is_collection(text: &str) -> bool {
    let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let goes_on_well =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    begins_well && goes_on_well && text.len() <= 64
}

/// `None` where a separator is missing. The label of a link may be anything: it is not read back.
fn is_footnote(text: &str) -> Option<bool> {
    let address = match text.strip_prefix('[') {
        Some(link) => link.strip_suffix(')')?.rsplit_once("](")?.1,
        None => text,
    };
    let (collection, rest) = address.strip_prefix("footnote:")?.split_once('/')?;
    let (source, fragment) = rest.split_once('#')?;
    let (lines, hash) = fragment.split_once(';')?;
    Some(is_collection(collection) && is_source(source) && are_lines(lines) && is_lower_hex(hash, 8))
}

/// Percent-encoded UTF-8 without control characters, not empty.
fn is_source(text: &str) -> bool {
    let Some(decoded) = percent_decoded(text.as_bytes()) else { return false };
    !text.is_empty() && !text.chars().any(char::is_control) && str::from_utf8(&decoded).is_ok()
}

/// Percent-decoded bytes; `None` where a `%` stands before anything but two hex digits.
pub fn percent_decoded(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(bytes.len());
    while let [first, rest @ ..] = bytes {
        bytes = rest;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let (digits, rest) = bytes.split_at_checked(2)?;
        let mut byte = [0];
        hex::decode_to_slice(digits, &mut byte).ok()?;
        decoded.extend(byte);
        bytes = rest;
    }
    Some(decoded)
}

/// `L10-L14`, or `L10` for a single line.
fn are_lines(text: &str) -> bool {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    line(first).zip(line(last)).is_some_and(|(first, last)| first <= last)
}

/// A line's number, from 1 and without leading zeros.
fn line(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('L')?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

fn is_lower_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_date(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    is_day(date) && (time.is_empty() || is_time(time).unwrap_or(false))
}

/// `2026-01-31`, a day that there is.
fn is_day(text: &str) -> bool {
    let mut parts = text.split('-').map(|part| number(part, part.len()));
    let (Some(Some(year)), Some(Some(month)), Some(Some(day)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day) && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-'
}

/// `T12:00:00.5+02:00`; the seconds may be those of a leap second. `None` where a part is missing.
fn is_time(text: &str) -> Option<bool> {
    let (clock, rest) = text.strip_prefix('T')?.split_at_checked(8)?;
    let is_clock = is_hour_and_minute(clock.get(..5)?)
        && clock.as_bytes()[5] == b':'
        && number(&clock[6..], 2).is_some_and(|second| second <= 60);
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let offset = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            (1..=9).contains(&(fraction.len() - offset.len())).then_some(offset)?
        }
        None => rest,
    };
    let is_offset = offset == "Z" || is_hour_and_minute(offset.strip_prefix(['+', '-'])?);
    Some(is_clock && is_offset)
}

/// `23:59`.
fn is_hour_and_minute(text: &str) -> bool {
    let parts = text.split_once(':');
    parts.is_some_and(|(hour, minute)| {
        number(hour, 2).is_some_and(|hour| hour < 24) && number(minute, 2).is_some_and(|minute| minute < 60)
    })
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn collections_cannot_be_paths() {
        for text in ["a", "9", "docs-2.0_x", &"a".repeat(64)] {
            assert!(Form::Collection.matches(text), "{text}");
        }
        for text in ["", ".", "..", ".hidden", "a/b", "a b", "é", "a\n", &"a".repeat(65)] {
            assert!(!Form::Collection.matches(text), "{text}");
        }
    }

    #[test]
    fn ids_are_32_lower_case_hex_digits() {
        assert!(Form::Id.matches("0123456789abcdef0123456789abcdef"));
        for text in ["0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcde", ""] {
            assert!(!Form::Id.matches(text), "{text}");
        }
    }

    #[test]
    fn footnotes_are_links_or_addresses() {
        for text in [
            "[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b)",
            "footnote:ops/runbook.md#L10-L14;9f3c2a1b",
            "footnote:ops/my%20notes/%c3%a9%281%29.md#L3;9f3c2a1b",
            "  footnote:ops/my notes/é(1).md#L3-L3;9f3c2a1b\n",
            "[any ](label](footnote:ops/my notes/é(1).md#L3;9f3c2a1b)",
        ] {
            assert!(Form::Footnote.matches(text), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_footnote() {
        for text in [
            "",
            "runbook.md",
            "ops/runbook.md#L10-L14;9f3c2a1b",
            "footnote:",
            "footnote:ops",
            "footnote:ops/#L1;9f3c2a1b",
            "footnote:ops/a.md#L1",
            "footnote:ops/a.md;9f3c2a1b",
            "footnote:ops/a.md#L0;9f3c2a1b",
            "footnote:ops/a.md#L01;9f3c2a1b",
            "footnote:ops/a.md#L+1;9f3c2a1b",
            "footnote:ops/a.md#L2-L1;9f3c2a1b",
            "footnote:ops/a.md#L1-2;9f3c2a1b",
            "footnote:ops/a.md#L4294967296;9f3c2a1b",
            "footnote:ops/a.md#L1;9F3C2A1B",
            "footnote:ops/a.md#L1;9f3c2a1",
            "footnote:ops/a#b.md#L1;9f3c2a1b",
            "footnote:ops/a%.md#L1;9f3c2a1b",
            "footnote:ops/a%g0.md#L1;9f3c2a1b",
            "footnote:ops/%ff.md#L1;9f3c2a1b",
            "footnote:ops/a\nb.md#L1;9f3c2a1b",
            "footnote:../a.md#L1;9f3c2a1b",
            "footnote:/a.md#L1;9f3c2a1b",
            "[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b",
            "[a.md:1](https://example.com)",
        ] {
            assert!(!Form::Footnote.matches(text), "{text:?}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for text in [
            "2026-01-31",
            "2024-02-29",
            "2000-02-29",
            "0001-01-01",
            "9999-12-31",
            "2026-01-31T00:00:00Z",
            "2026-01-31T23:59:60.123456789-23:59",
            "2026-01-31T12:00:00.5+02:00",
        ] {
            assert!(Form::Date.matches(text), "{text}");
        }
        for text in [
            "",
            "2026",
            "2026-1-31",
            "2026-01-32",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2023-02-29",
            "1900-02-29",
            "0000-01-01",
            "20260131",
            "202-001-31",
            "2026-01-31 ",
            "2026-01-31T",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:60:00Z",
            "2026-01-31T12:00:61Z",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00.1234567891Z",
            "2026-01-31T12:00:00+2:00",
            "2026-01-31T12:00:00+0200",
            "2026-01-31T12:00:00[Europe/Berlin]",
            "2026-01-31 12:00:00Z",
            "2026-01-3é",
            "+2026-01-3",
            "31.01.2026",
            "yesterday",
        ] {
            assert!(!Form::Date.matches(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>()) {
            for form in [Form::Collection, Form::Id, Form::Footnote, Form::Date] {
                form.matches(&text);
                form.matches(&format!("2026-01-31{text}"));
                form.matches(&format!("2026-01-31T12:00:00{text}"));
                form.matches(&format!("footnote:ops/{text}"));
            }
        }
    }
}
