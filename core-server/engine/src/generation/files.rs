//! The file table: which files a generation holds, in segments of one JSON line each, sorted by source.
//!
//! A later segment's line stands before an earlier one's of the same source; a line without `state` hides the source.
//! Lines are sorted by the bytes of `source`, which is the first field of each, so that a segment is searched where it
//! lies: mapped, by halving.

use std::path::{Path, PathBuf};

use memchr::memmem;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use crate::citation::SourceClass;
use crate::error::{Error, Result};
use crate::id::Sha256;

/// The folder of the segments within a generation.
pub const FOLDER: &str = "files";

/// One line of a file table segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// Absent where the file left the collection.
    pub state: Option<FileState>,
}

impl FileRecord {
    /// The line that stands for it in a segment, without its line feed.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What was known of a file when it was indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its length in bytes.
    pub bytes: u64,
    /// The hash of all its bytes.
    pub sha256: Sha256,
    /// How offsets into it are to be read.
    pub source_class: SourceClass,
    /// The extractor's name and version, where there is one.
    pub extractor: Option<String>,
    /// How many chunks it made.
    pub chunks: u32,
    /// What a look at the file's metadata showed.
    pub fingerprint: Fingerprint,
}

/// A file's metadata: while it is the same, the content is taken to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Change time, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// When the metadata was read, nanoseconds since 1970: a file changed within two seconds before is read again.
    pub seen_ns: i64,
}

/// A file changed this short before it was looked at may change again without its times showing it.
const SETTLED_NS: i64 = 2_000_000_000;

impl Fingerprint {
    /// Whether the file had been left alone for two seconds when it was looked at, so that a later change shows.
    pub fn is_settled(&self) -> bool {
        self.seen_ns.saturating_sub(self.mtime_ns.max(self.ctime_ns)) >= SETTLED_NS
    }

    /// Whether `later` shows the file that this shows, unchanged since. Says no where that cannot be known.
    pub fn proves_unchanged(&self, later: &Self) -> bool {
        self.is_settled() && Self { seen_ns: later.seen_ns, ..*self } == *later
    }
}

/// All segments of a generation's file table.
#[derive(Debug)]
pub struct FileTable {
    /// Oldest first.
    segments: Vec<Segment>,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    map: Mmap,
}

impl FileTable {
    /// Maps the segments `names`, oldest first, in the generation's `folder`.
    pub fn open(folder: &Path, names: &[String]) -> Result<Self> {
        let open = |name: &String| {
            let path = folder.join(FOLDER).join(name);
            Ok(Segment { map: super::map_sealed(&path)?, path })
        };
        Ok(Self { segments: names.iter().map(open).collect::<Result<_>>()? })
    }

    /// What is known of the file at `source`; `None` where the generation does not hold it.
    pub fn state(&self, source: &str) -> Result<Option<FileState>> {
        for segment in self.segments.iter().rev() {
            if let Some(record) = segment.find(source)? {
                return Ok(record.state);
            }
        }
        Ok(None)
    }

    /// The files whose bytes hash to `sha256`, by source.
    pub fn with_content(&self, sha256: Sha256) -> Result<Vec<FileRecord>> {
        self.containing(&format!("\"sha256\":\"{sha256}\""), |state| state.sha256 == sha256)
    }

    /// The files that had `inode` on `device` when they were indexed, by source.
    pub fn with_inode(&self, device: u64, inode: u64) -> Result<Vec<FileRecord>> {
        self.containing(&format!("\"inode\":{inode},"), |state| {
            state.fingerprint.device == device && state.fingerprint.inode == inode
        })
    }

    /// All files of the generation, by source.
    pub fn iter(&self) -> impl Iterator<Item = Result<FileRecord>> + '_ {
        let mut cursors: Vec<Cursor<'_>> = self.segments.iter().map(Segment::cursor).collect();
        std::iter::from_fn(move || next_of(&mut cursors).transpose())
    }

    /// The live records whose line holds `needle` and whose state is `wanted`.
    fn containing(&self, needle: &str, wanted: impl Fn(&FileState) -> bool) -> Result<Vec<FileRecord>> {
        let mut records = Vec::new();
        for segment in &self.segments {
            let mut searched_to = 0;
            for at in memmem::find_iter(&segment.map, needle) {
                if at < searched_to {
                    continue;
                }
                let line = segment.line_around(at);
                searched_to = line.end;
                let record = segment.parse(&segment.map[line])?;
                if record.state.as_ref().is_some_and(&wanted) && self.state(&record.source)? == record.state {
                    records.push(record);
                }
            }
        }
        records.sort_by(|a, b| a.source.cmp(&b.source));
        records.dedup();
        Ok(records)
    }
}

