//! Writes a generation's lexical index, from nothing or on top of its parent's segments.
//!
//! Deliberately left out: linking the parent's files and sealing the result (`publish`), and the vectors of the
//! segments (`vector_writer`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use engine::Result;
use engine::id::DocumentId;
use engine::lexical::directory::Exclusive;
use engine::lexical::record::ChunkRecord;
use engine::lexical::schema::{fields, settings};
use engine::lexical::{Lexical, Segment, failed};
use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy, UserOperation};
use tantivy::{Index, IndexWriter, SegmentMeta, Term};

/// A lexical index being written in a folder that nobody else writes. Dropped before it is committed, it leaves a
/// folder that is good for nothing.
pub struct LexicalWriter {
    folder: PathBuf,
    index: Index,
    writer: IndexWriter,
}

/// A lexical index that was written: no lock file and no temporary file is left in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its segments.
    pub segments: Vec<Segment>,
    /// How many chunks are alive.
    pub chunks: u64,
    /// The exact number of terms in each ranked field, for the manifest.
    pub tokens: BTreeMap<String, u64>,
}

/// Memory for the terms of one thread before it writes a segment, for an index from nothing.
const LARGE_BUDGET: usize = 128 << 20;

/// The same for an edit: tantivy's least is 15 MB.
const SMALL_BUDGET: usize = 16 << 20;

impl LexicalWriter {
    /// Begins an index in the empty folder `folder`, with a thread per core.
    pub fn create(folder: &Path) -> Result<Self> {
        let doing = "creating an index";
        let directory = Exclusive::open(folder).map_err(|error| failed(doing)(error.into()))?;
        let index = Index::create(directory, fields().schema.clone(), settings()).map_err(failed(doing))?;
        let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(8));
        Self::write(folder, index, threads, LARGE_BUDGET)
    }

    /// Goes on with the index in `folder`: a parent's files, linked or copied. Files that are linked elsewhere
    /// keep their bytes.
    pub fn continue_from(folder: &Path) -> Result<Self> {
        let doing = "opening an index to continue";
        let directory = Exclusive::open(folder).map_err(|error| failed(doing)(error.into()))?;
        let index = Index::open(directory).map_err(failed(doing))?;
        Self::write(folder, index, 1, SMALL_BUDGET)
    }

    fn write(folder: &Path, index: Index, threads: usize, budget: usize) -> Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread(budget)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter = index.writer_with_options(options).map_err(failed("starting to write"))?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { folder: folder.to_owned(), index, writer })
    }

    /// Adds the chunks of a document, in their order. They become neighbouring rows of one segment, which ranking relies on
    /// (`engine::lexical`), though several threads may add at once.
    pub fn add_document(&self, chunks: impl IntoIterator<Item = ChunkRecord>) -> Result<()> {
        let add = |chunk: ChunkRecord| UserOperation::Add(chunk.to_document());
        let batch: Vec<UserOperation> = chunks.into_iter().map(add).collect();
        self.writer.run(batch).map_err(failed("adding a document"))?;
        Ok(())
    }

    /// Deletes all chunks that the document has so far; those added afterwards stay.
    pub fn delete_document(&self, document: DocumentId) {
        self.writer.delete_term(Term::from_field_bytes(fields().document_id, document.as_bytes()));
    }

    /// Makes all of it durable, merges what has become too scattered, and leaves the folder with nothing in it
    /// but the index.
    pub fn commit_and_merge(mut self) -> Result<Committed> {
        self.writer.commit().map_err(failed("committing"))?;
        while let Some(merge) = self.next_merge()? {
            self.writer.merge(&merge).wait().map_err(failed("merging segments"))?;
        }
        self.writer.garbage_collect_files().wait().map_err(failed("removing merged segments"))?;
        self.writer.wait_merging_threads().map_err(failed("ending to write"))?;
        let lexical = Lexical::open(&self.folder)?;
        Ok(Committed { segments: lexical.segments(), chunks: lexical.chunks(), tokens: lexical.tokens() })
    }

    fn next_merge(&self) -> Result<Option<Vec<SegmentId>>> {
        let metas = self.index.searchable_segment_metas().map_err(failed("listing segments"))?;
        let sizes: Vec<Size> = metas.iter().map(Size::of).collect();
        Ok(plan_merge(&sizes).map(|merge| merge.into_iter().map(|i| metas[i].id()).collect()))
    }
}

/// How large a segment is, as far as merging goes.
#[derive(Clone, Copy, Debug)]
struct Size {
    max_doc: u32,
    alive: u32,
}

impl Size {
    fn of(meta: &SegmentMeta) -> Self {
        Self { max_doc: meta.max_doc(), alive: meta.num_docs() }
    }

    /// Segments of one level are within a factor of [`FAN_IN`] of each other; the smallest share one.
    fn level(self) -> u32 {
        (self.alive / SMALLEST).max(1).ilog(FAN_IN)
    }
}

/// As many segments of one level become one of the next: each chunk is rewritten a few times in its life, and a
/// query looks into a few segments per level.
const FAN_IN: u32 = 4;

/// Segments with fewer chunks than this count as equal.
const SMALLEST: u32 = 1024;

/// No merge makes a segment of more chunks, so that the dearest costs seconds.
const LARGEST: u32 = 500_000;

/// The next merge that is due, as positions in `sizes`; none where the segments are as they should be. One segment
/// alone is rewritten where a quarter of it is dead.
fn plan_merge(sizes: &[Size]) -> Option<Vec<usize>> {
    let dead = |size: &Size| (size.max_doc - size.alive) * 4 > size.max_doc;
    if let Some(i) = sizes.iter().position(dead) {
        return Some(vec![i]);
    }
    let levels = sizes.iter().map(|size| size.level()).max()?;
    for level in 0..=levels {
        let merge: Vec<usize> = (0..sizes.len()).filter(|&i| sizes[i].level() == level).collect();
        let alive: u32 = merge.iter().map(|&i| sizes[i].alive).sum();
        if merge.len() >= FAN_IN as usize && alive <= LARGEST {
            return Some(merge);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(alive: u32) -> Size {
        Size { max_doc: alive, alive }
    }

    #[test]
    fn a_few_small_segments_become_one_and_large_ones_stay() {
        assert_eq!(plan_merge(&[]), None);
        assert_eq!(plan_merge(&[size(100_000), size(1), size(2), size(3)]), None);
        assert_eq!(plan_merge(&[size(100_000), size(1), size(2), size(3), size(4)]), Some(vec![1, 2, 3, 4]));
        assert_eq!(plan_merge(&[size(400_000); 5]), None);
    }

    #[test]
    fn a_segment_that_is_dead_by_a_quarter_is_rewritten() {
        assert_eq!(plan_merge(&[size(10), Size { max_doc: 100, alive: 74 }]), Some(vec![1]));
        assert_eq!(plan_merge(&[size(10), Size { max_doc: 100, alive: 75 }]), None);
    }

    #[test]
    fn merging_comes_to_an_end() {
        let mut sizes = Vec::new();
        for _ in 0..1000 {
            sizes.push(size(20));
            while let Some(merge) = plan_merge(&sizes) {
                let alive = merge.iter().map(|&i| sizes[i].alive).sum();
                let mut i = 0;
                sizes.retain(|_| {
                    i += 1;
                    !merge.contains(&(i - 1))
                });
                sizes.push(size(alive));
            }
        }
        assert!(sizes.len() <= 12, "{sizes:?}");
        assert_eq!(sizes.iter().map(|size| size.alive).sum::<u32>(), 20_000);
    }
}
