//! Verification: whether cited texts still stand in their sources.
//!
//! For every citation the cited bytes are read from the source and hashed during the request: nothing remembered makes
//! a text verified. Only where they are not the same is the whole file looked through for the text, and that search
//! is what the memory spares the next request while the file's metadata is the same.
//!
//! Where the text stands untouched in a file that changed elsewhere, its lines are counted anew, so that a citation's
//! lines are those of the file as it is now.
//!
//! Deliberately left out: what an answer makes of a finding (`passage`).

mod memory;
mod occurrence;

use std::cell::OnceCell;
use std::io;
use std::path::PathBuf;

use self::memory::{Key, Memory, Remembered};
use crate::citation::{ByteRange, LineRange, Reason, SourceClass, Verdict};
use crate::collection::CollectionName;
use crate::engine::SourceRoot;
use crate::error::Result;
use crate::extract;
use crate::generation::Generation;
use crate::generation::files::FileState;
use crate::id::{ChunkId, Sha256};
use crate::lexical::record::ChunkRecord;
use crate::lines::LineIndex;
use crate::source::{Root, SourceFile};
use crate::stop::Stop;

/// Bytes read for one answer, after which no further hit is begun: half a second of reading and searching.
const ANSWER_BYTES: u64 = 256 << 20;

/// Files larger than this are not read as a whole: four times what is indexed by default.
const WHOLE_FILE_BYTES: u64 = 64 << 20;

/// Bytes at most of what stands at a cited place now.
const CURRENT_TEXT_BYTES: usize = 1024;

/// Checks citations against sources. One for all requests.
#[derive(Debug)]
pub struct Verifier {
    source_roots: Vec<SourceRoot>,
    memory: Memory,
}

/// The generations that an answer's citations are checked with.
#[derive(Clone, Copy, Debug)]
pub struct Generations<'a> {
    /// The one that the citations are from.
    pub cited: &'a Generation,
    /// The collection's current one, which may know a file under a new name.
    pub current: &'a Generation,
}

/// What checking one citation showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Why the verdict is what it is.
    pub reason: Reason,
    /// Where the text stands; the cited place where it stands nowhere, or was not looked for.
    pub place: Place,
    /// What stands at the cited lines now, where that is another text: cut to a kilobyte.
    pub current_text: Option<String>,
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// The bytes.
    pub bytes: ByteRange,
    /// Their lines.
    pub lines: LineRange,
}

impl Finding {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.reason.verdict()
    }

    /// Says of a citation only why it was not, or could not be, checked.
    pub fn unchecked(chunk: &ChunkRecord, reason: Reason) -> Self {
        Self { reason, place: Place::cited(chunk), current_text: None }
    }
}

impl Place {
    fn cited(chunk: &ChunkRecord) -> Self {
        Self { source: chunk.source.clone(), bytes: chunk.bytes, lines: chunk.lines }
    }
}

impl Verifier {
    /// Checks beneath `source_roots`, or beneath the roots that manifests record where there are none.
    pub fn new(source_roots: Vec<SourceRoot>) -> Self {
        Self { source_roots, memory: Memory::default() }
    }

    /// Checks the citations of one answer: a finding for each of `chunks`, in their order. Each source is opened once.
    ///
    /// Fails only where the answer is not wanted any more or the file table is damaged.
    pub fn check(
        &self,
        collection: &CollectionName,
        generations: Generations<'_>,
        chunks: &[&ChunkRecord],
        stop: &Stop,
    ) -> Result<Vec<Finding>> {
        let root = self.root(collection, generations.cited);
        let mut answer = Answer { generations, root, memory: &self.memory, stop, bytes_read: 0 };
        let mut findings: Vec<Option<Finding>> = vec![None; chunks.len()];
        for first in 0..chunks.len() {
            if findings[first].is_none() {
                stop.check()?;
                answer.check_source(chunks, first, &mut findings)?;
            }
        }
        // Each was filled above: its own source's turn came.
        let unread = |chunk: &&ChunkRecord| Finding::unchecked(chunk, Reason::OverBudget);
        Ok(findings
            .into_iter()
            .zip(chunks)
            .map(|(finding, chunk)| finding.unwrap_or_else(|| unread(chunk)))
            .collect())
    }