impl Segment {
    fn find(&self, source: &str) -> Result<Option<FileRecord>> {
        let (mut low, mut high) = (0, self.map.len());
        while low < high {
            let line = self.line_around(low + (high - low) / 2);
            match self.compare(&self.map[line.clone()], source)? {
                std::cmp::Ordering::Equal => return self.parse(&self.map[line]).map(Some),
                std::cmp::Ordering::Less => low = line.end + 1,
                std::cmp::Ordering::Greater => high = line.start,
            }
        }
        Ok(None)
    }

    /// The line that the byte `at` belongs to, without its line feed, which counts as the line's own.
    fn line_around(&self, at: usize) -> std::ops::Range<usize> {
        let start = memchr::memrchr(b'\n', &self.map[..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &self.map[at..]).map_or(self.map.len(), |length| at + length);
        start..end
    }

    /// How `line`'s source stands to `source`. Only the source is looked at, and decoded only where it has escapes.
    fn compare(&self, line: &[u8], source: &str) -> Result<std::cmp::Ordering> {
        let quoted = line.strip_prefix(b"{\"source\":\"").and_then(|rest| {
            let end = memchr::memchr(b'"', rest)?;
            (!rest[..end].contains(&b'\\')).then_some(&rest[..end])
        });
        match quoted {
            Some(plain) => Ok(plain.cmp(source.as_bytes())),
            None => Ok(self.parse(line)?.source.as_bytes().cmp(source.as_bytes())),
        }
    }

    fn parse(&self, line: &[u8]) -> Result<FileRecord> {
        serde_json::from_slice(line)
            .map_err(|error| Error::damaged(&self.path, format_args!("a line of it: {error}")))
    }

    fn cursor(&self) -> Cursor<'_> {
        Cursor { segment: self, at: 0, head: None }
    }
}

/// A segment being read from front to back.
struct Cursor<'a> {
    segment: &'a Segment,
    at: usize,
    head: Option<FileRecord>,
}

impl Cursor<'_> {
    fn fill(&mut self) -> Result<()> {
        if self.head.is_none() && self.at < self.segment.map.len() {
            let line = self.segment.line_around(self.at);
            self.at = line.end + 1;
            // A record that cannot be read ends this segment, so that no caller loops over it.
            self.head =
                Some(self.segment.parse(&self.segment.map[line]).inspect_err(|_| self.at = usize::MAX)?);
        }
        Ok(())
    }
}

