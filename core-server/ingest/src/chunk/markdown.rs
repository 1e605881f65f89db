//! Markdown: its blocks as boundaries, its headings as sections.
//!
//! Blocks are found by `pulldown-cmark`, so what looks like a heading within a fence is none. Headings within quotes and
//! lists begin no section, as they begin none in a table of contents.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::measure::{TOKEN, measure};
use super::split::{Boundary, Grain, level};

/// Nesting deeper than this counts as this.
const DEEPEST: u16 = 60;

/// A section with less than this of its own, by the chunker's measure, goes together with its first subsection.
const OWN_TEXT: u64 = 40 * TOKEN;

/// Bytes of a heading after which no more is read of it.
const LONGEST_HEADING: usize = 1_000;

/// A line longer than this many bytes is no anchor.
const LONGEST_ANCHOR: usize = 100;

/// A heading, and what follows it up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The beginning of the heading's line, or of the anchor above it.
    pub(super) at: usize,
    /// 1 to 6.
    pub(super) level: u8,
    /// The heading without markup, its white space folded.
    pub(super) text: String,
}

/// Where a Markdown text may be cut, and its sections.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) boundaries: Vec<Boundary>,
    pub(super) sections: Vec<Section>,
}

/// Looks through `text` from `start` on, where front matter is over.
pub(super) fn outline(text: &str, start: usize) -> Outline {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM;
    let body = with_line_feeds(&text[start..]);
    let mut scan = Scan { text, start, outline: Outline::default(), depth: 0, heading: None, leads: false };
    for (event, range) in Parser::new_ext(&body, options).into_offset_iter() {
        scan.event(event, start + range.start..start + range.end);
    }
    let Outline { mut boundaries, mut sections } = scan.outline;
    bind_anchors(text, &mut boundaries, &mut sections);
    bind_short_openings(text, start, &mut boundaries, &sections);
    Outline { boundaries, sections }
}

/// `text` with each lone CR replaced, so that all offsets stay: the parser takes it for a line end only here and there.
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let is_lone = |at: usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    if !memchr::memchr_iter(b'\r', text.as_bytes()).any(is_lone) {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for at in memchr::memchr_iter(b'\r', text.as_bytes()).filter(|&at| is_lone(at)) {
        replaced.push_str(&text[from..at]);
        replaced.push('\n');
        from = at + 1;
    }
    replaced.push_str(&text[from..]);
    Cow::Owned(replaced)
}

struct Scan<'a> {
    text: &'a str,
    start: usize,
    outline: Outline,
    /// How many containers are open: quotes, lists, items.
    depth: u16,
    /// The heading that is open, as far as it was read.
    heading: Option<Section>,
    /// Whether the block before leads to the next one.
    leads: bool,
}

impl Scan<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(&tag, &range),
            Event::End(tag) => self.close(tag, &range),
            Event::Text(words) | Event::Code(words) => self.say(&words),
            Event::SoftBreak | Event::HardBreak => self.say(" "),
            Event::Rule => self.boundary(range.start, self.block_level(), Grain::Prose),
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Heading { level: heading, .. } if self.depth == 0 => {
                self.leads = false;
                let number = number(*heading);
                let at = self.line_start(range.start);
                self.boundary(at, level::HEADING + 1 - u16::from(number), Grain::Prose);
                self.heading = Some(Section { at, level: number, text: String::new() });
            }
            Tag::Heading { .. } | Tag::Paragraph | Tag::FootnoteDefinition(_) => {
                self.boundary(range.start, self.block_level(), Grain::Prose);
            }
            Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Table(_) => {
                self.boundary(range.start, self.block_level(), Grain::Lines);
            }
            Tag::List(_) | Tag::BlockQuote(_) | Tag::Item => {
                self.boundary(range.start, self.block_level(), Grain::Prose);
                self.depth += 1;
            }
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn close(&mut self, tag: TagEnd, range: &Range<usize>) {
        if let TagEnd::Heading(_) = tag {
            if let Some(mut section) = self.heading.take() {
                section.text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
                self.outline.sections.push(section);
                self.leads = true;
            }
        } else if let TagEnd::Paragraph = tag {
            self.leads = self.text[range.clone()].trim_end().ends_with([':', '：']);
        } else if matches!(tag, TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Item) {
            self.depth -= 1;
        }
    }

    fn say(&mut self, words: &str) {
        // The rest of an endless heading is in its chunks.
        if let Some(section) = self.heading.as_mut().filter(|section| section.text.len() < LONGEST_HEADING) {
            let end = words.floor_char_boundary(LONGEST_HEADING);
            section.text.push_str(&words[..end]);
        }
    }

    fn block_level(&self) -> u16 {
        level::BLOCK - 4 * self.depth.min(DEEPEST)
    }

    /// Notes a boundary at the beginning of the line of `at`. Of those on one line the first stands for all.
    fn boundary(&mut self, at: usize, level: u16, grain: Grain) {
        let level = if std::mem::take(&mut self.leads) { level::LEAD } else { level };
        let at = self.line_start(at);
        match self.outline.boundaries.last_mut() {
            Some(last) if last.at >= at => last.grain = grain,
            _ => self.outline.boundaries.push(Boundary { at, level, grain }),
        }
    }

    fn line_start(&self, at: usize) -> usize {
        let floor = self.outline.boundaries.last().map_or(self.start, |last| last.at);
        let before = self.text.get(floor..at).unwrap_or_default();
        before.rfind(['\n', '\r']).map_or(floor, |line_end| floor + line_end + 1)
    }
}

