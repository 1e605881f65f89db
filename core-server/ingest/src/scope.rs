//! Which collection a PATH belongs to, and what is looked at.
//!
//! A collection has one root, recorded at its first ingest: `--root`, else the one directory given, else the common
//! parent. Without `--collection`, a PATH goes to the collection whose root holds it, else to a new one named after
//! the git top level or the folder. PATHs join the recorded set; without PATH the whole set is looked at again.
//!
//! Deliberately left out: walking (`walk`), and whatever is written down (`publish`).

use std::path::{Component, Path, PathBuf};

use engine::collection::CollectionName;
use engine::generation::manifest::Scope;
use globset::Glob;

use crate::error::{Error, Result};

/// Files larger than this many bytes are skipped where nothing else is said: larger texts are rarely written by people.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The path that stands for the whole root.
const WHOLE: &str = ".";

/// What a person asked to ingest.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The PATHs, as typed.
    pub paths: Vec<PathBuf>,
    /// `--collection`.
    pub collection: Option<CollectionName>,
    /// `--root`.
    pub root: Option<PathBuf>,
    /// `--include`: replaces what is recorded, where given.
    pub include: Option<Vec<String>>,
    /// `--exclude`: replaces what is recorded, where given.
    pub exclude: Option<Vec<String>>,
    /// `--max-file-bytes`: replaces what is recorded, where given.
    pub max_file_bytes: Option<u64>,
}

/// A collection that is there already.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its name.
    pub name: CollectionName,
    /// What its current generation recorded.
    pub scope: Scope,
}

/// One collection to be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub collection: CollectionName,
    /// Whether it is there already.
    pub known: bool,
    /// What will be recorded.
    pub scope: Scope,
    /// What is looked at now: paths relative to the root, with `/`, none beneath another.
    pub look: Vec<String>,
}

impl Target {
    /// Whether a file at `source` is beneath what is looked at.
    pub fn looks_at(&self, source: &str) -> bool {
        self.look.iter().any(|path| holds(path, source))
    }
}

/// Says which collections to bring up to date, in the order in which their paths were given. Touches nothing.
pub fn resolve(asked: &Asked, known: &[Known]) -> Result<Vec<Target>> {
    check_globs(asked.include.iter().chain(&asked.exclude).flatten())?;
    let paths: Vec<PathBuf> = asked.paths.iter().map(|path| absolute(&asked.cwd, path)).collect();
    let root = asked.root.as_ref().map(|root| absolute(&asked.cwd, root));
    if let Some(root) = root.as_ref().filter(|root| !root.is_dir()) {
        return Err(Error::NoSuchPath { path: root.clone() });
    }
    match &asked.collection {
        Some(name) => match known.iter().find(|known| known.name == *name) {
            Some(known) => Ok(vec![existing(asked, known, root.as_deref(), &paths)?]),
            None if paths.is_empty() && root.is_none() => Err(Error::NoSuchCollection {
                name: name.clone(),
                known: known.iter().map(|known| known.name.clone()).collect(),
            }),
            None => Ok(vec![new(asked, Some(name.clone()), root, &paths)?]),
        },
        None if paths.is_empty() && root.is_none() => unnamed(asked, known).map(|target| vec![target]),
        None => grouped(asked, known, root, &paths),
    }
}

/// Neither a name nor a path: the collection that the working directory is in, else the only one.
fn unnamed(asked: &Asked, known: &[Known]) -> Result<Target> {
    let holder = owner(known, &absolute(&asked.cwd, Path::new("")))?;
    match (holder, known) {
        (Some(holder), _) => existing(asked, holder, None, &[]),
        (None, []) => Err(Error::NothingToIngest),
        (None, [only]) => existing(asked, only, None, &[]),
        (None, several) => {
            Err(Error::Ambiguous { known: several.iter().map(|known| known.name.clone()).collect() })
        }
    }
}

/// Paths without a name: each to the collection whose root holds it, the rest together to a new one.
fn grouped(asked: &Asked, known: &[Known], root: Option<PathBuf>, paths: &[PathBuf]) -> Result<Vec<Target>> {
    if let Some(root) = root {
        if let Some(known) = known.iter().find(|known| known.scope.root == root) {
            return Ok(vec![existing(asked, known, Some(&root), paths)?]);
        }
        let target = new(asked, None, Some(root), paths)?;
        refuse_taken(&target, known)?;
        return Ok(vec![target]);
    }
    let mut groups: Vec<(Option<&Known>, Vec<PathBuf>)> = Vec::new();
    for path in paths {
        let holder = owner(known, path)?;
        let same = |group: &&mut (Option<&Known>, _)| group.0.map(|k| &k.name) == holder.map(|k| &k.name);
        match groups.iter_mut().find(same) {
            Some(group) => group.1.push(path.clone()),
            None => groups.push((holder, vec![path.clone()])),
        }
    }
    groups
        .into_iter()
        .map(|(holder, paths)| {
            if let Some(holder) = holder {
                return existing(asked, holder, None, &paths);
            }
            let target = new(asked, None, None, &paths)?;
            refuse_taken(&target, known)?;
            Ok(target)
        })
        .collect()
}

