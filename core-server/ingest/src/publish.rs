//! How a generation comes to be, so that a crash or a full disk at any instant leaves the last one whole.
//!
//! The durable steps, in this order, each done before the next begins:
//!
//! 1. the work folder `writer/work/NNNNNNNN` is made; whatever an earlier process left in `work` is gone by then;
//! 2. files that stay as they are in the parent are hard-linked into it; `meta.json` and `.managed.json` are copied,
//!    since the lexical writer replaces them; lock files are never linked;
//! 3. the lexical writer commits, merges are waited for, and it is dropped;
//! 4. vectors, file table, skipped files and extracted texts are written;
//! 5. each new file is made read-only, hashed and synced; linked ones carry the hash from the parent's seal;
//! 6. `manifest.json` is written and synced: from here on the folder is a whole generation that nobody knows;
//! 7. every folder within is synced;
//! 8. the work folder is renamed to `generations/NNNNNNNN`, and both folders above are synced;
//! 9. the new `CURRENT` is written beside and synced;
//! 10. it is renamed over the old one, and the folder is synced: **this is the instant of publication**;
//! 11. generations beyond the last few are renamed into `work` and removed there.
//!
//! A folder left behind in `work` is never resumed, for «it opens» proves nothing. A generation whose publication
//! ended between 8 and 10 stays in `generations` and is not current; its number is not used again.
//!
//! Deliberately left out: what goes into a generation (`commands/ingest`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use engine::generation::current::Current;
use engine::generation::manifest::{self, Manifest, SealedFile};
use engine::generation::{Generation, GenerationId};
use engine::id::Sha256;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::durable;
use crate::error::{Error, Result};
use crate::folder::{CollectionFolder, names_in};

/// How many generations are kept, the current one included.
pub const KEPT: usize = 5;

/// Lock files of tantivy: never part of a generation.
const LOCK_FILE_PREFIX: &str = ".tantivy-";

/// A generation that is being put together in the work folder. Dropped before it is published, it leaves nothing.
#[derive(Debug)]
pub struct Draft<'a> {
    collection: &'a CollectionFolder,
    generation: GenerationId,
    path: PathBuf,
    /// Files that came from the parent as they are, by path.
    linked: BTreeMap<String, SealedFile>,
}

impl<'a> Draft<'a> {
    /// Begins the next generation. The caller holds the writer's lock and has prepared the collection's folder.
    pub fn begin(collection: &'a CollectionFolder) -> Result<Self> {
        let generation = collection.next()?;
        let path = collection.work().join(generation.folder());
        durable::remove_folder(&path)?;
        durable::make_folder(&path)?;
        Ok(Self { collection, generation, path, linked: BTreeMap::new() })
    }

    /// Its number.
    pub fn generation(&self) -> GenerationId {
        self.generation
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder within it, made where it is not there yet.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        durable::make_folder(&path)?;
        Ok(path)
    }

    /// Takes a file from `parent` as it is: `path` is relative to both.
    pub fn link(&mut self, parent: &Generation, path: &str) -> Result<()> {
        let Some(sealed) = parent.manifest().sealed(path) else {
            let path = parent.folder().join(path);
            return Err(engine::Error::Damaged { path, what: "it is not sealed".to_owned() }.into());
        };
        self.make_folder_of(path)?;
        durable::link_or_copy(&parent.folder().join(path), &self.path.join(path))?;
        self.linked.insert(path.to_owned(), sealed.clone());
        Ok(())
    }

