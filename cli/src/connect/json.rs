//! Our entry in JSON with or without comments.
//!
//! A change is made of insertions and cuts at places that the parser tells, so that every byte that is not ours
//! stays: comments, order, indentation, trailing commas, line endings. Removing what was just inserted gives the
//! text before, unless an object was empty: what its braces held is known to the backup only.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::client::Transport;
use super::entry::{Entry, Held, NAME};
use super::gap::Gap;
use super::layout::{Layout, Tree, newline_of};
use super::section::Emptied;
use super::unusual::Unusual;

/// Where our entry stands, and how it is spelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json {
    /// The key of the root that holds the servers.
    pub(crate) section: &'static str,
    /// Whether an entry says how it is spoken to.
    pub(crate) transport: Transport,
}

impl Json {
    /// What stands under our name.
    pub(crate) fn held(self, text: &str) -> Result<Held, Unusual> {
        let Some(root) = root(text)? else { return Ok(Held::Nothing) };
        let Some(section) = self.section(&root)? else { return Ok(Held::Nothing) };
        let Some(entry) = only(section, NAME)? else { return Ok(Held::Nothing) };
        Ok(self.read(text, &entry.value).map_or(Held::Foreign, Held::Ours))
    }

    /// Whether there is a place for servers, with or without servers in it.
    pub(crate) fn has_section(self, text: &str) -> Result<bool, Unusual> {
        match root(text)? {
            Some(root) => Ok(only(&root, self.section)?.is_some()),
            None => Ok(false),
        }
    }

    /// The text with our entry, added or in place of an older one.
    pub(crate) fn with(self, text: &str, entry: &Entry) -> Result<String, Unusual> {
        let Some(root) = root(text)? else {
            let newline = newline_of(text);
            let break_before = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let document = self.with("{}", entry)?.replace('\n', newline);
            return Ok(format!("{text}{break_before}{document}{newline}"));
        };
        let tree = self.tree(entry);
        let outer =
            Layout::Lines { indent: String::new(), unit: unit(text, &root), newline: newline_of(text) };
        let layout = members_layout(text, &root, &outer);
        let Some(section) = only(&root, self.section)? else {
            return Ok(insert(text, &root, &layout, self.section, &Tree::Object(vec![(NAME, tree)])));
        };
        let servers = self.object(&section.value)?;
        let layout = members_layout(text, servers, &layout);
        match only(servers, NAME)? {
            None => Ok(insert(text, servers, &layout, NAME, &tree)),
            Some(older) => {
                let range = older.value.range();
                Ok([&text[..range.start], &layout.value(&tree), &text[range.end..]].concat())
            }
        }
    }

    /// The text without our entry.
    pub(crate) fn without(self, text: &str, emptied: Emptied) -> Result<String, Unusual> {
        let Some(root) = root(text)? else { return Ok(text.to_owned()) };
        let Some(servers) = self.section(&root)? else { return Ok(text.to_owned()) };
        let Some(at) = position(servers, NAME) else { return Ok(text.to_owned()) };
        let left = remove(text, servers, at);
        if emptied == Emptied::Kept || servers.properties.len() > 1 {
            return Ok(left);
        }
        let Some(root) = self::root(&left)? else { return Ok(left) };
        match position(&root, self.section) {
            // A comment in it is someone else's, and keeps it.
            Some(at) if !has_comments(&format!("{{{}}}", root.properties[at].text(&left))) => {
                Ok(remove(&left, &root, at))
            }
            Some(_) | None => Ok(left),
        }
    }

    fn section<'t, 'r>(self, root: &'r Object<'t>) -> Result<Option<&'r Object<'t>>, Unusual> {
        only(root, self.section)?.map(|section| self.object(&section.value)).transpose()
    }

    fn object<'t, 'r>(self, value: &'r Value<'t>) -> Result<&'r Object<'t>, Unusual> {
        value.as_object().ok_or_else(|| Unusual::Shape(format!("`{}`", self.section), "an object"))
    }

    fn tree(self, entry: &Entry) -> Tree {
        let transport = match self.transport {
            Transport::Said => Some(("type", Tree::Text("stdio".to_owned()))),
            Transport::Unsaid => None,
        };
        let command = ("command", Tree::Text(entry.command.clone()));
        let args = ("args", Tree::List(entry.args.clone()));
        Tree::Object(transport.into_iter().chain([command, args]).collect())
    }

    /// An entry that only we would write.
    fn read(self, text: &str, value: &Value<'_>) -> Option<Entry> {
        let object = value.as_object()?;
        let string = |value: &Value<'_>| Some(value.as_string_lit()?.value.clone().into_owned());
        let entry = Entry {
            command: string(&object.get("command")?.value)?,
            args: object.get_array("args")?.elements.iter().map(string).collect::<Option<_>>()?,
        };
        let is_stdio = |found: &ObjectProp<'_>| string(&found.value).is_some_and(|word| word == "stdio");
        let members = match self.transport {
            Transport::Said if object.get("type").is_some_and(is_stdio) => 3,
            Transport::Said => return None,
            Transport::Unsaid => 2,
        };
        let untouched = object.properties.len() == members && !has_comments(value.text(text));
        (untouched && entry.is_ours()).then_some(entry)
    }
}

