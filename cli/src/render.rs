//! Answers and failures as text for people: pure functions from a message to what is printed.
//!
//! Text of documents comes through [`proto::clean`] here. Colours are always written; `print` strips them.
//! Deliberately left out: JSON, which is printed as it came.

mod chunk;
mod collections;
mod explanation;
mod failure;
mod hits;
mod passage;
mod status;

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use proto::clean;
use proto::v1::Notice;

pub use chunk::chunk;
pub use collections::collections;
pub use failure::{failure, failure_json};
pub use hits::hits;
pub use status::status;

/// What is for the eye first.
const STRONG: Style = Style::new().bold();
/// What is there when looked for.
const FAINT: Style = Style::new().dimmed();
/// What went wrong.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// What to know.
const NOTE: Style = AnsiColor::Yellow.on_default();

/// An answer, and what is said about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// For standard output.
    pub answer: String,
    /// For standard error.
    pub notes: String,
}

impl Page {
    fn line(&mut self, text: impl AsRef<str>) {
        self.answer.push_str(text.as_ref());
        self.answer.push('\n');
    }

    fn note(&mut self, message: &str, action: &str) {
        self.notes.push_str(&note(message, action));
    }

    fn notices(&mut self, notices: &[Notice]) {
        for notice in notices {
            self.note(&notice.message, &notice.action);
        }
    }
}

/// What is seen from where.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The reader's working directory.
    pub working_directory: Option<&'a Path>,
}

/// Something to know, and what to do about it.
pub fn note(message: &str, action: &str) -> String {
    let (message, action) = (clean::line(message), clean::line(action));
    if action.is_empty() {
        format!("{NOTE}note{NOTE:#}: {message}\n")
    } else {
        format!("{NOTE}note{NOTE:#}: {message}; {action}\n")
    }
}

/// `1 hit`, `2 hits`.
fn count(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// An RFC 3339 time to the second.
fn moment(time: &str) -> String {
    let time = clean::line(time);
    match (time.split_once('.'), time.ends_with('Z')) {
        (Some((seconds, _)), true) => format!("{seconds}Z"),
        (Some(_), false) | (None, _) => time,
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    _ = text.write_fmt(arguments);
}

#[cfg(test)]
pub(crate) mod tests {
    use proto::v1::{Citation, Hit, SourceClass, Verdict};

    /// As it looks where colours are stripped.
    pub(crate) fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    pub(crate) fn hit(source: &str, verdict: Verdict, reason: &str) -> Hit {
        Hit {
            chunk_id: "00112233445566778899aabbccddeeff".into(),
            footnote: format!("[{source}:10-11](footnote:docs/{source}#L10-L11;9f3c2a1b)"),
            heading_path: vec!["Runbook".into(), "Restart".into()],
            text: Some("Stop the queue first.\nThen restart.\n".into()),
            citation: Some(Citation {
                source: source.into(),
                source_class: SourceClass::Text.into(),
                start_line: 10,
                end_line: 11,
                open_path: Some(format!("/home/ada/docs/{source}")),
                ..Citation::default()
            }),
            verdict: verdict.into(),
            reason: reason.into(),
            ..Hit::default()
        }
    }
}
