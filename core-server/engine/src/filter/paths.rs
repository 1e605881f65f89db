//! Globs over paths relative to a collection's root.
//!
//! The same globs mean the same when documents are chosen for the index: without a slash, a glob is of a name
//! anywhere; with one, of a path from the root on; in both cases with all that is beneath. `*` does not cross a slash,
//! `**` does; `?`, `[a-z]` and `{a,b}` are understood.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::composed;

/// An ordered list of globs. Each takes paths in or, with `!` before it, leaves them out; of all that match a path the
/// last decides. What none matches is in only where the list takes nothing in.
#[derive(Clone, Debug)]
pub struct Paths {
    globs: Vec<String>,
    set: GlobSet,
    takes_in: bool,
}

/// A glob that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a glob: {why}")]
pub struct InvalidGlob {
    /// Which of the list, from 0.
    pub index: usize,
    /// Why not.
    pub why: String,
}

impl Paths {
    /// The list of `globs`.
    pub fn new<S: AsRef<str>>(globs: &[S]) -> Result<Self, InvalidGlob> {
        let mut set = GlobSetBuilder::new();
        for (index, glob) in globs.iter().enumerate() {
            let glob = glob.as_ref();
            let invalid = |why: String| InvalidGlob { index, why };
            let bare = glob.strip_prefix('!').unwrap_or(glob);
            if bare.is_empty() {
                return Err(invalid("nothing is left of it".to_owned()));
            }
            for form in forms(&composed(bare)).map_err(|error| invalid(error.kind().to_string()))? {
                set.add(form);
            }
        }
        let set = set.build().map_err(|error| InvalidGlob { index: 0, why: error.kind().to_string() })?;
        let globs: Vec<String> = globs.iter().map(|glob| glob.as_ref().to_owned()).collect();
        let takes_in = globs.iter().any(|glob| !glob.starts_with('!'));
        Ok(Self { globs, set, takes_in })
    }

    /// Whether every path is in.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Whether a document at `path` is in.
    pub fn admit(&self, path: &str) -> bool {
        // Two forms a glob, in order.
        match self.set.matches(&*composed(path)).last() {
            Some(form) => !self.globs[form / 2].starts_with('!'),
            None => !self.takes_in,
        }
    }
}

/// The two globs that one of a person's is: what it names, and what is beneath that.
pub fn forms(glob: &str) -> Result<[Glob; 2], globset::Error> {
    let path = glob.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
    let path = match path {
        "" | "." => "**".to_owned(),
        _ if glob.trim_end_matches('/').contains('/') => path.to_owned(),
        _ => format!("**/{path}"),
    };
    let form = |glob: &str| GlobBuilder::new(glob).literal_separator(true).build();
    Ok([form(&path)?, form(&format!("{path}/**"))?])
}

impl Default for Paths {
    fn default() -> Self {
        Self { globs: Vec::new(), set: GlobSet::empty(), takes_in: false }
    }
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.globs == other.globs
    }
}

impl Eq for Paths {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn admitted(globs: &[&str], path: &str) -> bool {
        Paths::new(globs).unwrap().admit(path)
    }

    #[test]
    fn a_glob_without_a_slash_is_of_a_name() {
        for (glob, path, expected) in [
            ("*.json", "a.json", true),
            ("*.json", "deep/er/a.json", true),
            ("build", "deep/build/a.md", true),
            ("build/", "build/a.md", true),
            ("docs/*.md", "docs/a.md", true),
            ("docs/*.md", "docs/b/a.md", false),
            ("docs/**/*.md", "docs/b/a.md", true),
            ("docs/**", "docs/a.md", true),
            ("docs/**", "docs", false),
            ("./docs", "docs/b/a.md", true),
            ("/docs", "docs/a.md", true),
            ("/docs", "other/docs/a.md", false),
            ("doc", "docs/a.md", false),
            ("*.{a,b}", "x.b", true),
            ("[ab].md", "b.md", true),
            (".", "x/y.md", true),
            ("/", "x/y.md", true),
            ("**", "x/y.md", true),
            ("a b", "a b/c d.md", true),
            ("*.MD", "a.md", false),
            ("..", "a.md", false),
            ("\\!important.md", "!important.md", true),
        ] {
            assert_eq!(admitted(&[glob], path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn the_last_that_matches_decides() {
        for (globs, path, expected) in [
            (&[][..], "a.md", true),
            (&["docs"], "src/a.md", false),
            (&["!drafts"], "a.md", true),
            (&["!drafts"], "x/drafts/a.md", false),
            (&["docs", "!docs/drafts"], "docs/a.md", true),
            (&["docs", "!docs/drafts"], "docs/drafts/a.md", false),
            (&["docs", "!docs/drafts"], "src/a.md", false),
            (&["!docs/drafts", "docs"], "docs/drafts/a.md", true),
            (&["docs", "!docs/drafts", "docs/drafts/final.md"], "docs/drafts/final.md", true),
            (&["!*", "*.md"], "a.md", true),
            (&["!*", "*.md"], "a.txt", false),
            (&["!!a"], "!a", false),
        ] {
            assert_eq!(admitted(globs, path), expected, "{globs:?} {path}");
        }
    }

    #[test]
    fn composed_and_decomposed_paths_are_the_same() {
        assert!(admitted(&["caf\u{e9}/*"], "cafe\u{301}/a.md"));
        assert!(admitted(&["cafe\u{301}/*"], "caf\u{e9}/a.md"));
    }

    #[test]
    fn what_is_no_glob_is_named() {
        for (globs, index) in
            [(&["a", "b["][..], 1), (&["{a"], 0), (&["a", "b", "!"], 2), (&[""], 0), (&["a\\"], 0)]
        {
            assert_eq!(Paths::new(globs).unwrap_err().index, index, "{globs:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_glob_or_refused(globs in prop::collection::vec("\\PC{0,12}|[!*?/a\\[\\]{},.-]{1,12}", 0..4), path in "\\PC{0,12}") {
            if let Ok(paths) = Paths::new(&globs) {
                paths.admit(&path);
            }
        }
    }
}
