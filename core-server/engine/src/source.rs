//! Sources: opening the files that citations point into, and reading them.
//!
//! A file is opened once, beneath its root, and everything that is checked or read afterwards is asked of that one
//! handle: there is no moment between a check and its use. Nothing but a regular file is read, and opening anything
//! else does not wait. Deliberately left out: whether what was read is what was cited (`verify`).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::citation::{ByteRange, Reason};
use crate::collection::CollectionName;
use crate::engine::SourceRoot;
use crate::generation::files::Fingerprint;
use crate::generation::manifest::Scope;

/// Where a collection's sources may be read.
#[derive(Debug)]
pub struct Root {
    /// None where no configured source root admits the collection.
    places: Vec<Place>,
}

/// A directory beneath which sources may be read.
#[derive(Debug)]
struct Place {
    /// What the sources in there begin with: empty where the directory stands for the collection's root.
    prefix: PathBuf,
    path: PathBuf,
    handle: Result<OwnedFd, Reason>,
}

impl Root {
    /// Opens the root of `collection`.
    ///
    /// Without `configured` roots it is the one that the manifest records. With them only what they admit is read:
    /// one whose label is the root's (or, where that has none, the collection's name) stands for the root wherever it
    /// lies; one without a label admits what is beneath both it and the recorded root.
    pub fn open(collection: &CollectionName, scope: &Scope, configured: &[SourceRoot]) -> Self {
        Self {
            places: places(collection, scope, configured)
                .map(|(prefix, path)| Place::open(prefix, path))
                .collect(),
        }
    }

    /// Opens a single directory as a root.
    pub fn at(path: &Path) -> Self {
        Self { places: vec![Place::open(PathBuf::new(), path.to_owned())] }
    }

    /// Opens the file at `source`, which is relative to the collection's root, for reading.
    pub fn open_source(&self, source: &str) -> Result<SourceFile, Reason> {
        let not_admitted = if self.places.is_empty() { Reason::RootUnavailable } else { Reason::OutsideRoot };
        let (place, relative) = self.place_of(source).ok_or(not_admitted)?;
        let handle = place.handle.as_ref().map_err(|reason| *reason)?;
        let opened = match open_beneath(handle, relative) {
            // An absolute link may still lead to a place beneath the root.
            Err(Reason::OutsideRoot) => open_resolved(handle, &place.path, relative),
            opened => opened,
        };
        SourceFile::check(opened?)
    }

    /// The absolute path of `source`, whether it exists or not; `None` where it may not be read.
    pub fn path_of(&self, source: &str) -> Option<PathBuf> {
        self.place_of(source).map(|(place, relative)| place.path.join(relative))
    }

    fn place_of<'a>(&self, source: &'a str) -> Option<(&Place, &'a Path)> {
        let source = Path::new(source);
        self.places.iter().find_map(|place| Some((place, source.strip_prefix(&place.prefix).ok()?)))
    }
}

impl Place {
    fn open(prefix: PathBuf, path: PathBuf) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle =
            rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(|_| Reason::RootUnavailable);
        Self { prefix, path, handle }
    }
}

/// Pairs of what sources begin with and the directory that holds them.
fn places<'a>(
    collection: &CollectionName,
    scope: &'a Scope,
    configured: &'a [SourceRoot],
) -> Box<dyn Iterator<Item = (PathBuf, PathBuf)> + 'a> {
    let whole = |path: &Path| Box::new(std::iter::once((PathBuf::new(), path.to_owned())));
    if configured.is_empty() {
        return whole(&scope.root);
    }
    let label = scope.label.as_deref().filter(|label| !label.is_empty()).unwrap_or(collection.as_str());
    if let Some(labelled) = configured.iter().find(|root| root.label.as_deref() == Some(label)) {
        return whole(&labelled.path);
    }
    let unlabelled = configured.iter().filter(|root| root.label.is_none()).map(|root| root.path.as_path());
    if unlabelled.clone().any(|path| scope.root.starts_with(path)) {
        return whole(&scope.root);
    }
    Box::new(
        unlabelled
            .filter_map(|path| Some((path.strip_prefix(&scope.root).ok()?.to_owned(), path.to_owned()))),
    )
}

