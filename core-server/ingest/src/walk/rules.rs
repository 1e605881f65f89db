//! Ignore rules: `.gitignore` in every folder, `.git/info/exclude`, git's global file, and `.footnoteignore`.

use std::path::{Path, PathBuf};

use ignore::{IncrementalIgnore, WalkBuilder};

/// A file beside `.gitignore`, with the same grammar, for what git should keep and an index should not.
const OWN_FILE: &str = ".footnoteignore";

/// The rules that hold beneath one path of a scope.
pub(super) struct Rules {
    matcher: IncrementalIgnore,
    /// What paths relative to the root have before those relative to the matcher.
    beneath: PathBuf,
}

impl Rules {
    /// Rules for what is beneath `top`, which is relative to `root` and empty for the root itself.
    ///
    /// Within a git work tree the files of the folders above count too, as far as its top; elsewhere only those from the
    /// root on, so that a stray file in somebody's home folder does not empty a collection.
    pub(super) fn new(root: &Path, top: &Path) -> Self {
        let absolute = root.join(top);
        let in_git = absolute.ancestors().any(|folder| folder.join(".git").exists());
        if !in_git && !top.as_os_str().is_empty() {
            let mut from_root = Self::rooted(root, Path::new(""), false);
            // A path that was named is looked at whatever the rules say of it.
            if !from_root.leave_out(top, true) {
                return from_root;
            }
        }
        Self::rooted(&absolute, top, in_git)
    }

    fn rooted(folder: &Path, beneath: &Path, in_git: bool) -> Self {
        let mut builder = WalkBuilder::new(folder);
        builder
            .current_dir(folder)
            .hidden(false)
            .ignore(false)
            .parents(in_git)
            // Without this the search upwards does not end at the top of the work tree.
            .require_git(in_git)
            .add_custom_ignore_filename(OWN_FILE);
        let matcher = builder.build_matchers().swap_remove(0);
        Self { matcher, beneath: beneath.to_owned() }
    }

    /// Whether `source`, relative to the root, is left out, by itself or with a folder above it.
    pub(super) fn leave_out(&mut self, source: &Path, is_dir: bool) -> bool {
        let path = source.strip_prefix(&self.beneath).unwrap_or(source);
        let (matched, error) = self.matcher.matched_with_errors(path, is_dir);
        if let Some(error) = error {
            tracing::debug!(%error, "a line of an ignore file was not understood");
        }
        matched.is_ignore()
    }
}
