//! Which files a collection is made of: looks through folders and says of everything what it is and why it is left out.
//!
//! ```text
//! scope ─► entries, sorted ─► hidden? a rule? excluded? a link? a device? of a kind we know? ─► files
//! ```
//!
//! Nothing is opened but folders and ignore files. **No link is ever followed:** what one inside the root leads to is found
//! under its own name, what leads out of it is not the collection's. That also leaves no cycles. Deliberately left out:
//! what is in the files (`admit`).

mod globs;
mod rules;

use std::collections::BTreeMap;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use engine::generation::files::Fingerprint;
use engine::generation::manifest::Scope;
use jiff::Timestamp;

use crate::admit::{IgnoreReason, SkipReason};
use crate::kind::{Kind, is_generated};
use globs::Globs;
use rules::Rules;

/// What a look through a scope found, each list sorted by source.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// Files to be indexed, as far as their names and metadata tell.
    pub files: Vec<Found>,
    /// What should have been looked at and could not be.
    pub skipped: Vec<Skipped>,
    /// What is not meant for the index. A folder that a rule leaves out is one entry.
    pub ignored: Vec<Ignored>,
    /// Folders that could not be read: what the last generation knows beneath them has to stay.
    pub unseen: Vec<String>,
}

/// A file to be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path relative to the root, with `/`.
    pub source: String,
    /// How it is to be read.
    pub kind: Kind,
    /// What its metadata showed.
    pub fingerprint: Fingerprint,
}

/// Something that should have worked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The path relative to the root, with `/`; what is not UTF-8 in it is replaced.
    pub source: String,
    /// Why, in one word.
    pub reason: SkipReason,
    /// What exactly, for a person; may be empty.
    pub detail: String,
}

/// Something that is not meant for the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The path relative to the root, with `/`; what is not UTF-8 in it is replaced. A folder's ends with `/`.
    pub source: String,
    /// Why, in one word.
    pub reason: IgnoreReason,
}

/// A look that could not begin.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The root does not open: nothing can be said of what is beneath it.
    #[error("cannot look through {}", root.display())]
    Root {
        /// The collection's root.
        root: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A glob that is none.
    #[error("`{glob}` is not a glob")]
    Glob {
        /// As it was given.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
}

/// Looks through `look`, paths relative to the scope's root, of which `.` is the root itself. What is not there is
/// silently not found: the caller knows that it was looked for.
///
/// The same folders give the same lists, but for the times in fingerprints.
pub fn walk(scope: &Scope, look: &[String]) -> Result<Walked, WalkError> {
    let root_error = |source| WalkError::Root { root: scope.root.clone(), source };
    fs::read_dir(&scope.root).map_err(root_error)?;
    let root = scope.root.canonicalize().map_err(root_error)?;
    let mut walk = Walk {
        include: Globs::new(&scope.include)?,
        exclude: Globs::new(&scope.exclude)?,
        rules: BTreeMap::new(),
        scope,
        root,
        walked: Walked::default(),
    };
    for path in look {
        walk.look(path);
    }
    let Walked { mut files, mut skipped, mut ignored, mut unseen } = walk.walked;
    files.sort_by(|a, b| a.source.cmp(&b.source));
    files.dedup_by(|a, b| a.source == b.source);
    skipped.sort_by(|a, b| a.source.cmp(&b.source));
    skipped.dedup();
    ignored.sort_by(|a, b| a.source.cmp(&b.source));
    ignored.dedup();
    unseen.sort();
    Ok(Walked { files, skipped, ignored, unseen })
}

/// What `metadata` says of a file, read just now.
pub fn fingerprint(metadata: &Metadata) -> Fingerprint {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Fingerprint {
        device: metadata.dev(),
        inode: metadata.ino(),
        bytes: metadata.len(),
        mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        seen_ns: i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX),
    }
}

struct Walk<'a> {
    scope: &'a Scope,
    /// The root without links.
    root: PathBuf,
    include: Globs,
    exclude: Globs,
    /// The ignore rules of each path of the scope.
    rules: BTreeMap<String, Rules>,
    walked: Walked,
}