    /// Takes every file in a folder of `parent` as it is.
    pub fn link_all(&mut self, parent: &Generation, folder: &str) -> Result<()> {
        for file in &parent.manifest().files {
            if file.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) {
                self.link(parent, &file.path)?;
            }
        }
        Ok(())
    }

    /// Throws away what was put into a folder of it.
    pub fn forget(&mut self, folder: &str) -> Result<()> {
        self.linked.retain(|path, _| !path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        durable::remove_folder(&self.path.join(folder))
    }

    /// Takes a copy of a file from `parent` that may be written.
    pub fn copy(&mut self, parent: &Generation, path: &str) -> Result<()> {
        self.make_folder_of(path)?;
        durable::copy(&parent.folder().join(path), &self.path.join(path))
    }

    /// Writes a new file.
    pub fn write(&mut self, path: &str, content: &[u8]) -> Result<()> {
        self.make_folder_of(path)?;
        durable::write_new(&self.path.join(path), content)
    }

    /// Seals it with `manifest`, whose `generation` and `files` are filled in here, and makes it the current one.
    pub fn publish(self, mut manifest: Manifest) -> Result<Current> {
        manifest.generation = self.generation;
        manifest.files = self.seal_files()?;
        let bytes = serde_json::to_vec(&manifest)
            .map_err(|error| Error::file("write", &self.path.join(manifest::FILE_NAME))(error.into()))?;
        let manifest_path = self.path.join(manifest::FILE_NAME);
        durable::write_new(&manifest_path, &bytes)?;
        durable::chmod(&manifest_path, durable::SEALED_MODE)?;
        sync_folders(&self.path)?;
        let current = Current { generation: self.generation, manifest_sha256: Sha256::of(&bytes) };
        durable::rename(&self.path, &self.collection.generation(self.generation))?;
        durable::sync_folder(&self.collection.generations())?;
        durable::sync_folder(&self.collection.work())?;
        make_current(self.collection, &current)?;
        Ok(current)
    }

    /// Bytes that this draft has written so far and does not share with its parent.
    pub fn new_bytes(&self) -> u64 {
        let files = self.files().unwrap_or_default();
        let new = files.iter().filter(|path| !self.linked.contains_key(*path));
        new.filter_map(|path| self.path.join(path).metadata().ok()).map(|metadata| metadata.len()).sum()
    }

    fn make_folder_of(&self, path: &str) -> Result<()> {
        match path.rsplit_once('/') {
            Some((folder, _)) => durable::make_folder(&self.path.join(folder)).map(|_| ()),
            None => Ok(()),
        }
    }

    fn seal_files(&self) -> Result<Vec<SealedFile>> {
        self.files()?
            .into_par_iter()
            .map(|path| match self.linked.get(&path) {
                Some(sealed) => Ok(sealed.clone()),
                None => seal(&self.path, path),
            })
            .collect()
    }

    /// Every file within, relative and sorted. Lock files are removed.
    fn files(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        collect_files(&self.path, "", &mut files)?;
        files.sort();
        Ok(files)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Published, there is nothing at the path any more. Failing is fine: the next writer clears the work folder.
        durable::remove_folder(&self.path).ok();
    }
}

/// Makes `current` the collection's current generation, by an atomic rename.
pub fn make_current(collection: &CollectionFolder, current: &Current) -> Result<()> {
    let beside = collection.work().join("CURRENT");
    if beside.exists() {
        fs::remove_file(&beside).map_err(Error::file("remove", &beside))?;
    }
    durable::write_new(&beside, current.to_string().as_bytes())?;
    durable::rename(&beside, &collection.current())?;
    durable::sync_folder(collection.path())
}

/// Removes all but the last few generations; never the current one. A reader that holds one keeps it.
pub fn prune(collection: &CollectionFolder, current: GenerationId) -> Result<()> {
    let kept = collection.kept()?;
    let surplus = kept.len().saturating_sub(KEPT);
    for id in kept.into_iter().take(surplus).filter(|id| *id != current) {
        let away = collection.work().join(format!("old-{}", id.folder()));
        durable::rename(&collection.generation(id), &away)?;
        durable::remove_folder(&away)?;
    }
    Ok(())
}

fn seal(folder: &Path, path: String) -> Result<SealedFile> {
    let file = folder.join(&path);
    durable::chmod(&file, durable::SEALED_MODE)?;
    let (bytes, sha256) = hash(&file)?;
    durable::sync_file(&file)?;
    Ok(SealedFile { path, bytes, sha256 })
}

fn hash(path: &Path) -> Result<(u64, Sha256)> {
    use sha2::Digest as _;
    let mut file = fs::File::open(path).map_err(Error::file("read", path))?;
    let mut hasher = Hashed { hasher: sha2::Sha256::new(), bytes: 0 };
    std::io::copy(&mut file, &mut hasher).map_err(Error::file("read", path))?;
    Ok((hasher.bytes, Sha256::from_bytes(hasher.hasher.finalize().into())))
}

struct Hashed {
    hasher: sha2::Sha256,
    bytes: u64,
}