/// The collection with the deepest root that holds `path`.
fn owner<'a>(known: &'a [Known], path: &Path) -> Result<Option<&'a Known>> {
    let holders = known.iter().filter(|known| path.starts_with(&known.scope.root));
    let depth = |known: &&Known| known.scope.root.components().count();
    let Some(deepest) = holders.clone().map(|known| depth(&known)).max() else { return Ok(None) };
    let deepest: Vec<&Known> = holders.filter(|known| depth(known) == deepest).collect();
    match deepest.as_slice() {
        [one] => Ok(Some(one)),
        several => Err(Error::Ambiguous { known: several.iter().map(|known| known.name.clone()).collect() }),
    }
}

fn existing(asked: &Asked, known: &Known, root: Option<&Path>, paths: &[PathBuf]) -> Result<Target> {
    if let Some(root) = root
        && root != known.scope.root
    {
        return Err(Error::OtherRoot {
            name: known.name.clone(),
            recorded: known.scope.root.clone(),
            asked: root.to_owned(),
        });
    }
    let look = relative_to(&known.scope.root, paths, &known.name)?;
    let mut scope = known.scope.clone();
    scope.paths = joined(scope.paths.iter().chain(&look).cloned());
    apply_flags(asked, &mut scope);
    let rules_changed = (&scope.include, &scope.exclude, scope.max_file_bytes)
        != (&known.scope.include, &known.scope.exclude, known.scope.max_file_bytes);
    // Other rules may concern any file, so that everything has to be looked at.
    let look = if paths.is_empty() || rules_changed { scope.paths.clone() } else { look };
    Ok(Target { collection: known.name.clone(), known: true, scope, look })
}

fn new(
    asked: &Asked,
    name: Option<CollectionName>,
    root: Option<PathBuf>,
    paths: &[PathBuf],
) -> Result<Target> {
    if let Some(path) = paths.iter().find(|path| !path.exists()) {
        return Err(Error::NoSuchPath { path: path.clone() });
    }
    let root = match (root, paths) {
        (Some(root), _) => root,
        (None, [one]) if one.is_dir() => one.clone(),
        (None, paths) => common_parent(paths),
    };
    let collection = name.unwrap_or_else(|| name_of(&root));
    let whole = [root.clone()];
    let look = relative_to(&root, if paths.is_empty() { &whole } else { paths }, &collection)?;
    let mut scope = Scope {
        root,
        label: None,
        paths: look.clone(),
        include: Vec::new(),
        exclude: Vec::new(),
        max_file_bytes: MAX_FILE_BYTES,
    };
    apply_flags(asked, &mut scope);
    Ok(Target { collection, known: false, scope, look })
}

fn refuse_taken(target: &Target, known: &[Known]) -> Result<()> {
    match known.iter().find(|known| known.name == target.collection) {
        Some(taken) => Err(Error::OtherRoot {
            name: taken.name.clone(),
            recorded: taken.scope.root.clone(),
            asked: target.scope.root.clone(),
        }),
        None => Ok(()),
    }
}

fn apply_flags(asked: &Asked, scope: &mut Scope) {
    // An empty glob is how a recorded list is emptied.
    let cleaned = |globs: &Vec<String>| globs.iter().filter(|glob| !glob.is_empty()).cloned().collect();
    if let Some(globs) = &asked.include {
        scope.include = cleaned(globs);
    }
    if let Some(globs) = &asked.exclude {
        scope.exclude = cleaned(globs);
    }
    if let Some(bytes) = asked.max_file_bytes {
        scope.max_file_bytes = bytes;
    }
}

fn check_globs<'a>(globs: impl Iterator<Item = &'a String>) -> Result<()> {
    for glob in globs {
        Glob::new(glob).map_err(|error| Error::Glob { glob: glob.clone(), why: error.kind().to_string() })?;
    }
    Ok(())
}

/// `path` made absolute, with symbolic links resolved as far as it is there.
fn absolute(cwd: &Path, path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in cwd.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // What `..` leads to is only known once links are resolved.
                plain = plain.canonicalize().unwrap_or(plain);
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    let mut missing = Vec::new();
    let mut there = plain.as_path();
    loop {
        if let Ok(resolved) = there.canonicalize() {
            return missing.iter().rev().fold(resolved, |path, name| path.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(above), Some(name)) => {
                missing.push(name);
                there = above;
            }
            _ => return plain,
        }
    }
}

