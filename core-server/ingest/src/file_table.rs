//! Writes the file table of a generation: what changed as one more segment, or all of it once segments are many.
//!
//! Deliberately left out: reading it (`engine::generation::files`).

use engine::generation::Generation;
use engine::generation::files::{FOLDER, FileRecord, FileState};

use crate::error::Result;
use crate::plan::Files;
use crate::publish::Draft;

/// With so many segments the next generation begins with one again: readers look into each.
const MOST_SEGMENTS: usize = 8;

/// Writes the table into `draft`: `now` is what the new generation holds, `before` what `parent` does. Returns the
/// names of the segments, oldest first.
pub fn write(
    draft: &mut Draft<'_>,
    parent: Option<(&Generation, &Files)>,
    now: &Files,
) -> Result<Vec<String>> {
    let name = format!("{}.jsonl", draft.generation().folder());
    let few = |parent: &Generation| parent.manifest().file_segments.len() < MOST_SEGMENTS;
    let Some((parent, before)) = parent.filter(|(parent, _)| few(parent)) else {
        let lines: String = now.iter().map(|(source, state)| line(source, Some(state))).collect();
        draft.write(&format!("{FOLDER}/{name}"), lines.as_bytes())?;
        return Ok(vec![name]);
    };
    let mut segments = parent.manifest().file_segments.clone();
    for segment in &segments {
        draft.link(parent, &format!("{FOLDER}/{segment}"))?;
    }
    let lines = changes(before, now);
    if !lines.is_empty() {
        draft.write(&format!("{FOLDER}/{name}"), lines.as_bytes())?;
        segments.push(name);
    }
    Ok(segments)
}

/// The lines that make `now` of `before`, sorted by source.
fn changes(before: &Files, now: &Files) -> String {
    let changed = now.iter().filter(|(source, state)| before.get(*source) != Some(*state));
    let mut lines: Vec<(&String, Option<&FileState>)> =
        changed.map(|(source, state)| (source, Some(state))).collect();
    lines.extend(before.keys().filter(|source| !now.contains_key(*source)).map(|source| (source, None)));
    lines.sort_by(|a, b| a.0.cmp(b.0));
    lines.into_iter().map(|(source, state)| line(source, state)).collect()
}

fn line(source: &str, state: Option<&FileState>) -> String {
    let record = FileRecord { source: source.to_owned(), state: state.cloned() };
    format!("{}\n", record.line())
}

/// All files that a generation holds.
pub fn read(generation: &Generation) -> Result<Files> {
    let mut files = Files::new();
    for record in generation.files().iter() {
        let FileRecord { source, state } = record?;
        if let Some(state) = state {
            files.insert(source, state);
        }
    }
    Ok(files)
}