impl std::io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        sha2::Digest::update(&mut self.hasher, bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn collect_files(folder: &Path, prefix: &str, files: &mut Vec<String>) -> Result<()> {
    for name in names_in(folder)? {
        let path = folder.join(&name);
        let name = name.to_string_lossy();
        let relative = if prefix.is_empty() { name.to_string() } else { format!("{prefix}/{name}") };
        if path.is_dir() {
            collect_files(&path, &relative, files)?;
        } else if name.starts_with(LOCK_FILE_PREFIX) {
            fs::remove_file(&path).map_err(Error::file("remove", &path))?;
        } else {
            files.push(relative);
        }
    }
    Ok(())
}

fn sync_folders(folder: &Path) -> Result<()> {
    for name in names_in(folder)? {
        let path = folder.join(name);
        if path.is_dir() {
            durable::chmod(&path, durable::FOLDER_MODE)?;
            sync_folders(&path)?;
        }
    }
    durable::sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use engine::generation::manifest::{SCHEMA_VERSION, Scope};

    use super::*;

    struct Place {
        _index: tempfile::TempDir,
        folder: CollectionFolder,
    }

    fn place() -> Place {
        let index = tempfile::tempdir().unwrap();
        let folder = CollectionFolder::new(index.path(), &"docs".parse().unwrap());
        folder.create_for_lock().unwrap();
        folder.prepare().unwrap();
        Place { _index: index, folder }
    }

    fn manifest(parent: Option<GenerationId>) -> Manifest {
        Manifest {
            schema_version: SCHEMA_VERSION,
            written_by: "a test".into(),
            collection: "docs".parse().unwrap(),
            generation: GenerationId::FIRST,
            parent,
            published_at: jiff::Timestamp::UNIX_EPOCH,
            scope: Scope {
                root: "/".into(),
                label: None,
                paths: vec![".".into()],
                include: Vec::new(),
                exclude: Vec::new(),
                max_file_bytes: 1,
            },
            chunker: String::new(),
            analyzer: String::new(),
            model: None,
            vectors: false,
            documents: 0,
            chunks: 0,
            tokens: BTreeMap::new(),
            skipped: BTreeMap::new(),
            ignored: BTreeMap::new(),
            evidence: None,
            file_segments: vec!["0.jsonl".into()],
            files: Vec::new(),
        }
    }

    fn publish(folder: &CollectionFolder, parent: Option<&Generation>) -> Generation {
        let mut draft = Draft::begin(folder).unwrap();
        match parent {
            Some(parent) => draft.link(parent, "files/0.jsonl").unwrap(),
            None => draft.write("files/0.jsonl", b"").unwrap(),
        }
        draft.write("lexical/meta.json", b"{}").unwrap();
        draft.write("lexical/.tantivy-writer.lock", b"").unwrap();
        let current = draft.publish(manifest(parent.map(Generation::id))).unwrap();
        assert_eq!(Current::read(folder.path()).unwrap(), Some(current));
        Generation::open_current(folder.path(), &current).unwrap()
    }

    #[test]
    fn what_is_published_opens_and_keeps_its_seal() {
        let place = place();
        let generation = publish(&place.folder, None);
        generation.check_seal().unwrap();
        let sealed: Vec<_> = generation.manifest().files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(sealed, ["files/0.jsonl", "lexical/meta.json"], "lock files are no part of it");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for file in sealed {
            assert_eq!(mode(&generation.folder().join(file)), durable::SEALED_MODE);
        }
        assert_eq!(mode(&generation.folder().join("lexical")), durable::FOLDER_MODE);
        assert!(names_in(&place.folder.work()).unwrap().is_empty());
    }

    #[test]
    fn unchanged_files_are_shared() {
        let place = place();
        let first = publish(&place.folder, None);
        let second = publish(&place.folder, Some(&first));
        second.check_seal().unwrap();
        let inode =
            |generation: &Generation| generation.folder().join("files/0.jsonl").metadata().unwrap().ino();
        assert_eq!(inode(&first), inode(&second));
    }

    #[test]
    fn a_dropped_draft_leaves_nothing() {
        let place = place();
        let mut draft = Draft::begin(&place.folder).unwrap();
        draft.write("a/b", b"c").unwrap();
        drop(draft);
        assert!(names_in(&place.folder.work()).unwrap().is_empty());
        assert_eq!(Current::read(place.folder.path()).unwrap(), None);
    }

    #[test]
    fn the_last_few_are_kept_and_numbers_go_on_after_going_back() {
        let place = place();
        let mut generation = publish(&place.folder, None);
        let mut currents = Vec::new();
        for _ in 0..6 {
            generation = publish(&place.folder, Some(&generation));
            currents.push(Current::read(place.folder.path()).unwrap().unwrap());
            prune(&place.folder, generation.id()).unwrap();
        }
        let kept = |folder: &CollectionFolder| -> Vec<u32> {
            folder.kept().unwrap().iter().map(|id| id.number()).collect()
        };
        assert_eq!(kept(&place.folder), [3, 4, 5, 6, 7]);
        make_current(&place.folder, &currents[1]).unwrap();
        let back = Generation::open_current(place.folder.path(), &currents[1]).unwrap();
        let next = publish(&place.folder, Some(&back));
        prune(&place.folder, next.id()).unwrap();
        assert_eq!(next.id().number(), 8);
        assert_eq!(kept(&place.folder), [4, 5, 6, 7, 8]);
    }
}