fn common_parent(paths: &[PathBuf]) -> PathBuf {
    let folder = |path: &PathBuf| {
        if path.is_dir() { path.clone() } else { path.parent().unwrap_or(path).to_owned() }
    };
    let mut common = paths.first().map(folder).unwrap_or_default();
    for path in paths {
        while !folder(path).starts_with(&common) && common.pop() {}
    }
    common
}

fn relative_to(root: &Path, paths: &[PathBuf], name: &CollectionName) -> Result<Vec<String>> {
    let relative = |path: &PathBuf| {
        let beneath = path.strip_prefix(root).map_err(|_| Error::OutsideRoot {
            name: name.clone(),
            path: path.clone(),
            root: root.to_owned(),
        })?;
        let text = beneath
            .to_str()
            .ok_or_else(|| Error::Usage(format!("{}: a path must be UTF-8", path.display())))?;
        Ok(if text.is_empty() { WHOLE.to_owned() } else { text.to_owned() })
    };
    Ok(joined(paths.iter().map(relative).collect::<Result<Vec<_>>>()?))
}

/// Paths sorted, each once, none beneath another.
pub fn joined(paths: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut paths: Vec<String> = paths.into_iter().collect();
    paths.sort();
    paths.dedup();
    let all = paths.clone();
    paths.retain(|path| !all.iter().any(|other| other != path && holds(other, path)));
    paths
}

/// Whether `folder` is `path` or above it; both relative to the root.
fn holds(folder: &str, path: &str) -> bool {
    folder == WHOLE || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A name for a collection with this root: that of the git top level it is in, else its own.
fn name_of(root: &Path) -> CollectionName {
    let top = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root);
    let name = top.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    sanitised(&name)
}

fn sanitised(name: &str) -> CollectionName {
    let mut clean = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
        if clean.is_empty() && !c.is_ascii_alphanumeric() || c == '-' && clean.ends_with('-') {
            continue;
        }
        clean.push(c);
    }
    clean.truncate(64);
    let clean = clean.trim_end_matches('-');
    clean.parse().unwrap_or_else(|_| fallback_name())
}

