//! Where a passage stands, as someone in this folder would type it.
//!
//! Deliberately left out: whether anything is there.

use std::path::{Component, Path, PathBuf};

use proto::clean;
use proto::v1::Citation;

/// How many folders up a path may lead before the whole path is clearer.
const MOST_UP: usize = 2;

/// `path:line`, the path relative to `working_directory` where that is near; the source's own name where the
/// daemon tells no path.
pub fn place(citation: &Citation, working_directory: Option<&Path>) -> String {
    let path = match (&citation.open_path, working_directory) {
        (Some(path), Some(folder)) => relative(Path::new(path), folder).display().to_string(),
        (Some(path), None) => path.clone(),
        (None, _) => citation.source.clone(),
    };
    format!("{}:{}", clean::text(&path).replace('\n', "␊"), citation.start_line)
}

fn relative(path: &Path, folder: &Path) -> PathBuf {
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().count() - common;
    if up > MOST_UP {
        return path.to_owned();
    }
    let ups = std::iter::repeat_n(Component::ParentDir, up);
    ups.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_relative_where_that_is_near() {
        for (path, folder, expected) in [
            ("/home/ada/docs/a.md", "/home/ada", "docs/a.md"),
            ("/home/ada/docs/a.md", "/home/ada/docs/deep", "../a.md"),
            ("/home/ada/docs/a.md", "/home/ada/x/y", "../../docs/a.md"),
            ("/home/ada/docs/a.md", "/home/ada/x/y/z", "/home/ada/docs/a.md"),
            ("/srv/a.md", "/home/ada/x", "/srv/a.md"),
            ("/srv/a.md", "/", "srv/a.md"),
        ] {
            assert_eq!(
                relative(Path::new(path), Path::new(folder)),
                Path::new(expected),
                "{path} from {folder}"
            );
        }
    }

    #[test]
    fn a_place_is_one_harmless_word_and_a_line() {
        let citation = Citation { source: "a\x1b\n.md".into(), start_line: 7, ..Citation::default() };
        assert_eq!(place(&citation, None), "a␛␊.md:7");
    }
}