/// The next live record over all segments, where the last segment that knows a source decides.
fn next_of(cursors: &mut [Cursor<'_>]) -> Result<Option<FileRecord>> {
    loop {
        for cursor in cursors.iter_mut() {
            cursor.fill()?;
        }
        let Some(source) =
            cursors.iter().filter_map(|cursor| cursor.head.as_ref()).map(|head| &head.source).min()
        else {
            return Ok(None);
        };
        let source = source.clone();
        let mut decided = None;
        for cursor in cursors.iter_mut() {
            if let Some(record) = cursor.head.take_if(|head| head.source == source) {
                decided = Some(record);
            }
        }
        if let Some(record) = decided.filter(|record| record.state.is_some()) {
            return Ok(Some(record));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn state(content: &str, inode: u64) -> FileState {
        FileState {
            bytes: content.len() as u64,
            sha256: Sha256::of(content.as_bytes()),
            source_class: SourceClass::Text,
            extractor: None,
            chunks: 1,
            fingerprint: Fingerprint { device: 1, inode, bytes: 1, mtime_ns: 2, ctime_ns: 3, seen_ns: 4 },
        }
    }

    fn table(folder: &Path, segments: &[BTreeMap<String, Option<FileState>>]) -> FileTable {
        std::fs::create_dir_all(folder.join(FOLDER)).expect("a folder");
        let mut names = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let lines: String = segment
                .iter()
                .map(|(source, state)| {
                    FileRecord { source: source.clone(), state: state.clone() }.line() + "\n"
                })
                .collect();
            names.push(format!("{number}.jsonl"));
            std::fs::write(folder.join(FOLDER).join(&names[number]), lines).expect("written");
        }
        FileTable::open(folder, &names).expect("opened")
    }

    fn segment(records: &[(&str, Option<FileState>)]) -> BTreeMap<String, Option<FileState>> {
        records.iter().map(|(source, state)| ((*source).to_owned(), state.clone())).collect()
    }

    #[test]
    fn the_last_segment_decides() {
        let folder = tempfile::tempdir().expect("a folder");
        let table = table(
            folder.path(),
            &[
                segment(&[
                    ("a", Some(state("old a", 1))),
                    ("b", Some(state("b", 2))),
                    ("c", Some(state("c", 3))),
                ]),
                segment(&[("a", Some(state("new a", 1))), ("c", None), ("d", Some(state("b", 4)))]),
                segment(&[]),
            ],
        );
        assert_eq!(table.state("a").expect("read"), Some(state("new a", 1)));
        assert_eq!(table.state("c").expect("read"), None);
        assert_eq!(table.state("e").expect("read"), None);
        let sources =
            |records: Vec<FileRecord>| records.into_iter().map(|record| record.source).collect::<Vec<_>>();
        assert_eq!(sources(table.with_content(Sha256::of(b"b")).expect("read")), ["b", "d"]);
        assert!(table.with_content(Sha256::of(b"old a")).expect("read").is_empty());
        assert!(table.with_content(Sha256::of(b"c")).expect("read").is_empty());
        assert_eq!(sources(table.with_inode(1, 4).expect("read")), ["d"]);
        assert!(table.with_inode(2, 4).expect("read").is_empty());
        assert_eq!(sources(table.iter().collect::<Result<_>>().expect("read")), ["a", "b", "d"]);
    }

    #[test]
    fn damage_is_an_error_and_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(FOLDER)).expect("a folder");
        for content in
            ["x", "\n\n\n", "{\"source\":\"", "{\"source\":\"a\"", "{\"source\":1}\n", "\u{0}\n{}\n"]
        {
            std::fs::write(folder.path().join(FOLDER).join("0.jsonl"), content).expect("written");
            let table = FileTable::open(folder.path(), &["0.jsonl".to_owned()]).expect("opened");
            assert!(matches!(table.state("a"), Err(Error::Damaged { .. })), "{content:?}");
            assert!(table.iter().any(|record| record.is_err()), "{content:?}");
        }
    }

    #[test]
    fn a_fingerprint_is_believed_once_the_file_had_settled() {
        let seen =
            Fingerprint { device: 1, inode: 2, bytes: 3, mtime_ns: 0, ctime_ns: 5, seen_ns: 5 + SETTLED_NS };
        let later = Fingerprint { seen_ns: seen.seen_ns + 1, ..seen };
        assert!(seen.proves_unchanged(&later));
        assert!(!seen.proves_unchanged(&Fingerprint { ctime_ns: 6, ..later }));
        assert!(!Fingerprint { seen_ns: 5, ..seen }.proves_unchanged(&later));
    }

    proptest! {
        #[test]
        fn it_answers_like_a_map(
            segments in prop::collection::vec(
                prop::collection::btree_map("[ab/\"\\\\é\n]{1,3}", prop::option::of(0u64..4), 0..12), 0..4),
            asked in "[ab/\"\\\\é\n]{1,3}",
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let segments: Vec<BTreeMap<String, Option<FileState>>> = segments
                .into_iter()
                .map(|records| records.into_iter().map(|(source, inode)| (source, inode.map(|inode| state("x", inode)))).collect())
                .collect();
            let table = table(folder.path(), &segments);
            let mut expected = BTreeMap::new();
            for segment in segments {
                expected.extend(segment);
            }
            for source in expected.keys().chain([&asked]) {
                prop_assert_eq!(table.state(source).expect("read"), expected.get(source).cloned().flatten());
            }
            let listed: Vec<_> = table.iter().map(|record| record.expect("read").source).collect();
            let live: Vec<_> = expected.into_iter().filter(|(_, state)| state.is_some()).map(|(source, _)| source).collect();
            prop_assert_eq!(listed, live);
        }
    }
}
