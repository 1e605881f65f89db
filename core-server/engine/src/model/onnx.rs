//! A model that ONNX Runtime runs: tokens in, one vector out.
//!
//! One text per run. Dynamically quantised weights make a text's vector depend on its neighbours in a batch (the
//! scale of the activations is shared), and a batch is padded to its longest text; alone, each vector is
//! reproducible and a core is used best. Several sessions share one copy of the prepared weights, each with the
//! calling thread as its only one.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, PoisonError};

use ndarray::{ArrayViewD, Axis, Ix2, Ix3};
use ort::environment::Environment;
use ort::session::builder::{GraphOptimizationLevel, PrepackedWeights};
use ort::session::{Session, SessionInputValue};
use ort::value::TensorRef;

use super::descriptor::{Descriptor, Pooling};
use super::store::Verified;
use super::tokenizer::{TextTokenizer, Tokens};
use super::{Embed, Embedding, normalize};
use crate::error::{Error, Result};
use crate::generation::manifest::ModelIdentity;

/// A model in memory.
pub(super) struct OnnxEmbedder {
    identity: ModelIdentity,
    languages: Vec<String>,
    pooling: Pooling,
    tokenizer: TextTokenizer,
    sessions: Pool,
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
        let sessions = open_sessions(environment, &weights.bytes, sessions.max(1))
            .map_err(|error| failed(name, "loading its weights", error))?;
        let embedder = Self {
            identity,
            languages: descriptor.languages.clone(),
            pooling: descriptor.pooling,
            tokenizer,
            sessions: Pool::new(sessions),
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
        let mut session = self.sessions.take();
        let mut vector = run(&mut session, &tokens, self.pooling)
            .map_err(|error| failed(&self.identity.name, "embedding", error))?;
        drop(session);
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

fn open_sessions(environment: &Environment, weights: &[u8], count: usize) -> ort::Result<Vec<Session>> {
    let shared = PrepackedWeights::new();
    let open = |_| {
        Session::builder(environment)?
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?
            // Plans memory for one shape; each text has its own.
            .with_memory_pattern(false)?
            .with_prepacked_weights(&shared)?
            .commit_from_memory(weights)
    };
    (0..count).map(open).collect()
}

fn run(session: &mut Session, tokens: &Tokens, pooling: Pooling) -> ort::Result<Vec<f32>> {
    let names: Vec<String> = session.inputs().iter().map(|input| input.name().to_owned()).collect();
    let shape = [1, tokens.ids.len()];
    let mut inputs: Vec<(String, SessionInputValue<'_>)> = Vec::with_capacity(names.len());
    for name in names {
        let numbers = match name.as_str() {
            "input_ids" => &tokens.ids,
            "attention_mask" => &tokens.mask,
            "token_type_ids" => &tokens.types,
            _ => {
                return Err(ort::Error::new(format!(
                    "the model wants an input that is unknown here: {name}"
                )));
            }
        };
        inputs.push((name, TensorRef::from_array_view((shape, numbers.as_slice()))?.into()));
    }
    let outputs = session.run(inputs)?;
    let output = outputs.values().next().ok_or_else(|| ort::Error::new("the model has no output"))?;
    pool(&output.try_extract_array::<f32>()?, pooling)
        .ok_or_else(|| ort::Error::new("the model's output is neither a vector per token nor one per text"))
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

fn failed(name: &str, doing: &'static str, error: ort::Error) -> Error {
    Error::Model { name: name.to_owned(), doing, source: Box::new(error) }
}

/// Sessions, each used by one thread at a time; who finds none waits.
struct Pool {
    free: Mutex<Vec<Session>>,
    returned: Condvar,
}

impl Pool {
    fn new(sessions: Vec<Session>) -> Self {
        Self { free: Mutex::new(sessions), returned: Condvar::new() }
    }

    fn take(&self) -> Borrowed<'_> {
        // A list of sessions is whole after any panic: nothing runs while the lock is held.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(session) = free.pop() {
                return Borrowed { pool: self, session: Some(session) };
            }
            free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A session that goes back when it is dropped, also by a panic.
struct Borrowed<'a> {
    pool: &'a Pool,
    /// Taken only by `drop`.
    session: Option<Session>,
}

impl Deref for Borrowed<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().unwrap_or_else(|| unreachable!("taken only by drop"))
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        self.session.as_mut().unwrap_or_else(|| unreachable!("taken only by drop"))
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.pool.free.lock().unwrap_or_else(PoisonError::into_inner).extend(self.session.take());
        self.pool.returned.notify_one();
    }
}
