//! Which documents a question looks into: conditions on their paths, tags and dates.
//!
//! A filter comes before every ranking: what it leaves out is no candidate of any leg, and the best of what it leaves
//! are exactly the best of all that are left. What a term weighs is another matter: how rare it is stays a property of
//! the collection, so that a filter never changes a passage's BM25 score.
//!
//! Deliberately left out: finding the rows that meet the conditions (`lexical::selection`).

mod date;
mod paths;

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

pub use date::{Date, InvalidDate};
pub use paths::{InvalidGlob, Paths, forms};

/// Conditions on a document. All must hold; one that is empty always does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The path relative to the collection's root.
    pub paths: Paths,
    /// It has at least one of these tags.
    pub tags_any: Vec<Tag>,
    /// It has all of these tags.
    pub tags_all: Vec<Tag>,
    /// Its date, or its date of last change, lies in this period.
    pub dates: Period,
}

/// A tag as it is compared: exactly, whatever Unicode form it is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(String);

/// Days or times from one to another, both included; open where one is not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The earliest.
    pub from: Option<Date>,
    /// The latest.
    pub until: Option<Date>,
}

impl Filter {
    /// Whether every document meets it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a document at `source`, with these tags and dates, meets it.
    pub fn admits(&self, source: &str, tags: &[String], dates: &[&str]) -> bool {
        let has = |wanted: &Tag| tags.iter().any(|tag| wanted.is(tag));
        self.paths.admit(source)
            && (self.tags_any.is_empty() || self.tags_any.iter().any(has))
            && self.tags_all.iter().all(has)
            && (self.dates.is_open() || dates.iter().any(|date| self.dates.holds(date)))
    }
}

impl Tag {
    /// The tag `text`.
    pub fn new(text: &str) -> Self {
        Self(composed(text).into_owned())
    }

    /// Whether `tag`, as a document has it, is this one.
    pub fn is(&self, tag: &str) -> bool {
        *self.0 == *composed(tag)
    }
}

impl Period {
    /// Whether every document is in it, also those without a date.
    pub fn is_open(&self) -> bool {
        self.from.is_none() && self.until.is_none()
    }

    /// Whether any part of `date`, as a document has it, lies within. What is no date does not.
    pub fn holds(&self, date: &str) -> bool {
        date.parse().is_ok_and(|date: Date| {
            self.from.is_none_or(|from| date.last() >= from.first())
                && self.until.is_none_or(|until| date.first() <= until.last())
        })
    }

    /// Whether nothing can lie in it, since it ends before it begins.
    pub fn is_backwards(&self) -> bool {
        self.from.zip(self.until).is_some_and(|(from, until)| from.first() > until.last())
    }
}

/// `text` in NFC: paths and tags come in any form, by who made them.
fn composed(text: &str) -> Cow<'_, str> {
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(paths: &[&str], any: &[&str], all: &[&str], from: &str, until: &str) -> Filter {
        let tags = |tags: &[&str]| tags.iter().map(|tag| Tag::new(tag)).collect();
        Filter {
            paths: Paths::new(paths).unwrap(),
            tags_any: tags(any),
            tags_all: tags(all),
            dates: Period { from: from.parse().ok(), until: until.parse().ok() },
        }
    }

    fn admits(filter: &Filter) -> bool {
        let tags = ["ops".to_owned(), "caf\u{e9}".to_owned()];
        filter.admits("docs/runbook.md", &tags, &["2024-03-10", "2026-05-01T10:00:00Z"])
    }

    #[test]
    fn all_conditions_hold_together() {
        assert!(Filter::default().is_empty() && Filter::default().admits("", &[], &[]));
        for (expected, filter) in [
            (true, filter(&["docs/"], &["ops", "x"], &["ops", "cafe\u{301}"], "2024-03-10", "2024-03-10")),
            (false, filter(&["src/"], &["ops"], &[], "", "")),
            (false, filter(&[], &["x", "Ops"], &[], "", "")),
            (false, filter(&[], &["ops"], &["ops", "x"], "", "")),
            (true, filter(&[], &[], &[], "2026-05-01", "")),
            (true, filter(&[], &[], &[], "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z")),
            (false, filter(&[], &[], &[], "2026-05-01T10:00:01Z", "")),
            (false, filter(&[], &[], &[], "2024-03-11", "2026-04-30")),
            (true, filter(&[], &[], &[], "", "2024-03-10T00:00:00Z")),
            (false, filter(&[], &[], &[], "", "2024-03-09")),
        ] {
            assert_eq!(admits(&filter), expected, "{filter:?}");
        }
    }

    #[test]
    fn a_document_without_a_date_is_in_no_period() {
        let open = Period::default();
        let since = Period { from: "0001-01-01".parse().ok(), until: None };
        assert!(open.is_open() && !since.is_open());
        assert!(!Filter { dates: since, ..Filter::default() }.admits("a", &[], &["", "soon"]));
        assert!(Filter { dates: open, ..Filter::default() }.admits("a", &[], &[]));
    }

    #[test]
    fn a_period_may_be_one_day_and_not_backwards() {
        for (from, until, is_backwards) in [
            ("2024-03-10", "2024-03-10", false),
            ("2024-03-10T12:00:00Z", "2024-03-10", false),
            ("2024-03-10T12:00:00Z", "2024-03-10T13:00:00+02:00", true),
            ("2024-03-11", "2024-03-10", true),
        ] {
            let period = Period { from: from.parse().ok(), until: until.parse().ok() };
            assert_eq!(period.is_backwards(), is_backwards, "{from} {until}");
        }
    }
}