/// Lets a section begin with the anchor or label that stands right above its heading: `<a id="…"></a>`, `(label)=`.
fn bind_anchors(text: &str, boundaries: &mut [Boundary], sections: &mut [Section]) {
    let mut place = 0;
    for section in sections {
        place += boundaries[place..].partition_point(|boundary| boundary.at < section.at);
        let Some([.., above, heading]) = boundaries.get_mut(..=place) else { continue };
        let between = &text[above.at..heading.at];
        let is_anchor = |line: &str| {
            let line = line.trim();
            line.len() <= LONGEST_ANCHOR
                && (line.starts_with("<a ")
                    || line.starts_with("<span ")
                    || !line.contains(char::is_whitespace))
                && !line.is_empty()
                && !line.starts_with(['#', '-', '=', '`', '~', '!'])
        };
        if between.len() <= 2 * LONGEST_ANCHOR && between.lines().all(is_anchor) {
            above.level = heading.level;
            heading.level = level::LEAD;
            section.at = above.at;
        }
    }
}

/// Lowers the boundary before a subsection where the section has next to nothing of its own before it.
fn bind_short_openings(text: &str, start: usize, boundaries: &mut [Boundary], sections: &[Section]) {
    let title = Section { at: start, level: 0, text: String::new() };
    let before = std::iter::once(&title).chain(sections);
    let mut from = 0;
    for (previous, section) in before.zip(sections) {
        let is_inner = previous.level < section.level;
        if !is_inner || measure(&text[previous.at..section.at]) >= OWN_TEXT {
            continue;
        }
        let place = from + boundaries[from..].partition_point(|boundary| boundary.at < section.at);
        if let Some(boundary) = boundaries.get_mut(place).filter(|boundary| boundary.at == section.at) {
            boundary.level = level::BLOCK;
        }
        from = place;
    }
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The headings above each place, asked for in order.
pub(super) struct Trail<'a> {
    sections: &'a [Section],
    /// How many of them are before the place asked for.
    passed: usize,
    open: Vec<&'a Section>,
}

impl<'a> Trail<'a> {
    pub(super) fn new(sections: &'a [Section]) -> Self {
        Self { sections, passed: 0, open: Vec::new() }
    }

    /// The headings that all of `start..end` stands under, outermost first, its own first line included. Each `start` is
    /// not before the last one's.
    pub(super) fn path(&mut self, start: usize, end: usize) -> Vec<&'a str> {
        while let Some(section) = self.sections.get(self.passed).filter(|section| section.at <= start) {
            while self.open.pop_if(|open| open.level >= section.level).is_some() {}
            self.open.push(section);
            self.passed += 1;
        }
        let inside = self.sections[self.passed..].iter().take_while(|section| section.at < end);
        let outermost = inside.map(|section| section.level).min().unwrap_or(u8::MAX);
        self.open
            .iter()
            .filter(|section| section.level < outermost && !section.text.is_empty())
            .map(|section| section.text.as_str())
            .collect()
    }
}
