//! Our entry in a configuration, whatever its format: pure functions from text to text.
//!
//! Deliberately left out: files. A byte order mark is put aside here, and back where it was.

use super::client::{Client, Format};
use super::entry::{Entry, Held};
use super::json::Json;
use super::toml;
use super::unusual::Unusual;

/// A byte order mark, which some editors write and no parser reads.
const BOM: char = '\u{feff}';

/// What becomes of the place for servers when ours was the last in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptied {
    /// It stays, empty: it was there before us.
    Kept,
    /// It goes, too.
    Removed,
}

/// What a change leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// A text that was not there before.
    Text(String),
    /// The text that was there before we were, byte by byte.
    Before(String),
    /// No file: there was none before.
    NoFile,
}

impl Left {
    /// What the file holds then.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Before(text) => Some(text),
            Self::NoFile => None,
        }
    }
}

/// What stands under our name.
pub(crate) fn held(client: Client, text: &str) -> Result<Held, Unusual> {
    let (_, text) = marked(text);
    match client.row().format {
        Format::Json { section, transport } => Json { section, transport }.held(text),
        Format::Toml => toml::held(text),
    }
}

/// The text with our entry in it; nothing where it has that already.
pub(crate) fn connect(
    client: Client,
    before: Option<&str>,
    entry: &Entry,
) -> Result<Option<String>, Unusual> {
    let (mark, text) = marked(before.unwrap_or_default());
    let format = client.row().format;
    if format != Format::Toml && entry.is_template() {
        return Err(Unusual::Template);
    }
    match held(client, text)? {
        Held::Ours(same) if same == *entry => return Ok(None),
        Held::Foreign => return Err(Unusual::Foreign),
        Held::Ours(_) | Held::Nothing => {}
    }
    let after = match format {
        Format::Json { section, transport } => Json { section, transport }.with(text, entry)?,
        Format::Toml => toml::with(text, entry)?,
    };
    // What cannot be read back is not written.
    if held(client, &after)? != Held::Ours(entry.clone()) {
        return Err(Unusual::Shape("what would stand there".to_owned(), "what was meant"));
    }
    Ok(Some(format!("{mark}{after}")))
}

/// What is left without our entry; nothing where it has none. `backups` are texts from before, newest first:
/// where one of them with our entry is the text now, it is left exactly.
pub(crate) fn disconnect(client: Client, now: &str, backups: &[String]) -> Result<Option<Left>, Unusual> {
    let entry = match held(client, now)? {
        Held::Nothing => return Ok(None),
        Held::Foreign => return Err(Unusual::Foreign),
        Held::Ours(entry) => entry,
    };
    let before_us: Vec<_> =
        backups.iter().filter(|backup| held(client, backup) == Ok(Held::Nothing)).collect();
    let gives_now =
        |before: Option<&str>| connect(client, before, &entry).ok().flatten().as_deref() == Some(now);
    if let Some(before) = before_us.iter().find(|before| gives_now(Some(before))) {
        return Ok(Some(Left::Before((*before).clone())));
    }
    if gives_now(None) {
        return Ok(Some(Left::NoFile));
    }
    let (mark, text) = marked(now);
    let left = match client.row().format {
        Format::Json { section, transport } => {
            let json = Json { section, transport };
            let ours =
                before_us.first().is_some_and(|before| json.has_section(marked(before).1) == Ok(false));
            json.without(text, if ours { Emptied::Removed } else { Emptied::Kept })?
        }
        Format::Toml => toml::without(text)?,
    };
    Ok(Some(Left::Text(format!("{mark}{left}"))))
}

/// What to add by hand.
pub(crate) fn snippet(client: Client, entry: &Entry) -> String {
    match client.row().format {
        Format::Json { section, transport } => {
            Json { section, transport }.with("", entry).unwrap_or_default()
        }
        Format::Toml => format!("{}\n", toml::section(entry, "\n")),
    }
}

/// A text's byte order mark, and the rest.
fn marked(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

#[cfg(test)]
mod tests;
