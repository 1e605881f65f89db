//! An embedder that ONNX Runtime runs: tokens in, one vector out.

use std::borrow::Cow;

use ndarray::{ArrayViewD, Axis, Ix2, Ix3};
use ort::environment::Environment;

use super::descriptor::{Descriptor, Pooling};
use super::session::Sessions;
use super::store::Verified;
use super::tokenizer::TextTokenizer;
use super::{Embed, Embedding, normalize};
use crate::error::{Error, Result};
use crate::generation::manifest::ModelIdentity;

/// A model in memory.
pub(super) struct OnnxEmbedder {
    identity: ModelIdentity,
    languages: Vec<String>,
    pooling: Pooling,
    tokenizer: TextTokenizer,
    sessions: Sessions,
}

impl OnnxEmbedder {
    pub(super) fn new(
        environment: &Environment,
        name: &str,
        descriptor: &Descriptor,
        weights: &Verified,
        tokenizer: &Verified,
        sessions: usize,
    ) -> Result<Self> {
        let identity = descriptor.identity(name, weights.sha256, tokenizer.sha256);
        let tokenizer = TextTokenizer::new(name, &tokenizer.bytes, descriptor.max_tokens)?;
        let sessions = Sessions::open(environment, name, &weights.bytes, sessions)?;
        let embedder = Self {
            identity,
            languages: descriptor.languages.clone(),
            pooling: descriptor.pooling,
            tokenizer,
            sessions,
        };
        embedder.check()?;
        Ok(embedder)
    }

    /// Runs one text, so that a model which cannot work fails now and not at the first question.
    fn check(&self) -> Result<()> {
        let found = self.embed("", "text")?.vector.len();
        let expected = self.identity.dimensions as usize;
        if found == expected {
            return Ok(());
        }
        let what = format!("it gives {found} numbers, its descriptor says {expected}");
        Err(Error::Model { name: self.identity.name.clone(), doing: "being tried", source: what.into() })
    }

    fn embed(&self, prefix: &str, text: &str) -> Result<Embedding> {
        let text =
            if prefix.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prefix}{text}")) };
        let tokens = self.tokenizer.encode(&text)?;
        let mut vector = self.sessions.run(&tokens, "embedding", |output| {
            pool(output, self.pooling)
                .ok_or("the model's output is neither a vector per token nor one per text")
        })?;
        normalize(&mut vector);
        Ok(Embedding { vector, truncated: tokens.truncated })
    }
}

impl Embed for OnnxEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn languages(&self) -> &[String] {
        &self.languages
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.embed(&self.identity.query_prefix, text)?.vector)
    }

    fn embed_passage(&self, text: &str) -> Result<Embedding> {
        self.embed(&self.identity.passage_prefix, text)
    }

    fn tokens(&self, prefix: &str, text: &str) -> Result<u32> {
        self.tokenizer.count(&format!("{prefix}{text}"))
    }
}

/// Makes one vector of the output: of `[1, tokens, dimensions]` by pooling, of `[1, dimensions]` as it is.
fn pool(output: &ArrayViewD<'_, f32>, pooling: Pooling) -> Option<Vec<f32>> {
    if let Ok(text) = output.view().into_dimensionality::<Ix2>() {
        return (text.nrows() == 1).then(|| text.row(0).to_vec());
    }
    let text = output.view().into_dimensionality::<Ix3>().ok()?;
    if text.len_of(Axis(0)) != 1 || text.len_of(Axis(1)) == 0 {
        return None;
    }
    let tokens = text.index_axis_move(Axis(0), 0);
    match pooling {
        Pooling::Cls => Some(tokens.row(0).to_vec()),
        // No token is padding: the mean over all of them is the masked mean.
        Pooling::Mean => tokens.mean_axis(Axis(0)).map(|mean| mean.to_vec()),
    }
}