    /// The absolute path at which `source` is looked for; `None` where it may not be read.
    pub fn path_of(
        &self,
        collection: &CollectionName,
        generation: &Generation,
        source: &str,
    ) -> Option<PathBuf> {
        self.root(collection, generation).path_of(source)
    }

    fn root(&self, collection: &CollectionName, generation: &Generation) -> Root {
        Root::open(collection, &generation.manifest().scope, &self.source_roots)
    }
}

/// One answer being checked.
struct Answer<'a> {
    generations: Generations<'a>,
    root: Root,
    memory: &'a Memory,
    stop: &'a Stop,
    bytes_read: u64,
}

impl Answer<'_> {
    /// Checks every one of `chunks` that is from the source of the `first`.
    fn check_source(
        &mut self,
        chunks: &[&ChunkRecord],
        first: usize,
        findings: &mut [Option<Finding>],
    ) -> Result<()> {
        let source = &chunks[first].source;
        let state = self.generations.cited.files().state(source)?;
        let opened = self.open(source, chunks[first]);
        let mut renamed = None;
        for (chunk, finding) in chunks.iter().zip(findings).filter(|(chunk, _)| chunk.source == *source) {
            self.stop.check()?;
            *finding = Some(match &opened {
                _ if self.bytes_read >= ANSWER_BYTES => Finding::unchecked(chunk, Reason::OverBudget),
                Ok(stored) => self.check_chunk(chunk, stored, state.as_ref()),
                Err(Reason::SourceGone) => {
                    if renamed.is_none() {
                        renamed = Some(self.renamed(state.as_ref())?);
                    }
                    self.check_renamed(chunk, renamed.as_deref().unwrap_or_default())
                }
                Err(reason) => Finding::unchecked(chunk, *reason),
            });
        }
        Ok(())
    }

    /// Opens `source` to be read as `chunk`'s document was.
    fn open(&mut self, source: &str, chunk: &ChunkRecord) -> Result<Stored, Reason> {
        let file = self.root.open_source(source)?;
        match chunk.source_class {
            SourceClass::Text => Ok(Stored::of_file(file)),
            SourceClass::Extracted => {
                let extractor = chunk.extractor.as_deref().and_then(extract::by_identity);
                let extractor = extractor.ok_or(Reason::ExtractorFailed)?;
                if file.fingerprint().bytes > WHOLE_FILE_BYTES {
                    return Err(Reason::OverBudget);
                }
                let bytes = file.read_whole().map_err(|_| Reason::ReadFailed)?;
                self.bytes_read += bytes.len() as u64;
                let text = (extractor.extract)(&bytes).ok_or(Reason::ExtractorFailed)?;
                Ok(Stored::of_text(file, text.into_bytes()))
            }
        }
    }

    /// Looks for `chunk` in the file that its document was, or is now.
    fn check_chunk(&mut self, chunk: &ChunkRecord, stored: &Stored, state: Option<&FileState>) -> Finding {
        let found = |reason, place| Finding { reason, place, current_text: None };
        match self.stands(stored, chunk, chunk.bytes) {
            Err(_) => Finding::unchecked(chunk, Reason::ReadFailed),
            Ok(true) => {
                let lines = self.lines_now(chunk, stored, state);
                found(Reason::BytesEqual, Place { lines, ..Place::cited(chunk) })
            }
            Ok(false) => match self.search(chunk, stored) {
                Err(_) => Finding::unchecked(chunk, Reason::ReadFailed),
                Ok(Outcome::Moved { bytes, lines }) => {
                    found(Reason::Moved, Place { bytes, lines, ..Place::cited(chunk) })
                }
                Ok(Outcome::NotThere { reason, current_text }) => {
                    Finding { reason, place: Place::cited(chunk), current_text }
                }
            },
        }
    }

    /// Whether the cited text stands at `bytes`: read and hashed now.
    fn stands(&mut self, stored: &Stored, chunk: &ChunkRecord, bytes: ByteRange) -> io::Result<bool> {
        if bytes.len() != chunk.bytes.len() || u64::from(bytes.end) > stored.length() {
            return Ok(false);
        }
        self.bytes_read += u64::from(bytes.len());
        let read = stored.read(bytes)?;
        Ok(read.len() == bytes.len() as usize && Sha256::of(&read) == chunk.text_sha256)
    }

    /// The lines of a text that stands at the cited bytes: as cited where the file did not change at all, else counted.
    fn lines_now(&mut self, chunk: &ChunkRecord, stored: &Stored, state: Option<&FileState>) -> LineRange {
        let fingerprint = stored.file.fingerprint();
        if state.is_some_and(|state| state.fingerprint.proves_unchanged(fingerprint)) {
            return chunk.lines;
        }
        let key = Key::new(fingerprint, chunk);
        if let Some(Remembered::Stands { lines }) = self.memory.recall(&key) {
            return lines;
        }
        match stored.whole(&mut self.bytes_read) {
            Ok(Some(whole)) => {
                let lines = whole.lines.lines_of(chunk.bytes);
                self.memory.remember(fingerprint, key, Remembered::Stands { lines });
                lines
            }
            Ok(None) | Err(_) => chunk.lines,
        }
    }

    /// Looks through the whole file for a text that does not stand at the cited bytes.
    fn search(&mut self, chunk: &ChunkRecord, stored: &Stored) -> io::Result<Outcome> {
        let key = Key::new(stored.file.fingerprint(), chunk);
        match self.memory.recall(&key) {
            Some(Remembered::Moved { bytes, lines }) if self.stands(stored, chunk, bytes)? => {
                return Ok(Outcome::Moved { bytes, lines });
            }
            Some(Remembered::NotThere { reason, at }) => {
                let current_text =
                    at.map(|at| stored.read(capped(at))).transpose()?.map(|bytes| shown(&bytes));
                return Ok(Outcome::NotThere { reason, current_text });
            }
            Some(Remembered::Moved { .. } | Remembered::Stands { .. }) | None => {}
        }
        let Some(whole) = stored.whole(&mut self.bytes_read)? else {
            // Too large to look through; that other text stands at the place is known all the same.
            return Ok(Outcome::NotThere { reason: Reason::Edited, current_text: None });
        };
        let (outcome, remembered) = self.search_whole(chunk, whole);
        self.memory.remember(stored.file.fingerprint(), key, remembered);
        Ok(outcome)
    }

    fn search_whole(&self, chunk: &ChunkRecord, whole: &Whole) -> (Outcome, Remembered) {
        if let Some(bytes) = self.occurrence(chunk, &whole.bytes) {
            let lines = whole.lines.lines_of(bytes);
            return (Outcome::Moved { bytes, lines }, Remembered::Moved { bytes, lines });
        }
        let ends_before = whole.bytes.len() <= chunk.bytes.start as usize;
        let reason = if ends_before { Reason::Truncated } else { Reason::Edited };
        let at = whole.lines.bytes_of(chunk.lines);
        let current_text = at.and_then(|at| capped(at).slice(&whole.bytes)).map(shown);
        (Outcome::NotThere { reason, current_text }, Remembered::NotThere { reason, at })
    }

    /// Where in `bytes` the cited text stands, of several places the one that is meant.
    fn occurrence(&self, chunk: &ChunkRecord, bytes: &[u8]) -> Option<ByteRange> {
        let text = chunk.text.as_bytes();
        if Sha256::of(text) != chunk.text_sha256 {
            return None;
        }
        let places = occurrence::all(bytes, text);
        let start = match self.ordinal(chunk) {
            Some(ordinal) if places.len() > 1 => places.get(ordinal).or(places.last()).copied(),
            _ => occurrence::nearest(&places, chunk.bytes.start as usize),
        }?;
        let start = u32::try_from(start).ok()?;
        Some(ByteRange { start, end: start.checked_add(chunk.bytes.len())? })
    }

    /// Which of several chunks with the same text this is, from 0; `None` for the only one.
    fn ordinal(&self, chunk: &ChunkRecord) -> Option<usize> {
        let id = |ordinal| ChunkId::of_text(chunk.document_id, chunk.text_sha256, ordinal);
        let ordinal = (0..=occurrence::MOST).find(|ordinal| id(*ordinal) == chunk.chunk_id)?;
        let lexical = self.generations.cited.lexical().ok()?;
        let has_second = || lexical.chunk(id(1)).is_ok_and(|second| second.is_some());
        (ordinal > 0 || has_second()).then_some(ordinal as usize)
    }

    /// The names under which the current generation may know a file that is gone: with the same content first, then
    /// the same inode. Only names that the cited generation did not have: what was there before is a copy.
    fn renamed(&self, state: Option<&FileState>) -> Result<Vec<String>> {
        let Generations { cited, current } = self.generations;
        let Some(state) = state.filter(|_| cited.id() != current.id()) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        let same_content = current.files().with_content(state.sha256)?;
        let same_inode = current.files().with_inode(state.fingerprint.device, state.fingerprint.inode)?;
        for record in same_content.into_iter().chain(same_inode) {
            if !names.contains(&record.source) && cited.files().state(&record.source)?.is_none() {
                names.push(record.source);
            }
        }
        Ok(names)
    }

    /// Looks for `chunk` under `names`.
    fn check_renamed(&mut self, chunk: &ChunkRecord, names: &[String]) -> Finding {
        for name in names {
            let Ok(stored) = self.open(name, chunk) else { continue };
            let Finding { reason, place, .. } = self.check_chunk(chunk, &stored, None);
            if reason.verdict() == Verdict::Verified || reason.verdict() == Verdict::Relocated {
                let place = Place { source: name.clone(), ..place };
                return Finding { reason: Reason::Renamed, place, current_text: None };
            }
        }
        Finding::unchecked(chunk, Reason::SourceGone)
    }
}

