//! One passage: where it stands, whether it does, and its words.

use anstyle::{AnsiColor, Style};
use proto::clean;
use proto::json::Word;
use proto::passage::Passage;
use proto::v1::{Neighbor, Verdict};

use super::{FAINT, STRONG, View, push};
use crate::place;

/// `number` in front, `indent` below it. A passage that does not stand there is one line.
pub(super) fn passage(passage: &Passage<'_>, number: &str, view: View<'_>) -> String {
    let place = place::place(&passage.citation, view.working_directory);
    let style = style(passage.verdict);
    let word = passage.verdict.word().unwrap_or("unknown");
    let mut text = format!("{number}{STRONG}{place}{STRONG:#}  {style}{word}{style:#}");
    let Some(words) = passage.text else {
        push(&mut text, format_args!("  {}\n", passage.instead()));
        return text;
    };
    if let Some(why) = passage.why() {
        push(&mut text, format_args!("  {FAINT}{why}{FAINT:#}"));
    }
    text.push('\n');
    let indent = " ".repeat(number.chars().count());
    let headings = clean::line(&passage.heading_path.join(" > "));
    if !headings.is_empty() {
        push(&mut text, format_args!("{indent}{FAINT}{headings}{FAINT:#}\n"));
    }
    for line in clean::text(words).trim_end().lines() {
        push(&mut text, format_args!("{}\n", format!("{indent}  {line}").trim_end()));
    }
    push(&mut text, format_args!("{indent}{}\n", clean::line(passage.footnote)));
    text
}

/// The passages beside another, each behind the word for its side.
pub(super) fn beside(neighbors: &[Neighbor], indent: &str, view: View<'_>) -> String {
    let one = |neighbor: &Neighbor| {
        let side = neighbor.side().word().unwrap_or("beside");
        passage(&Passage::from(neighbor), &format!("{indent}{side}: "), view)
    };
    neighbors.iter().map(one).collect()
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
