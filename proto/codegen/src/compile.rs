//! From `.proto` files to descriptors, with options and comments kept.

use std::collections::HashMap;
use std::path::Path;

use prost_reflect::DescriptorPool;

use crate::{Error, Result};

/// A compiled contract.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The file that declares the service.
    pub file: String,
    /// Everything, with its options.
    pub pool: DescriptorPool,
    /// The encoded descriptor set without comments and source positions: what reflection answers with.
    pub bare_descriptors: Vec<u8>,
    comments: HashMap<(String, Vec<i32>), String>,
}

impl Compiled {
    /// Compiles `file`, a path relative to `include`, and what it imports.
    pub fn open(include: &Path, file: &str) -> Result<Self> {
        let encoded = encode(include, file, Comments::Kept)?;
        let pool = DescriptorPool::decode(encoded.as_slice()).map_err(Error::ReadBack)?;
        let comments = comments(&pool);
        let bare_descriptors = encode(include, file, Comments::Dropped)?;
        Ok(Self { file: file.to_owned(), pool, bare_descriptors, comments })
    }

    /// The comment before the element at `path` of `file`, a blank line between its paragraphs.
    pub fn comment(&self, file: &str, path: &[i32]) -> Option<&str> {
        self.comments.get(&(file.to_owned(), path.to_owned())).map(String::as_str)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comments {
    Kept,
    Dropped,
}

fn encode(include: &Path, file: &str, comments: Comments) -> Result<Vec<u8>> {
    let refused = |error| Error::Compile(Box::new(error));
    let mut compiler = protox::Compiler::new([include]).map_err(refused)?;
    compiler.include_imports(true).include_source_info(comments == Comments::Kept);
    compiler.open_file(file).map_err(refused)?;
    Ok(compiler.encode_file_descriptor_set())
}

fn comments(pool: &DescriptorPool) -> HashMap<(String, Vec<i32>), String> {
    let mut comments = HashMap::new();
    for file in pool.file_descriptor_protos() {
        for location in file.source_code_info.iter().flat_map(|info| &info.location) {
            let text = paragraphs(location.leading_comments());
            if !text.is_empty() {
                comments.insert((file.name().to_owned(), location.path.clone()), text);
            }
        }
    }
    comments
}

/// Joins the lines of each paragraph and keeps a blank line between paragraphs.
fn paragraphs(comment: &str) -> String {
    let mut text = String::new();
    let mut paragraph_ends = false;
    for line in comment.lines().map(str::trim) {
        if line.is_empty() {
            paragraph_ends = true;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if paragraph_ends { "\n\n" } else { " " });
        }
        paragraph_ends = false;
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_paragraphs_kept() {
        for (comment, text) in [
            ("", ""),
            (" one\n", "one"),
            (" one\n two\n", "one two"),
            ("\n one\n\n\n two\n three\n", "one\n\ntwo three"),
        ] {
            assert_eq!(paragraphs(comment), text, "{comment:?}");
        }
    }
}
