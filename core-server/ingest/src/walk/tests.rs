//! What a look through folders finds, and what it leaves out.

use super::*;
use std::os::unix::fs::symlink;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn scope(&self, root: &str, paths: &[&str]) -> Scope {
        Scope {
            root: self.path(root),
            label: None,
            paths: paths.iter().map(ToString::to_string).collect(),
            include: Vec::new(),
            exclude: Vec::new(),
            max_file_bytes: 100,
        }
    }
}

fn look(scope: &Scope) -> Walked {
    walk(scope, &scope.paths).unwrap()
}

fn sources(walked: &Walked) -> Vec<&str> {
    walked.files.iter().map(|file| file.source.as_str()).collect()
}

fn ignored(walked: &Walked) -> Vec<(&str, IgnoreReason)> {
    walked.ignored.iter().map(|ignored| (ignored.source.as_str(), ignored.reason)).collect()
}

#[test]
fn files_are_found_by_kind_and_in_order() {
    let folder = Folder::new(&[
        ("z.md", ""),
        ("a/b.rs", ""),
        ("a.txt", ""),
        ("a-b/c.md", ""),
        ("LICENSE", ""),
        ("photo.png", ""),
        ("data.json", ""),
        ("Cargo.lock", ""),
        (".hidden.md", ""),
        (".github/x.md", ""),
    ]);
    let walked = look(&folder.scope("", &["."]));
    assert_eq!(sources(&walked), ["LICENSE", "a-b/c.md", "a.txt", "a/b.rs", "z.md"]);
    assert_eq!(
        ignored(&walked),
        [
            (".github/", IgnoreReason::Hidden),
            (".hidden.md", IgnoreReason::Hidden),
            ("Cargo.lock", IgnoreReason::Generated),
            ("data.json", IgnoreReason::UnknownKind),
            ("photo.png", IgnoreReason::UnknownKind),
        ]
    );
    assert_eq!(walked.files[3].kind, Kind::Code);
    assert!(walked.skipped.is_empty());
}

#[test]
fn ignore_files_count_from_the_git_top_down() {
    let folder = Folder::new(&[
        (".gitignore", "*\n"),
        ("repo/.git/info/exclude", "private.md\n"),
        ("repo/.gitignore", "build/\n*.tmp.md\n"),
        ("repo/docs/.gitignore", "!keep.tmp.md\n"),
        ("repo/docs/.footnoteignore", "old/\n"),
        ("repo/docs/a.md", ""),
        ("repo/docs/keep.tmp.md", ""),
        ("repo/docs/drop.tmp.md", ""),
        ("repo/docs/private.md", ""),
        ("repo/docs/old/b.md", ""),
        ("repo/docs/build/c.md", ""),
        ("repo/src/lib.rs", ""),
    ]);
    let walked = look(&folder.scope("repo", &["."]));
    assert_eq!(sources(&walked), ["docs/a.md", "docs/keep.tmp.md", "src/lib.rs"]);
    // The same files, whether the root is the top of the repository or beneath it.
    assert_eq!(sources(&look(&folder.scope("repo/docs", &["."]))), ["a.md", "keep.tmp.md"]);
    assert_eq!(sources(&look(&folder.scope("repo", &["docs"]))), ["docs/a.md", "docs/keep.tmp.md"]);
    assert!(ignored(&walked).contains(&("docs/build/", IgnoreReason::Rule)));
}

#[test]
fn without_git_ignore_files_count_from_the_root_down() {
    let folder = Folder::new(&[
        (".gitignore", "*\n"),
        ("root/.gitignore", "build/\n"),
        ("root/a.md", ""),
        ("root/build/b.md", ""),
        ("root/docs/build/c.md", ""),
        ("root/docs/d.md", ""),
    ]);
    assert_eq!(sources(&look(&folder.scope("root", &["."]))), ["a.md", "docs/d.md"]);
    assert_eq!(sources(&look(&folder.scope("root", &["docs"]))), ["docs/d.md"]);
}