/// What looking through a whole file showed.
enum Outcome {
    Moved { bytes: ByteRange, lines: LineRange },
    NotThere { reason: Reason, current_text: Option<String> },
}

/// A source as citations index it: the file itself, or what was extracted of it.
struct Stored {
    file: SourceFile,
    /// Present from the start for extracted sources, else once something had to be looked for.
    whole: OnceCell<Whole>,
    extracted: bool,
}

struct Whole {
    bytes: Vec<u8>,
    lines: LineIndex,
}

impl Whole {
    fn new(bytes: Vec<u8>) -> Self {
        Self { lines: LineIndex::new(&bytes), bytes }
    }
}

impl Stored {
    fn of_file(file: SourceFile) -> Self {
        Self { file, whole: OnceCell::new(), extracted: false }
    }

    fn of_text(file: SourceFile, text: Vec<u8>) -> Self {
        Self { file, whole: OnceCell::from(Whole::new(text)), extracted: true }
    }

    fn length(&self) -> u64 {
        match self.whole.get() {
            Some(whole) if self.extracted => whole.bytes.len() as u64,
            Some(_) | None => self.file.fingerprint().bytes,
        }
    }

    fn read(&self, range: ByteRange) -> io::Result<Vec<u8>> {
        match self.whole.get() {
            Some(whole) if self.extracted => Ok(range.slice(&whole.bytes).unwrap_or_default().to_vec()),
            Some(_) | None => self.file.read(range),
        }
    }

    /// All of it; `None` where it is too large. Read once per answer.
    fn whole(&self, bytes_read: &mut u64) -> io::Result<Option<&Whole>> {
        if let Some(whole) = self.whole.get() {
            return Ok(Some(whole));
        }
        if self.file.fingerprint().bytes > WHOLE_FILE_BYTES {
            return Ok(None);
        }
        let bytes = self.file.read_whole()?;
        *bytes_read += bytes.len() as u64;
        Ok(Some(self.whole.get_or_init(|| Whole::new(bytes))))
    }
}

/// As much of `range` as is shown, and a little more, so that the cut can be made between characters.
fn capped(range: ByteRange) -> ByteRange {
    let most = u32::try_from(CURRENT_TEXT_BYTES + 4).unwrap_or(u32::MAX);
    ByteRange { start: range.start, end: range.end.min(range.start.saturating_add(most)) }
}

/// The text to show of `bytes`: without line ends behind it, cut between characters.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut end = text.len().min(CURRENT_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim_end_matches(['\r', '\n']).to_owned()
}