#[expect(clippy::expect_used, reason = "the literal follows the grammar")]
fn fallback_name() -> CollectionName {
    "documents".parse().expect("a name")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for path in ["repo/.git", "repo/docs/deep", "repo/src", "notes", "other"] {
                fs::create_dir_all(folder.path().join(path)).unwrap();
            }
            for path in ["repo/docs/a.md", "repo/src/b.rs", "notes/c.md"] {
                fs::write(folder.path().join(path), "x").unwrap();
            }
            Self { folder }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(path)
        }

        fn asked(&self, paths: &[&str]) -> Asked {
            Asked { cwd: self.path(""), paths: paths.iter().map(PathBuf::from).collect(), ..Asked::default() }
        }

        fn known(&self, name: &str, root: &str, paths: &[&str]) -> Known {
            Known {
                name: name.parse().unwrap(),
                scope: Scope {
                    root: self.path(root),
                    label: None,
                    paths: paths.iter().map(ToString::to_string).collect(),
                    include: Vec::new(),
                    exclude: Vec::new(),
                    max_file_bytes: MAX_FILE_BYTES,
                },
            }
        }
    }

    fn one(targets: Result<Vec<Target>>) -> Target {
        let mut targets = targets.unwrap();
        assert_eq!(targets.len(), 1);
        targets.remove(0)
    }

    #[test]
    fn a_new_collection_takes_root_and_name_from_what_is_given() {
        let place = Place::new();
        for (paths, name, root, look) in [
            (&["notes"][..], "notes", "notes", &["."][..]),
            (&["repo"], "repo", "repo", &["."]),
            (&["repo/docs"], "repo", "repo/docs", &["."]),
            (&["repo/docs/a.md"], "repo", "repo/docs", &["a.md"]),
            (&["repo/docs", "repo/src/b.rs"], "repo", "repo", &["docs", "src/b.rs"]),
            (&["./repo/../notes/"], "notes", "notes", &["."]),
        ] {
            let target = one(resolve(&place.asked(paths), &[]));
            assert_eq!(target.collection.as_str(), name, "{paths:?}");
            assert_eq!(target.scope.root, place.path(root), "{paths:?}");
            assert_eq!(target.look, look, "{paths:?}");
            assert!(!target.known);
        }
    }

    #[test]
    fn a_path_goes_to_the_collection_whose_root_holds_it() {
        let place = Place::new();
        let known = [place.known("all", "", &["repo"]), place.known("docs", "repo/docs", &["."])];
        let target = one(resolve(&place.asked(&["repo/docs/a.md"]), &known));
        assert_eq!((target.collection.as_str(), target.look), ("docs", vec!["a.md".to_owned()]));
        assert_eq!(target.scope.paths, ["."]);
        let target = one(resolve(&place.asked(&["notes"]), &known));
        assert_eq!((target.collection.as_str(), &target.look), ("all", &vec!["notes".to_owned()]));
        assert_eq!(target.scope.paths, ["notes", "repo"], "paths join the recorded set");
    }

    #[test]
    fn paths_of_several_collections_are_told_apart() {
        let place = Place::new();
        let known = [place.known("repo", "repo", &["."])];
        let targets = resolve(&place.asked(&["repo/src", "notes"]), &known).unwrap();
        let names: Vec<_> = targets.iter().map(|target| target.collection.as_str()).collect();
        assert_eq!(names, ["repo", "notes"]);
    }

    #[test]
    fn without_a_path_the_recorded_set_is_looked_at() {
        let place = Place::new();
        let known = [place.known("repo", "repo", &["docs", "src"]), place.known("notes", "notes", &["."])];
        let mut asked = place.asked(&[]);
        assert!(matches!(resolve(&asked, &known), Err(Error::Ambiguous { known }) if known.len() == 2));
        asked.cwd = place.path("repo/docs/deep");
        let target = one(resolve(&asked, &known));
        assert_eq!(
            (target.collection.as_str(), &target.look[..]),
            ("repo", &["docs".into(), "src".into()][..])
        );
        assert!(target.looks_at("docs/deep/x.md") && !target.looks_at("docs2/x.md"));
        asked.cwd = place.path("other");
        assert_eq!(one(resolve(&asked, &known[1..])).collection.as_str(), "notes", "the only one there is");
        assert!(matches!(resolve(&asked, &[]), Err(Error::NothingToIngest)));
    }

    #[test]
    fn a_name_with_another_root_is_refused_with_both_shown() {
        let place = Place::new();
        let known = [place.known("notes", "other", &["."])];
        let error = resolve(&place.asked(&["notes"]), &known).unwrap_err().to_string();
        assert!(error.contains("/other") && error.contains("/notes"), "{error}");
        let mut asked = place.asked(&["notes"]);
        asked.collection = Some("notes".parse().unwrap());
        assert!(matches!(resolve(&asked, &known), Err(Error::OutsideRoot { .. })));
        asked.root = Some("notes".into());
        assert!(matches!(resolve(&asked, &known), Err(Error::OtherRoot { .. })));
    }

    #[test]
    fn what_is_gone_is_looked_at_where_it_was_known_and_refused_where_it_was_not() {
        let place = Place::new();
        let known = [place.known("repo", "repo", &["docs"])];
        let target = one(resolve(&place.asked(&["repo/docs/gone.md"]), &known));
        assert_eq!(target.look, ["docs/gone.md"]);
        assert!(matches!(resolve(&place.asked(&["gone"]), &known), Err(Error::NoSuchPath { .. })));
    }

    #[test]
    fn other_rules_look_at_everything() {
        let place = Place::new();
        let known = [place.known("repo", "repo", &["docs", "src"])];
        let mut asked = place.asked(&["repo/docs"]);
        asked.exclude = Some(vec!["*.tmp".into()]);
        let target = one(resolve(&asked, &known));
        assert_eq!(target.look, ["docs", "src"]);
        assert_eq!(target.scope.exclude, ["*.tmp"]);
        asked.exclude = Some(vec!["a[".into()]);
        assert!(matches!(resolve(&asked, &known), Err(Error::Glob { .. })));
    }

    #[test]
    fn links_are_resolved_before_paths_are_compared() {
        let place = Place::new();
        std::os::unix::fs::symlink(place.path("repo/docs"), place.path("link")).unwrap();
        let known = [place.known("repo", "repo", &["."])];
        let target = one(resolve(&place.asked(&["link/a.md"]), &known));
        assert_eq!((target.collection.as_str(), &target.look[..]), ("repo", &["docs/a.md".to_owned()][..]));
    }

    #[test]
    fn folder_names_become_names() {
        for (folder, name) in [
            ("My Docs (new)", "My-Docs-new"),
            (".config", "config"),
            ("Ärger", "rger"),
            ("日本", "documents"),
            ("", "documents"),
            ("a--b", "a-b"),
        ] {
            assert_eq!(sanitised(folder).as_str(), name, "{folder}");
        }
        assert_eq!(sanitised(&"x".repeat(100)).as_str().len(), 64);
    }
}
