//! Our entry in Codex's configuration: a table of its own at the end of the file.
//!
//! `toml_edit` says what stands there; the text is cut by hand, since it would write every line ending anew.

use toml_edit::{Array, Document, Item, TableLike, Value};

use super::entry::{Entry, Held, NAME};
use super::layout::newline_of;
use super::unusual::Unusual;

/// The table that holds a table for each server.
const SERVERS: &str = "mcp_servers";

/// What stands under our name.
pub(crate) fn held(text: &str) -> Result<Held, Unusual> {
    let document = parse(text)?;
    let Some(item) = servers(&document)?.and_then(|servers| servers.get(NAME)) else {
        return Ok(Held::Nothing);
    };
    Ok(read(item).filter(|entry| find(text, item, entry).is_some()).map_or(Held::Foreign, Held::Ours))
}

/// The text with our entry, added or in place of an older one.
pub(crate) fn with(text: &str, entry: &Entry) -> Result<String, Unusual> {
    let newline = newline_of(text);
    let section = section(entry, newline);
    if let Some((start, end)) = place(text)? {
        return Ok([&text[..start], &section, &text[end..]].concat());
    }
    // A file that does not end its last line goes on not doing so: that is how `without` knows.
    let (lead, tail) = match text {
        "" => (String::new(), newline),
        _ if text.ends_with('\n') => (newline.to_owned(), newline),
        _ => (newline.repeat(2), ""),
    };
    Ok([text, &lead, &section, tail].concat())
}

/// The text without our entry, and without the empty line before it.
pub(crate) fn without(text: &str) -> Result<String, Unusual> {
    let Some((start, end)) = place(text)? else { return Ok(text.to_owned()) };
    let (before, after) = (&text[..start], &text[end..]);
    let without_empty_line = cut_newline(before).filter(|cut| cut.is_empty() || cut.ends_with('\n'));
    if after.is_empty() {
        let before = without_empty_line.unwrap_or(before);
        return Ok(cut_newline(before).unwrap_or(before).to_owned());
    }
    let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    Ok([without_empty_line.unwrap_or(before), after].concat())
}

/// Our entry, without the end of its last line.
pub(crate) fn section(entry: &Entry, newline: &str) -> String {
    let command = Value::from(entry.command.as_str());
    let args: Array = entry.args.iter().map(String::as_str).collect();
    format!("[{SERVERS}.{NAME}]{newline}command = {command}{newline}args = {args}")
}

fn parse(text: &str) -> Result<Document<&str>, Unusual> {
    Document::parse(text).map_err(|error| Unusual::Syntax(error.message().to_owned()))
}

fn servers<'d>(document: &'d Document<&str>) -> Result<Option<&'d dyn TableLike>, Unusual> {
    let Some(item) = document.as_table().get(SERVERS) else { return Ok(None) };
    let table = item.as_table().ok_or_else(|| Unusual::Shape(format!("`{SERVERS}`"), "a table of tables"))?;
    Ok(Some(table))
}

/// An entry that only we would write.
fn read(item: &Item) -> Option<Entry> {
    let table = item.as_table().filter(|table| table.len() == 2)?;
    let args = table.get("args")?.as_array()?;
    let entry = Entry {
        command: table.get("command")?.as_str()?.to_owned(),
        args: args.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    };
    entry.is_ours().then_some(entry)
}

/// Where our entry begins and ends.
fn place(text: &str) -> Result<Option<(usize, usize)>, Unusual> {
    let document = parse(text)?;
    let Some(item) = servers(&document)?.and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    Ok(read(item).and_then(|entry| find(text, item, &entry)))
}

/// Where an entry stands, where it stands as we write it: without a comment, in our order.
fn find(text: &str, item: &Item, entry: &Entry) -> Option<(usize, usize)> {
    let command = item.get("command")?.span()?.start;
    let line = text[..command].rfind('\n')?;
    let start = text[..line].rfind('\n').map_or(0, |newline| newline + 1);
    let section = ["\n", "\r\n"].map(|newline| section(entry, newline));
    let length = section.iter().find(|section| text[start..].starts_with(section.as_str()))?.len();
    let rest = &text[start + length..];
    (rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")).then_some((start, start + length))
}

fn cut_newline(text: &str) -> Option<&str> {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'))
}