impl Walk<'_> {
    fn look(&mut self, path: &str) {
        let path = if path == "." { "" } else { path.trim_matches('/') };
        let holds = |scope: &&String| scope.as_str() == "." || Path::new(path).starts_with(scope);
        let top = self.scope.paths.iter().filter(holds).max_by_key(|scope| scope.len());
        let top = top.map_or(path, |top| if top == "." { "" } else { top.as_str() }).to_owned();
        let mut rules = self.rules.remove(&top).unwrap_or_else(|| Rules::new(&self.root, Path::new(&top)));
        self.descend(path, &top, &mut rules);
        self.rules.insert(top, rules);
    }

    fn descend(&mut self, path: &str, top: &str, rules: &mut Rules) {
        let Ok(metadata) = fs::symlink_metadata(self.root.join(path)) else { return };
        let mut folders = Vec::new();
        // A path that was named is looked at whatever the rules say of it.
        if path == top || !self.leaves_out(path, metadata.is_dir(), top, rules) {
            self.entry(path.to_owned(), metadata.file_type(), path == top, &mut folders);
        }
        while let Some(folder) = folders.pop() {
            self.folder(&folder, top, rules, &mut folders);
        }
    }

    fn folder(&mut self, folder: &str, top: &str, rules: &mut Rules, folders: &mut Vec<String>) {
        let entries = match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.unseen(folder, &error),
        };
        for entry in entries {
            let (entry, file_type) = match entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))
            {
                Ok(entry) => entry,
                Err(error) => {
                    self.unseen(folder, &error);
                    continue;
                }
            };
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let reason = SkipReason::BadName;
                self.skip(&joined(folder, &name.to_string_lossy()), reason, String::new());
                continue;
            };
            let source = joined(folder, name);
            if !self.leaves_out(&source, file_type.is_dir(), top, rules) {
                self.entry(source, file_type, false, folders);
            }
        }
    }

    /// Whether rules leave something out, which is then noted.
    fn leaves_out(&mut self, source: &str, is_dir: bool, top: &str, rules: &mut Rules) -> bool {
        let beneath = source.strip_prefix(top).unwrap_or(source);
        let reason = if beneath.split('/').any(|name| name.starts_with('.')) {
            IgnoreReason::Hidden
        } else if rules.leave_out(Path::new(source), is_dir) {
            IgnoreReason::Rule
        } else if self.exclude.match_path(source) {
            IgnoreReason::Excluded
        } else {
            return false;
        };
        self.ignore(source, is_dir, reason);
        true
    }

    fn entry(&mut self, source: String, file_type: FileType, named: bool, folders: &mut Vec<String>) {
        if file_type.is_dir() {
            folders.push(source);
        } else if file_type.is_symlink() {
            let reason = self.link(&source);
            self.ignore(&source, false, reason);
        } else if file_type.is_file() {
            self.file(source, named);
        } else {
            debug_assert!(
                file_type.is_fifo()
                    || file_type.is_socket()
                    || file_type.is_char_device()
                    || file_type.is_block_device()
            );
            self.ignore(&source, false, IgnoreReason::NotAFile);
        }
    }

    fn file(&mut self, source: String, named: bool) {
        let included = named || self.include.match_path(&source);
        let kind = match Kind::of(&source) {
            Some(_) | None if is_generated(&source) && !included => {
                return self.ignore(&source, false, IgnoreReason::Generated);
            }
            None if !included => return self.ignore(&source, false, IgnoreReason::UnknownKind),
            known => known.unwrap_or(Kind::Plain),
        };
        match fs::symlink_metadata(self.root.join(&source)) {
            Ok(metadata) if metadata.len() > self.scope.max_file_bytes.min(u64::from(u32::MAX)) => {
                self.skip(&source, SkipReason::TooLarge, format!("{} bytes", metadata.len()));
            }
            Ok(metadata) => {
                self.walked.files.push(Found { source, kind, fingerprint: fingerprint(&metadata) });
            }
            // It went away while we looked: not there is not found.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.skip(&source, SkipReason::Unreadable, error.to_string()),
        }
    }

    fn link(&self, source: &str) -> IgnoreReason {
        match self.root.join(source).canonicalize() {
            Ok(target) if target.starts_with(&self.root) => IgnoreReason::LinkInside,
            Ok(_) => IgnoreReason::LinkOutside,
            Err(_) => IgnoreReason::LinkBroken,
        }
    }

    fn unseen(&mut self, folder: &str, error: &io::Error) {
        self.skip(&format!("{folder}/"), SkipReason::Unreadable, error.to_string());
        self.walked.unseen.push(folder.to_owned());
    }

    fn skip(&mut self, source: &str, reason: SkipReason, detail: String) {
        self.walked.skipped.push(Skipped { source: source.to_owned(), reason, detail });
    }

    fn ignore(&mut self, source: &str, is_dir: bool, reason: IgnoreReason) {
        let source = if is_dir { format!("{source}/") } else { source.to_owned() };
        self.walked.ignored.push(Ignored { source, reason });
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests;