/// Reading never waits, makes no terminal ours and does not survive into a child.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens what `relative` leads to, if the way there never leaves `root`.
#[cfg(target_os = "linux")]
fn open_beneath(root: &OwnedFd, relative: &Path) -> Result<File, Reason> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(root, relative, READING, Mode::empty(), resolve) {
        Ok(file) => Ok(file.into()),
        // An older kernel, a sandbox that does not know the call, or a rename under way.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => open_walking(root, relative),
        Err(error) => Err(reason(error)),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(root: &OwnedFd, relative: &Path) -> Result<File, Reason> {
    open_walking(root, relative)
}

/// The same where the kernel has no such promise: a walk with one handle per component.
fn open_walking(root: &OwnedFd, relative: &Path) -> Result<File, Reason> {
    use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
    let root = Dir::from_std_file(root.try_clone().map_err(|_| Reason::ReadFailed)?.into());
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(flags).unwrap_or_default());
    root.open_with(relative, &options).map(cap_std::fs::File::into_std).map_err(|error| {
        match (error.kind(), Errno::from_io_error(&error)) {
            (_, Some(errno)) => reason(errno),
            // It says so without a number of the system's.
            (io::ErrorKind::PermissionDenied, None) => Reason::OutsideRoot,
            _ => Reason::ReadFailed,
        }
    })
}

/// Opens a source by what its links resolve to, again beneath `root`.
fn open_resolved(root: &OwnedFd, path: &Path, relative: &Path) -> Result<File, Reason> {
    let outside = |_| Reason::OutsideRoot;
    let resolved = path.join(relative).canonicalize().map_err(outside)?;
    let root_path = path.canonicalize().map_err(outside)?;
    let relative = resolved.strip_prefix(root_path).map_err(|_| Reason::OutsideRoot)?;
    open_beneath(root, relative)
}

fn reason(error: Errno) -> Reason {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Reason::SourceGone,
        Errno::ACCESS | Errno::PERM => Reason::PermissionDenied,
        Errno::XDEV => Reason::OutsideRoot,
        // A socket, a device without a driver, a link to itself.
        Errno::NXIO | Errno::NODEV | Errno::LOOP => Reason::NotAFile,
        _ => Reason::ReadFailed,
    }
}

/// A regular file beneath its root, open for reading.
#[derive(Debug)]
pub struct SourceFile {
    file: File,
    fingerprint: Fingerprint,
}

impl SourceFile {
    fn check(file: File) -> Result<Self, Reason> {
        let metadata = file.metadata().map_err(|_| Reason::ReadFailed)?;
        if !metadata.is_file() {
            return Err(Reason::NotAFile);
        }
        let fingerprint = Fingerprint {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            seen_ns: now_ns(),
        };
        Ok(Self { file, fingerprint })
    }

