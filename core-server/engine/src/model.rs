//! Models: a store of descriptors on disk; one text in, one vector out, or a query and a passage in, one score out.
//!
//! A model is a folder `NAME/` in the store with a descriptor, `model.toml`, and the files that it names; the
//! runtime's shared library lies beside them in `runtime/`. What is loaded is identified by the hashes of the
//! bytes that were really read, never by what a file was once said to be.
//!
//! Deliberately left out: fetching models (`ingest`). Nothing here reaches a network.

mod cross_encoder;
pub mod descriptor;
mod hashing;
mod loader;
mod models;
mod onnx;
mod reranker;
mod runtime;
mod session;
mod store;
mod tokenizer;

pub use descriptor::{Descriptor, Kind, Pooling};
pub use loader::Availability;
pub use models::Models;
pub use reranker::{LoadedReranker, Reranker, RerankerChoice};
pub use runtime::{FOLDER as RUNTIME_FOLDER, forbid_telemetry};
pub use store::{Loaded, Store, is_model_name};

use crate::error::Result;
use crate::generation::manifest::ModelIdentity;

/// Turns a text into a vector of length 1. Two kinds exist: an ONNX model, and the hashing one of tests.
///
/// The same text gives the same vector, bit for bit, whatever was embedded before it and by whichever thread:
/// each text is one run of its own.
pub trait Embed: Send + Sync {
    /// What makes its vectors comparable.
    fn identity(&self) -> &ModelIdentity;

    /// The languages that it understands, as ISO 639-1 codes; none means any.
    fn languages(&self) -> &[String] {
        &[]
    }

    /// Embeds a query: its prefix is put in front, what exceeds the window is cut off.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// Embeds a passage. Says also whether it exceeded the window.
    fn embed_passage(&self, text: &str) -> Result<Embedding>;

    /// How many tokens a text is that has `prefix` before it, also beyond the window.
    fn tokens(&self, prefix: &str, text: &str) -> Result<u32>;
}

/// Says how well a passage answers a query, having read both together. Two kinds exist: an ONNX cross-encoder, and the
/// one of tests that counts common words.
///
/// The same pair gives the same score, bit for bit, as a text gives the same vector.
pub trait Rerank: Send + Sync {
    /// Its name in the store.
    fn name(&self) -> &str;

    /// The languages that it understands, as ISO 639-1 codes; none means any.
    fn languages(&self) -> &[String];

    /// A score without bounds: the higher, the better the passage answers. What exceeds the window is cut off. Takes
    /// tens of milliseconds.
    fn score(&self, query: &str, passage: &str) -> Result<f64>;
}

/// A passage's vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// [`ModelIdentity::dimensions`] numbers.
    pub vector: Vec<f32>,
    /// Whether the text's end was beyond the model's window.
    pub truncated: bool,
}

/// Scales `vector` to length 1. A vector without a direction becomes the first axis, so that every text has a
/// place.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if length.is_finite() && length > 0.0 {
        for x in vector.iter_mut() {
            #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector fits f32")]
            let scaled = (f64::from(*x) / length) as f32;
            *x = scaled;
        }
    } else {
        vector.fill(0.0);
        if let Some(first) = vector.first_mut() {
            *first = 1.0;
        }
    }
}