/// The root object; none where there is nothing but white space and comments.
fn root(text: &str) -> Result<Option<Object<'_>>, Unusual> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Unusual::Syntax(error.to_string()))?;
    match parsed.value {
        None => Ok(None),
        Some(Value::Object(root)) => Ok(Some(root)),
        Some(_) => Err(Unusual::Shape("what stands there".to_owned(), "an object")),
    }
}

fn has_comments(text: &str) -> bool {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: false };
    let parsed = parse_to_ast(text, &collect, &ParseOptions::default());
    !parsed.is_ok_and(|parsed| parsed.comments.is_some_and(|comments| comments.is_empty()))
}

/// The one member of this name.
fn only<'t, 'o>(object: &'o Object<'t>, name: &str) -> Result<Option<&'o ObjectProp<'t>>, Unusual> {
    let mut named = object.properties.iter().filter(|member| member.name.as_str() == name);
    match (named.next(), named.next()) {
        (found, None) => Ok(found),
        (_, Some(_)) => Err(Unusual::Twice(name.to_owned())),
    }
}

fn position(object: &Object<'_>, name: &str) -> Option<usize> {
    object.properties.iter().position(|member| member.name.as_str() == name)
}

/// How the members of an object are laid out: like its last one, or else as `outer` has it.
fn members_layout(text: &str, object: &Object<'_>, outer: &Layout) -> Layout {
    let Some((last, others)) = object.properties.split_last() else { return outer.deeper() };
    let before = others.last().map_or(object.range.start + 1, |other| other.range.end);
    let unit = match outer {
        Layout::Lines { unit, .. } => unit.clone(),
        Layout::Inline { .. } => String::new(),
    };
    if text[before..last.range.start].contains('\n') {
        Layout::Lines {
            indent: indentation(text, last.range.start).to_owned(),
            unit,
            newline: newline_of(text),
        }
    } else {
        let colon = &text[last.name.range().end..last.value.range().start];
        Layout::Inline { space: if colon.ends_with(':') { "" } else { " " } }
    }
}

/// By how much a member of the root is indented; two spaces where none shows it.
fn unit(text: &str, root: &Object<'_>) -> String {
    let first = root.properties.first().map(|member| member.range.start);
    match first {
        Some(start) if text[root.range.start..start].contains('\n') => indentation(text, start).to_owned(),
        Some(_) | None => "  ".to_owned(),
    }
}

/// The white space at the beginning of the line that holds this place.
fn indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let width = text[line..at].find(|character| character != ' ' && character != '\t').unwrap_or(at - line);
    &text[line..line + width]
}

/// Puts a member behind the last one of an object.
fn insert(text: &str, object: &Object<'_>, layout: &Layout, name: &str, tree: &Tree) -> String {
    let (open, close) = (object.range.start + 1, object.range.end - 1);
    let member = layout.member(name, tree);
    let Some(last) = object.properties.last() else {
        let at = Gap::new(text, open, close).end();
        let rest = &text[at..close];
        let (lead, tail) = match layout {
            Layout::Lines { unit, .. } if !rest.contains('\n') => {
                let lead = layout.lead();
                let outer = lead.strip_suffix(unit.as_str()).unwrap_or(&lead).to_owned();
                (lead, outer)
            }
            Layout::Lines { .. } => (layout.lead(), String::new()),
            Layout::Inline { .. } => (rest.to_owned(), String::new()),
        };
        return [&text[..at], &lead, &member, &tail, &text[at..]].concat();
    };
    let gap = Gap::new(text, last.range.end, close);
    let at = match layout {
        Layout::Lines { .. } => gap.end_of_line(text),
        // A comment may go to the end of the line, and would swallow it.
        Layout::Inline { .. } => gap.end_of_member(),
    };
    let lead = layout.lead();
    // A trailing comma stays one.
    if gap.comma.is_some() {
        return [&text[..at], &lead, &member, ",", &text[at..]].concat();
    }
    let end = last.range.end;
    [&text[..end], ",", &text[end..at], &lead, &member, &text[at..]].concat()
}

/// Cuts a member out of an object, and the one comma that goes with it.
fn remove(text: &str, object: &Object<'_>, index: usize) -> String {
    let (open, close) = (object.range.start + 1, object.range.end - 1);
    let members = &object.properties;
    let range = members[index].range;
    let before =
        Gap::new(text, index.checked_sub(1).map_or(open, |index| members[index].range.end), range.start);
    let after = Gap::new(text, range.end, members.get(index + 1).map_or(close, |next| next.range.start));
    let start = before.end();
    match (after.comma, before.comma) {
        (Some(comma), _) => [&text[..start], &text[range.end..comma], &text[comma + 1..]].concat(),
        (None, Some(comma)) => [&text[..comma], &text[comma + 1..start], &text[range.end..]].concat(),
        // The last member of all: white space that was only there for it goes with it.
        (None, None) => {
            let rest = &text[range.end..close];
            let rest = if start == open && rest.contains('\n') && rest.trim().is_empty() { "" } else { rest };
            [&text[..start], rest, &text[close..]].concat()
        }
    }
}
