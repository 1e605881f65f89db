//! Source code of any language: blank lines and indentation say what belongs together.
//!
//! A line that is less indented begins something larger; a blank line before it makes that surer; comments and
//! attributes go with what follows, closing brackets with what was before. No language is parsed.

use super::measure;
use super::plain::lines;
use super::split::{Boundary, Grain, level};

/// Indentation deeper than this counts as this.
const DEEPEST: u16 = 14;

/// Columns that count as one step of indentation.
const STEP: u16 = 2;

/// What is taken from a line's level where it belongs to the line before.
const BOUND: u16 = 45;

/// How many enclosing definitions a heading path names.
const ENCLOSING: usize = 3;

/// How long, by the chunker's measure, the line of an enclosing definition may be in a heading path.
const LONGEST_DEFINITION: u64 = 24 * measure::TOKEN;

/// Where source code may be cut, and what encloses each line.
pub(super) struct Outline<'a> {
    pub(super) boundaries: Vec<Boundary>,
    pub(super) definitions: Definitions<'a>,
}

/// Looks through `text` from `start` on.
pub(super) fn outline(text: &str, start: usize) -> Outline<'_> {
    let body = &text[start..];
    let boundaries = std::iter::once((0, level::BLOCK))
        .chain(line_levels(body, level::BLOCK))
        .map(|(at, level)| Boundary { at: start + at, level, grain: Grain::Lines })
        .collect();
    Outline { boundaries, definitions: Definitions::of(text, start) }
}

/// The beginning of each line of `text` but the first and blank ones, with its level: `top` or less.
pub(super) fn line_levels(text: &str, top: u16) -> Vec<(usize, u16)> {
    let mut levels = Vec::new();
    let mut previous: Option<Line<'_>> = None;
    let mut behind_blank = false;
    for (at, line) in lines(text, 0) {
        let Some(line) = Line::of(line) else {
            behind_blank = true;
            continue;
        };
        if let Some(previous) = previous {
            let bound = line.closes() || !behind_blank && (previous.leads() || previous.indent < line.indent);
            let steps = (line.indent / STEP).min(DEEPEST) * 2 + u16::from(!behind_blank);
            levels.push((at, top - steps - if bound { BOUND } else { 0 }));
        }
        previous = Some(line);
        behind_blank = false;
    }
    levels
}

/// A line that is not blank.
#[derive(Clone, Copy)]
struct Line<'a> {
    indent: u16,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let text = line.trim();
        if text.is_empty() {
            return None;
        }
        let indent = line.bytes().map_while(|byte| match byte {
            b' ' => Some(1u16),
            b'\t' => Some(4),
            _ => None,
        });
        Some(Self { indent: indent.fold(0, u16::saturating_add), text })
    }

    /// Whether the line belongs to what is before it.
    fn closes(self) -> bool {
        self.text.starts_with(['}', ')', ']', '>'])
            || self.text.starts_with("</")
            || self.text.starts_with("```")
            || self.text.starts_with("~~~")
            || ["end", "else", "elif", "except", "finally", "fi", "done", "esac", "{", "catch", "then", "do"]
                .contains(&self.first_word())
    }

    /// Whether the line belongs to what is behind it: a comment, an attribute, a decorator.
    fn leads(self) -> bool {
        self.text.starts_with(['#', '@', '*', ';'])
            || ["//", "/*", "--", "\"\"\"", "'''", "<!--", "```", "~~~", "template<", "template <"]
                .iter()
                .any(|mark| self.text.starts_with(mark))
            || self.text.starts_with('[') && self.text.ends_with(']')
    }

    fn first_word(self) -> &'a str {
        self.text
            .split(|character: char| !character.is_alphanumeric() && character != '{')
            .next()
            .unwrap_or("")
    }

    /// What the line is called in a heading path.
    fn name(self) -> String {
        let name = self.text.trim_end_matches(['{', '(', ':', ' ', '=']);
        measure::beginning(name, LONGEST_DEFINITION)
    }

    /// Whether the line looks as if it opened a definition.
    fn defines(self) -> bool {
        const WORDS: &[&str] = &[
            "fn",
            "def",
            "class",
            "struct",
            "impl",
            "func",
            "function",
            "interface",
            "trait",
            "enum",
            "union",
            "mod",
            "module",
            "namespace",
            "object",
            "record",
            "protocol",
            "extension",
            "package",
            "sub",
            "proc",
            "procedure",
            "type",
            "macro_rules",
            "defmodule",
            "contract",
            "service",
            "message",
            "describe",
            "resource",
        ];
        !self.leads()
            && !self.text.ends_with([';', ','])
            && self
                .text
                .split(|character: char| !character.is_alphanumeric() && character != '_')
                .take(6)
                .any(|word| WORDS.contains(&word))
    }
}