    /// What its metadata showed when it was opened.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Reads `range`, or as much of it as the file holds.
    pub fn read(&self, range: ByteRange) -> io::Result<Vec<u8>> {
        // A range beyond the file, as a damaged index could name one, reserves no memory.
        let held = self.fingerprint.bytes.saturating_sub(u64::from(range.start)).min(u64::from(range.len()));
        let mut bytes = vec![0; usize::try_from(held).unwrap_or_default()];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], u64::from(range.start) + filled as u64) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Reads all of it from its beginning, as long as it was when it was opened.
    pub fn read_whole(&self) -> io::Result<Vec<u8>> {
        let end = u32::try_from(self.fingerprint.bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.read(ByteRange { start: 0, end })
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

fn now_ns() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_nanos()).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scope(root: &Path) -> Scope {
        Scope {
            root: root.to_owned(),
            label: None,
            paths: vec![".".to_owned()],
            include: Vec::new(),
            exclude: Vec::new(),
            max_file_bytes: 1,
        }
    }

    fn opened(configured: &[SourceRoot], root: &Path, source: &str) -> Result<Vec<u8>, Reason> {
        let collection = "docs".parse().expect("a name");
        let root = Root::open(&collection, &scope(root), configured);
        Ok(root.open_source(source)?.read_whole().expect("read"))
    }

    fn read(root: &Path, source: &str) -> Result<Vec<u8>, Reason> {
        let by_kernel = opened(&[], root, source);
        let handle = Place::open(PathBuf::new(), root.to_owned()).handle;
        if let Ok(handle) = handle {
            let walked = open_walking(&handle, Path::new(source)).and_then(SourceFile::check);
            let walked = walked.map(|file| file.read_whole().expect("read"));
            // An absolute link that stays beneath the root takes a second step, which is not the walk's.
            if walked != Err(Reason::OutsideRoot) {
                assert_eq!(walked, by_kernel, "{source}");
            }
        }
        by_kernel
    }

    #[test]
    fn only_regular_files_beneath_the_root_are_read() {
        let outer = tempfile::tempdir().expect("a folder");
        let root = outer.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("a folder");
        std::fs::write(outer.path().join("secret"), "no").expect("written");
        std::fs::write(root.join("sub/a.md"), "yes").expect("written");
        symlink("sub/a.md", root.join("inward")).expect("linked");
        symlink(root.join("sub/a.md"), root.join("absolute")).expect("linked");
        symlink("../secret", root.join("outward")).expect("linked");
        symlink(outer.path(), root.join("up")).expect("linked");
        symlink("loop", root.join("loop")).expect("linked");
        rustix::fs::mknodat(CWD, root.join("fifo"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).expect("made");
        let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("bound");
        for (source, expected) in [
            ("sub/a.md", Ok(b"yes".to_vec())),
            ("inward", Ok(b"yes".to_vec())),
            ("absolute", Ok(b"yes".to_vec())),
            ("outward", Err(Reason::OutsideRoot)),
            ("up/secret", Err(Reason::OutsideRoot)),
            ("../secret", Err(Reason::OutsideRoot)),
            ("sub/../../secret", Err(Reason::OutsideRoot)),
            ("/etc/passwd", Err(Reason::OutsideRoot)),
            ("sub/b.md", Err(Reason::SourceGone)),
            ("gone/a.md", Err(Reason::SourceGone)),
            ("sub/a.md/b", Err(Reason::SourceGone)),
            ("sub", Err(Reason::NotAFile)),
            ("fifo", Err(Reason::NotAFile)),
            ("socket", Err(Reason::NotAFile)),
            ("loop", Err(Reason::NotAFile)),
        ] {
            assert_eq!(read(&root, source), expected, "{source}");
        }
        assert_eq!(read(&outer.path().join("gone"), "a.md"), Err(Reason::RootUnavailable));
        assert_eq!(read(&root.join("sub/a.md"), "a.md"), Err(Reason::RootUnavailable));
    }

    #[test]
    fn configured_roots_narrow_or_replace_the_recorded_one() {
        let outer = tempfile::tempdir().expect("a folder");
        let root = outer.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("a folder");
        std::fs::create_dir_all(outer.path().join("moved/sub")).expect("a folder");
        std::fs::write(root.join("a.md"), "a").expect("written");
        std::fs::write(root.join("sub/b.md"), "b").expect("written");
        std::fs::write(outer.path().join("moved/a.md"), "moved").expect("written");
        let at = |label: Option<&str>, path: &str| SourceRoot {
            label: label.map(str::to_owned),
            path: outer.path().join(path),
        };
        for (configured, a, b) in [
            (vec![at(None, "")], Ok("a"), Ok("b")),
            (vec![at(None, "root/sub")], Err(Reason::OutsideRoot), Ok("b")),
            (vec![at(None, "other")], Err(Reason::RootUnavailable), Err(Reason::RootUnavailable)),
            (vec![at(Some("docs"), "moved")], Ok("moved"), Err(Reason::SourceGone)),
            (vec![at(Some("else"), "")], Err(Reason::RootUnavailable), Err(Reason::RootUnavailable)),
            (
                vec![at(Some("docs"), "gone"), at(None, "")],
                Err(Reason::RootUnavailable),
                Err(Reason::RootUnavailable),
            ),
        ] {
            let read = |source| {
                opened(&configured, &root, source).map(|bytes| String::from_utf8_lossy(&bytes).into())
            };
            assert_eq!(read("a.md"), a.map(str::to_owned), "{configured:?}");
            assert_eq!(read("sub/b.md"), b.map(str::to_owned), "{configured:?}");
        }
    }

    #[test]
    fn a_range_beyond_the_file_is_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "0123456789").expect("written");
        let file = Root::at(folder.path()).open_source("a").expect("opened");
        assert_eq!(file.read(ByteRange { start: 2, end: 4 }).expect("read"), b"23");
        assert_eq!(file.read(ByteRange { start: 8, end: u32::MAX }).expect("read"), b"89");
        assert_eq!(file.read(ByteRange { start: u32::MAX, end: u32::MAX }).expect("read"), b"");
        assert_eq!(file.read(ByteRange { start: 5, end: 2 }).expect("read"), b"");
    }
}
