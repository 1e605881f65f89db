//! Embedding models: a store of descriptors on disk, and one text in, one vector out.
//!
//! Deliberately left out: fetching models (`ingest`). Nothing here reaches a network.

use crate::error::Result;
use crate::generation::manifest::ModelIdentity;

/// Turns a text into a vector of length 1. Two kinds exist: an ONNX model, and the hashing one of tests.
pub trait Embed: Send + Sync {
    /// What makes its vectors comparable.
    fn identity(&self) -> &ModelIdentity;

    /// Embeds a query: its prefix is put in front, what exceeds the window is cut off.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// Embeds a passage. Says also whether it exceeded the window.
    fn embed_passage(&self, text: &str) -> Result<Embedding>;
}

/// A passage's vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// [`ModelIdentity::dimensions`] numbers.
    pub vector: Vec<f32>,
    /// Whether the text's end was beyond the model's window.
    pub truncated: bool,
}
