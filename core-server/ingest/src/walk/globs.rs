//! `--include` and `--exclude`: globs over paths relative to the root.

use engine::filter;
use globset::{GlobSet, GlobSetBuilder};

use super::WalkError;

/// Globs as people mean them: the same as those that a search is filtered by.
pub(super) struct Globs(GlobSet);

impl Globs {
    pub(super) fn new(globs: &[String]) -> Result<Self, WalkError> {
        let mut set = GlobSetBuilder::new();
        let error = |glob: &String| {
            let glob = glob.clone();
            move |source| WalkError::Glob { glob, source }
        };
        for glob in globs {
            for form in filter::forms(glob).map_err(error(glob))? {
                set.add(form);
            }
        }
        Ok(Self(set.build().map_err(error(&globs.join(" ")))?))
    }

    pub(super) fn match_path(&self, source: &str) -> bool {
        self.0.is_match(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_without_a_slash_is_of_a_name() {
        for (glob, source, matches) in [
            ("*.json", "a.json", true),
            ("*.json", "deep/er/a.json", true),
            ("build", "deep/build/a.md", true),
            ("build/", "build/a.md", true),
            ("docs/*.md", "docs/a.md", true),
            ("docs/*.md", "docs/b/a.md", false),
            ("docs/**/*.md", "docs/b/a.md", true),
            ("./docs", "docs/b/a.md", true),
            ("/docs", "docs/a.md", true),
            ("/docs", "other/docs/a.md", false),
            ("doc", "docs/a.md", false),
            ("*.{a,b}", "x.b", true),
        ] {
            let globs = Globs::new(&[glob.to_owned()]).unwrap();
            assert_eq!(globs.match_path(source), matches, "{glob} {source}");
        }
        assert!(Globs::new(&["a[".to_owned()]).is_err());
    }
}
