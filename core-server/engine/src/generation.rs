//! A generation: one immutable state of a collection, sealed by its manifest.
//!
//! `docs/GENERATION.md` describes every byte of it. Deliberately left out: how one is written (`ingest`).

pub mod current;
pub mod files;
pub mod manifest;
mod seal;

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use self::current::Current;
use self::files::FileTable;
use self::manifest::Manifest;
use crate::dense::VectorSegment;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::DocumentId;
use crate::lexical::{Lexical, Segment, Selection};
use crate::stop::Stop;

/// The folder of all generations within a collection's.
pub const FOLDER: &str = "generations";

/// The folder of the lexical index within a generation's.
pub const LEXICAL_FOLDER: &str = "lexical";

/// The folder of the vector segments within a generation's.
pub const VECTORS_FOLDER: &str = "vectors";

/// The folder of the extractors' output within a generation's.
pub const TEXTS_FOLDER: &str = "texts";

/// The list of skipped files within a generation's folder.
pub const SKIPPED_FILE: &str = "skipped.jsonl";

/// One generation, open for reading. What was asked for once can be read ever after, also when its folder is gone.
#[derive(Debug)]
pub struct Generation {
    folder: PathBuf,
    manifest: Manifest,
    files: FileTable,
    /// Opened when first asked for: a kept generation may be looked into for its manifest alone.
    lexical: OnceLock<Lexical>,
    /// One for each segment of `lexical`, in its order; none where the generation has no vectors.
    vectors: OnceLock<Vec<VectorSegment>>,
    /// What the last few filters left, the latest last: who filters once, filters again.
    selections: Mutex<VecDeque<(Filter, Arc<Selection>)>>,
}

/// How many filters are remembered: a bit for each chunk and filter.
const REMEMBERED_FILTERS: usize = 16;

impl Generation {
    /// Opens the generation in `folder`, checking the manifest and that every sealed file is there with its length.
    /// What the files hold is checked by [`check_seal`](Self::check_seal) alone.
    pub fn open(folder: &Path) -> Result<Self> {
        let (manifest, _) = Manifest::read(folder)?;
        if folder.file_name() != Some(manifest.generation.folder().as_ref()) {
            return Err(Error::damaged(folder, "it is the folder of another generation"));
        }
        Self::open_read(folder, manifest)
    }

    /// Opens the generation that `current` names in the collection's folder, which must hold the very manifest that
    /// `current` was written for.
    pub fn open_current(collection: &Path, current: &Current) -> Result<Self> {
        let folder = collection.join(FOLDER).join(current.generation.folder());
        let (manifest, hash) = Manifest::read(&folder)?;
        if hash != current.manifest_sha256 || manifest.generation != current.generation {
            return Err(Error::damaged(
                folder.join(manifest::FILE_NAME),
                "it is not the one that CURRENT names",
            ));
        }
        Self::open_read(&folder, manifest)
    }

    fn open_read(folder: &Path, manifest: Manifest) -> Result<Self> {
        seal::check_lengths(folder, &manifest)?;
        Ok(Self {
            folder: folder.to_owned(),
            files: FileTable::open(folder, &manifest.file_segments)?,
            manifest,
            lexical: OnceLock::new(),
            vectors: OnceLock::new(),
            selections: Mutex::default(),
        })
    }

    /// Reads and hashes every file of it: [`Error::Damaged`] names the first that is not what was sealed.
    pub fn check_seal(&self) -> Result<()> {
        seal::check_hashes(&self.folder, &self.manifest)
    }

