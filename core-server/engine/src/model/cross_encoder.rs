//! A reranker that ONNX Runtime runs: a query and a passage in, one number out.

use ndarray::ArrayViewD;
use ort::environment::Environment;

use super::Rerank;
use super::descriptor::Descriptor;
use super::session::Sessions;
use super::store::Verified;
use super::tokenizer::TextTokenizer;
use crate::error::Result;

/// A reranker in memory.
pub(super) struct CrossEncoder {
    name: String,
    languages: Vec<String>,
    tokenizer: TextTokenizer,
    sessions: Sessions,
}

impl CrossEncoder {
    pub(super) fn new(
        environment: &Environment,
        name: &str,
        descriptor: &Descriptor,
        weights: &Verified,
        tokenizer: &Verified,
        sessions: usize,
    ) -> Result<Self> {
        let encoder = Self {
            name: name.to_owned(),
            languages: descriptor.languages.clone(),
            tokenizer: TextTokenizer::new(name, &tokenizer.bytes, descriptor.max_tokens)?,
            sessions: Sessions::open(environment, name, &weights.bytes, sessions)?,
        };
        // So that a model which cannot work fails now and not at the first question.
        encoder.score("a question", "an answer")?;
        Ok(encoder)
    }
}

impl Rerank for CrossEncoder {
    fn name(&self) -> &str {
        &self.name
    }

    fn languages(&self) -> &[String] {
        &self.languages
    }

    fn score(&self, query: &str, passage: &str) -> Result<f64> {
        let tokens = self.tokenizer.encode_pair(query, passage)?;
        self.sessions.run(&tokens, "scoring", only_number)
    }
}

/// The output of a model that gives a number for a pair, and nothing else.
fn only_number(output: &ArrayViewD<'_, f32>) -> Result<f64, &'static str> {
    match output.iter().copied().collect::<Vec<_>>().as_slice() {
        [number] if number.is_finite() => Ok((*number).into()),
        [_] => Err("the model's output is no number"),
        _ => Err("the model's output is not one number per pair"),
    }
}