/// The definitions that enclose each place, asked for in order.
pub(super) struct Definitions<'a> {
    /// The text's lines that are not blank.
    lines: Vec<(usize, Line<'a>)>,
    /// How many of them are before the place asked for.
    passed: usize,
    /// Those of them that open definitions which are not over, outermost first.
    open: Vec<Line<'a>>,
}

impl<'a> Definitions<'a> {
    fn of(text: &'a str, start: usize) -> Self {
        let lines =
            lines(text, start).filter_map(|(at, line)| Line::of(line).map(|line| (at, line))).collect();
        Self { lines, passed: 0, open: Vec::new() }
    }

    /// The opening lines of the definitions that hold all of `start..end`, outermost first. Each `start` is not before
    /// the last one's.
    pub(super) fn path(&mut self, start: usize, end: usize) -> Vec<String> {
        while let Some(&(_, line)) = self.lines.get(self.passed).filter(|(at, _)| *at < start) {
            self.pass(line);
            self.passed += 1;
        }
        let outermost = self.lines[self.passed..]
            .iter()
            .take_while(|(at, _)| *at < end)
            .filter(|(_, line)| !line.closes())
            .map(|(_, line)| line.indent)
            .min();
        let holds = |line: &&Line<'_>| outermost.is_some_and(|indent| line.indent < indent);
        let holding: Vec<&Line<'_>> = self.open.iter().filter(holds).collect();
        let named = holding.len().saturating_sub(ENCLOSING);
        holding[named..].iter().map(|line| line.name()).collect()
    }

    fn pass(&mut self, line: Line<'a>) {
        if line.closes() && !line.text.starts_with(['}', 'e']) {
            return;
        }
        while self.open.pop_if(|open| open.indent >= line.indent).is_some() {}
        if line.defines() {
            self.open.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_with_what_follows_and_brackets_with_what_was_before() {
        let text = "use a;\n\n/// Says.\n#[inline]\nfn f() {\n    a();\n}\n\nfn g() {}\n";
        let levels: Vec<_> = line_levels(text, 600)
            .into_iter()
            .map(|(at, level)| (text[at..].lines().next().unwrap(), level))
            .collect();
        assert_eq!(
            levels,
            [
                ("/// Says.", 600),
                ("#[inline]", 554),
                ("fn f() {", 554),
                ("    a();", 550),
                ("}", 554),
                ("fn g() {}", 600)
            ]
        );
    }

    #[test]
    fn a_place_is_named_by_what_encloses_it() {
        let text = "impl Thing {\n    fn long(\n        &self,\n    ) {\n        one();\n        two();\n    }\n}\nfn other() {}\n";
        let place = |what: &str| text.find(what).unwrap();
        let mut path = Definitions::of(text, 0);
        assert_eq!(path.path(0, 20), Vec::<String>::new());
        assert_eq!(path.path(place("        two"), place("fn other")), ["impl Thing", "fn long"]);
        assert_eq!(path.path(place("fn other"), text.len()), Vec::<String>::new());
    }
}