    /// Its number.
    pub fn id(&self) -> GenerationId {
        self.manifest.generation
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Which files it holds.
    pub fn files(&self) -> &FileTable {
        &self.files
    }

    /// Its chunks, by their words. Opened when first asked for, and open ever after.
    pub fn lexical(&self) -> Result<&Lexical> {
        if let Some(lexical) = self.lexical.get() {
            return Ok(lexical);
        }
        let lexical = open_lexical(&self.folder, &self.manifest)?;
        Ok(self.lexical.get_or_init(|| lexical))
    }

    /// Its chunks' vectors: one segment for each of the lexical side, in the same order and with the same rows; none
    /// where the generation has no vectors. Opened when first asked for, and open ever after.
    pub fn vectors(&self) -> Result<&[VectorSegment]> {
        if let Some(vectors) = self.vectors.get() {
            return Ok(vectors);
        }
        let vectors = open_vectors(&self.folder, &self.manifest, self.lexical()?)?;
        Ok(self.vectors.get_or_init(|| vectors))
    }

    /// The rows that `filter` leaves.
    pub fn selection(&self, filter: &Filter, stop: &Stop) -> Result<Arc<Selection>> {
        if let Some(selection) = self.remembered(filter) {
            return Ok(selection);
        }
        let selection = Arc::new(self.lexical()?.select(filter, stop)?);
        // Whoever held the lock in a panic left whole entries behind.
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        selections.push_back((filter.clone(), Arc::clone(&selection)));
        if selections.len() > REMEMBERED_FILTERS {
            selections.pop_front();
        }
        Ok(selection)
    }

    fn remembered(&self, filter: &Filter) -> Option<Arc<Selection>> {
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let known = selections.iter().position(|(known, _)| known == filter)?;
        let entry = selections.remove(known)?;
        let selection = Arc::clone(&entry.1);
        selections.push_back(entry);
        Some(selection)
    }

    /// What the extractor made of `document`; `None` where the document was indexed as it is stored.
    pub fn extracted_text(&self, document: DocumentId) -> Result<Option<Vec<u8>>> {
        let name = text_file(document);
        if self.manifest.sealed(&name).is_none() {
            return Ok(None);
        }
        let path = self.folder.join(name);
        std::fs::read(&path).map(Some).map_err(|source| Error::ReadFile { path, source })
    }
}

/// Where the vectors of the lexical segment `id` lie, relative to the generation's folder.
pub fn vector_file(id: &str) -> String {
    format!("{VECTORS_FOLDER}/{id}.vec")
}

fn open_lexical(folder: &Path, manifest: &Manifest) -> Result<Lexical> {
    let path = folder.join(LEXICAL_FOLDER);
    let opened = Lexical::open_counted(&path, &manifest.tokens);
    let lexical = match opened {
        Err(Error::Lexical { source, .. }) => return Err(Error::damaged(path, source)),
        opened => opened?,
    };
    if lexical.chunks() != u64::from(manifest.chunks) {
        return Err(Error::damaged(
            path,
            format_args!("it holds {} chunks, not {}", lexical.chunks(), manifest.chunks),
        ));
    }
    Ok(lexical)
}

fn open_vectors(folder: &Path, manifest: &Manifest, lexical: &Lexical) -> Result<Vec<VectorSegment>> {
    if !manifest.vectors {
        return Ok(Vec::new());
    }
    let dimensions = manifest.model.as_ref().map(|model| model.dimensions);
    let open = |segment: Segment| {
        let name = vector_file(&segment.id);
        let path = folder.join(&name);
        if manifest.sealed(&name).is_none() {
            return Err(Error::damaged(path, "it is not sealed"));
        }
        let vectors = VectorSegment::open(&path)?;
        if vectors.rows() != segment.max_doc || Some(vectors.dimensions()) != dimensions {
            return Err(Error::damaged(path, "it is not the vectors of its segment"));
        }
        Ok(vectors)
    };
    lexical.segments().into_iter().map(open).collect()
}

/// Where the extractor's output for `document` lies, relative to the generation's folder.
pub fn text_file(document: DocumentId) -> String {
    format!("{TEXTS_FOLDER}/{document}.txt")
}

/// The generations in a collection's folder, ascending, whether they open or not. None where there is no folder.
pub fn list(collection: &Path) -> Result<Vec<GenerationId>> {
    let path = collection.join(FOLDER);
    let entries = match std::fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::ReadFile { path, source }),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| Error::ReadFile { path: path.clone(), source })?;
        ids.extend(entry.file_name().to_str().and_then(|name| name.parse::<GenerationId>().ok()));
    }
    ids.sort_unstable();
    Ok(ids)
}

/// Maps a sealed file for reading.
pub fn map_sealed(path: &Path) -> Result<Mmap> {
    let failed = |source| Error::ReadFile { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    #[expect(
        unsafe_code,
        reason = "a sealed file is never written again: it is replaced or unlinked as a whole"
    )]
    // SAFETY: see the reason above; whoever changes files of the index by other means breaks every promise of it.
    unsafe { Mmap::map(&file) }.map_err(failed)
}

/// A generation's number, counted from 1 within its collection; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GenerationId(NonZeroU32);

impl GenerationId {
    /// The first generation of a collection.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The number.
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Its folder's name beneath `generations/`: eight decimal digits.
    pub fn folder(self) -> String {
        format!("{:08}", self.0)
    }
}

impl fmt::Display for GenerationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no generation folder's name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a generation's folder name")]
pub struct ParseGenerationIdError;

impl FromStr for GenerationId {
    type Err = ParseGenerationIdError;

    fn from_str(text: &str) -> Result<Self, ParseGenerationIdError> {
        let number = text.parse().map_err(|_| ParseGenerationIdError)?;
        let id = Self(number);
        if id.folder() == text { Ok(id) } else { Err(ParseGenerationIdError) }
    }
}
