//! One passage: where it stands, whether it does, and its words.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use proto::clean;
use proto::json::Word;
use proto::reason::why;
use proto::v1::{Chunk, Citation, Hit, Verdict};

use super::{FAINT, STRONG, View, push};
use crate::place;

/// How much of what stands there now is shown of a passage that does not.
const GLIMPSE: usize = 100;

/// What a search's hit and a fetched chunk have in common.
pub(super) struct Passage<'a> {
    pub(super) footnote: &'a str,
    pub(super) heading_path: &'a [String],
    pub(super) text: Option<&'a str>,
    pub(super) current_text: Option<&'a str>,
    pub(super) citation: Cow<'a, Citation>,
    pub(super) verdict: Verdict,
    pub(super) reason: &'a str,
}

impl<'a> From<&'a Hit> for Passage<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            footnote: &hit.footnote,
            heading_path: &hit.heading_path,
            text: hit.text.as_deref(),
            current_text: hit.current_text.as_deref(),
            citation: citation(hit.citation.as_ref()),
            verdict: hit.verdict(),
            reason: &hit.reason,
        }
    }
}

impl<'a> From<&'a Chunk> for Passage<'a> {
    fn from(chunk: &'a Chunk) -> Self {
        Self {
            footnote: &chunk.footnote,
            heading_path: &chunk.heading_path,
            text: chunk.text.as_deref(),
            current_text: chunk.current_text.as_deref(),
            citation: citation(chunk.citation.as_ref()),
            verdict: chunk.verdict(),
            reason: &chunk.reason,
        }
    }
}

fn citation(citation: Option<&Citation>) -> Cow<'_, Citation> {
    citation.map_or_else(|| Cow::Owned(Citation::default()), Cow::Borrowed)
}

impl Passage<'_> {
    /// `number` in front, `indent` below it. A passage that does not stand there is one line.
    pub(super) fn render(&self, number: &str, view: View<'_>) -> String {
        let place = place::place(&self.citation, view.working_directory);
        let style = style(self.verdict);
        let word = self.verdict.word().unwrap_or("unknown");
        let mut text = format!("{number}{STRONG}{place}{STRONG:#}  {style}{word}{style:#}");
        let Some(passage) = self.text else {
            push(&mut text, format_args!("  {}\n", self.instead()));
            return text;
        };
        if let Some(why) = why(self.verdict, self.reason) {
            push(&mut text, format_args!("  {FAINT}{why}{FAINT:#}"));
        }
        text.push('\n');
        let indent = " ".repeat(number.chars().count());
        let headings = clean::line(&self.heading_path.join(" > "));
        if !headings.is_empty() {
            push(&mut text, format_args!("{indent}{FAINT}{headings}{FAINT:#}\n"));
        }
        for line in clean::text(passage).trim_end().lines() {
            push(&mut text, format_args!("{}\n", format!("{indent}  {line}").trim_end()));
        }
        push(&mut text, format_args!("{indent}{}\n", clean::line(self.footnote)));
        text
    }

    /// What stands there instead.
    fn instead(&self) -> String {
        match self.current_text.map(|text| clean::beginning(text, GLIMPSE)).filter(|text| !text.is_empty()) {
            Some(now) => format!("there is now: {now}"),
            None => why(self.verdict, self.reason).unwrap_or("the text is not there").to_owned(),
        }
    }
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Verified => AnsiColor::Green.on_default(),
        Verdict::Relocated => AnsiColor::Cyan.on_default(),
        Verdict::Drifted => AnsiColor::Yellow.on_default(),
        Verdict::Missing => AnsiColor::Red.on_default(),
        Verdict::Unresolvable => AnsiColor::Magenta.on_default(),
        Verdict::NotChecked | Verdict::Unspecified => FAINT,
    }
}