#[test]
fn what_is_named_is_looked_at_whatever_the_rules_say() {
    let folder = Folder::new(&[
        (".git/HEAD", ""),
        (".gitignore", "build/\nnotes.md\n"),
        ("build/docs/a.md", ""),
        ("notes.md", ""),
        (".config/b.md", ""),
        ("data.json", ""),
    ]);
    let scope = folder.scope("", &[".config", "build/docs", "data.json", "notes.md"]);
    assert_eq!(sources(&look(&scope)), [".config/b.md", "build/docs/a.md", "data.json", "notes.md"]);
    // Looking at a part of the whole is no naming.
    let whole = folder.scope("", &["."]);
    assert_eq!(sources(&walk(&whole, &["notes.md".to_owned()]).unwrap()), [""; 0]);
}

#[test]
fn globs_include_and_exclude() {
    let folder = Folder::new(&[
        ("a.md", ""),
        ("b.json", ""),
        ("old/c.md", ""),
        ("deep/old/d.md", ""),
        ("deep/e.json", ""),
    ]);
    let mut scope = folder.scope("", &["."]);
    scope.include = vec!["*.json".to_owned()];
    scope.exclude = vec!["/old".to_owned(), "b.*".to_owned()];
    let walked = look(&scope);
    assert_eq!(sources(&walked), ["a.md", "deep/e.json", "deep/old/d.md"]);
    assert_eq!(ignored(&walked), [("b.json", IgnoreReason::Excluded), ("old/", IgnoreReason::Excluded)]);
    scope.include = vec!["[".to_owned()];
    assert!(matches!(walk(&scope, &[]), Err(WalkError::Glob { .. })));
}

#[test]
fn links_are_not_followed() {
    let folder = Folder::new(&[("root/a.md", ""), ("root/sub/b.md", ""), ("outside/c.md", "")]);
    symlink(folder.path("root"), folder.path("root/sub/cycle")).unwrap();
    symlink("../a.md", folder.path("root/sub/inside.md")).unwrap();
    symlink(folder.path("outside"), folder.path("root/out")).unwrap();
    symlink(folder.path("outside/c.md"), folder.path("root/out.md")).unwrap();
    symlink("nowhere", folder.path("root/broken.md")).unwrap();
    let walked = look(&folder.scope("root", &["."]));
    assert_eq!(sources(&walked), ["a.md", "sub/b.md"]);
    assert_eq!(
        ignored(&walked),
        [
            ("broken.md", IgnoreReason::LinkBroken),
            ("out", IgnoreReason::LinkOutside),
            ("out.md", IgnoreReason::LinkOutside),
            ("sub/cycle", IgnoreReason::LinkInside),
            ("sub/inside.md", IgnoreReason::LinkInside),
        ]
    );
}

#[test]
fn pipes_and_sockets_are_not_files() {
    let folder = Folder::new(&[("a.md", "")]);
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe.md")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket.md")).unwrap();
    let walked = look(&folder.scope("", &["."]));
    assert_eq!(sources(&walked), ["a.md"]);
    assert_eq!(
        ignored(&walked),
        [("pipe.md", IgnoreReason::NotAFile), ("socket.md", IgnoreReason::NotAFile)]
    );
}

#[test]
fn what_is_too_large_or_badly_named_is_skipped_by_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new(&[("large.md", &"x".repeat(101)), ("exact.md", &"x".repeat(100))]);
    fs::write(folder.0.path().join(std::ffi::OsStr::from_bytes(b"gr\xf6\xdfe.md")), "x").unwrap();
    let walked = look(&folder.scope("", &["."]));
    assert_eq!(sources(&walked), ["exact.md"]);
    let skipped: Vec<_> =
        walked.skipped.iter().map(|skipped| (skipped.source.as_str(), skipped.reason)).collect();
    assert_eq!(
        skipped,
        [("gr\u{fffd}\u{fffd}e.md", SkipReason::BadName), ("large.md", SkipReason::TooLarge)]
    );
}

#[test]
fn a_root_that_is_not_there_is_no_empty_collection() {
    let folder = Folder::new(&[]);
    assert!(matches!(walk(&folder.scope("gone", &["."]), &[".".to_owned()]), Err(WalkError::Root { .. })));
    let walked = walk(&folder.scope("", &["."]), &["gone".to_owned()]).unwrap();
    assert!(walked.files.is_empty() && walked.skipped.is_empty());
}
