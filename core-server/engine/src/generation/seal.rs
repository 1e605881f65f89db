//! The seal: the manifest's list of every file of a generation, with length and hash.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256 as Hasher};

use super::TEXTS_FOLDER;
use super::manifest::{self, Manifest, SealedFile};
use crate::error::{Error, Result};
use crate::id::Sha256;

/// Looks whether every sealed file is there, a regular file, and of its length. Extracted texts are left out, so that
/// opening costs the same whatever the corpus: they are looked at when they are read.
pub(super) fn check_lengths(folder: &Path, manifest: &Manifest) -> Result<()> {
    manifest.files.iter().filter(|file| !is_text(&file.path)).try_for_each(|file| check_length(folder, file))
}

/// Reads every sealed file, and looks whether there is any that is not sealed.
pub(super) fn check_hashes(folder: &Path, manifest: &Manifest) -> Result<()> {
    for file in &manifest.files {
        check_length(folder, file)?;
        let path = folder.join(&file.path);
        let found = hash(&path).map_err(|source| Error::ReadFile { path: path.clone(), source })?;
        if found != file.sha256 {
            return Err(Error::damaged(path, "its content is not what was sealed"));
        }
    }
    let sealed = manifest.files.iter().map(|file| folder.join(&file.path)).collect();
    refuse_strangers(folder, &sealed, &folder.join(manifest::FILE_NAME))
}

fn check_length(folder: &Path, file: &SealedFile) -> Result<()> {
    let path = folder.join(&file.path);
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => Err(Error::damaged(path, "it is not a regular file")),
        Ok(metadata) if metadata.len() != file.bytes => Err(Error::damaged(
            path,
            format_args!("it has {} bytes, {} were sealed", metadata.len(), file.bytes),
        )),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::damaged(path, "it is gone")),
        Err(source) => Err(Error::ReadFile { path, source }),
    }
}

fn hash(path: &Path) -> io::Result<Sha256> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Sha256::from_bytes(hasher.finalize().into())),
            length => hasher.update(&buffer[..length]),
        }
    }
}

fn refuse_strangers(folder: &Path, sealed: &BTreeSet<PathBuf>, manifest: &Path) -> Result<()> {
    let failed = |source| Error::ReadFile { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            refuse_strangers(&path, sealed, manifest)?;
        } else if path != manifest && !sealed.contains(&path) {
            return Err(Error::damaged(path, "it is not sealed"));
        }
    }
    Ok(())
}

fn is_text(path: &str) -> bool {
    path.strip_prefix(TEXTS_FOLDER).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::manifest::tests::manifest;

    fn generation(folder: &Path) {
        std::fs::create_dir_all(folder.join("files")).expect("a folder");
        std::fs::create_dir_all(folder.join("texts")).expect("a folder");
        let mut manifest = manifest();
        manifest["files"] = serde_json::json!([
            {"path": "files/0.jsonl", "bytes": 0, "sha256": Sha256::of(b"")},
            {"path": "texts/a.txt", "bytes": 3, "sha256": Sha256::of(b"abc")},
        ]);
        std::fs::write(folder.join("files/0.jsonl"), "").expect("written");
        std::fs::write(folder.join("texts/a.txt"), "abc").expect("written");
        std::fs::write(folder.join(manifest::FILE_NAME), manifest.to_string()).expect("written");
    }

    fn damage(error: &Error) -> &str {
        let Error::Damaged { what, .. } = error else { panic!("{error}") };
        what
    }

    #[test]
    fn a_whole_generation_keeps_its_seal() {
        let folder = tempfile::tempdir().expect("a folder");
        generation(folder.path());
        let (manifest, _) = Manifest::read(folder.path()).expect("sound");
        check_lengths(folder.path(), &manifest).expect("whole");
        check_hashes(folder.path(), &manifest).expect("whole");
    }

    #[test]
    fn damage_is_named() {
        type Harm = fn(&Path) -> io::Result<()>;
        let harms: [(Harm, Option<&str>, &str); 5] = [
            (
                |folder| std::fs::write(folder.join("texts/a.txt"), "abd"),
                None,
                "its content is not what was sealed",
            ),
            (|folder| std::fs::write(folder.join("texts/b.txt"), ""), None, "it is not sealed"),
            (|folder| std::fs::remove_file(folder.join("files/0.jsonl")), Some("it is gone"), "it is gone"),
            (
                |folder| std::fs::write(folder.join("files/0.jsonl"), "x"),
                Some("it has 1 bytes, 0 were sealed"),
                "it has 1 bytes, 0 were sealed",
            ),
            (
                |folder| {
                    std::fs::remove_file(folder.join("files/0.jsonl"))?;
                    std::os::unix::fs::symlink("/dev/null", folder.join("files/0.jsonl"))
                },
                Some("it is not a regular file"),
                "it is not a regular file",
            ),
        ];
        for (harm, on_open, on_check) in harms {
            let folder = tempfile::tempdir().expect("a folder");
            generation(folder.path());
            harm(folder.path()).expect("harmed");
            let (manifest, _) = Manifest::read(folder.path()).expect("sound");
            assert_eq!(check_lengths(folder.path(), &manifest).as_ref().map_err(damage).err(), on_open);
            assert_eq!(check_hashes(folder.path(), &manifest).as_ref().map_err(damage), Err(on_check));
        }
    }
}
