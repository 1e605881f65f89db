//! Sessions of ONNX Runtime over one copy of a model's weights.
//!
//! One text per run. Dynamically quantised weights make what a text gives depend on its neighbours in a batch (the
//! scale of the activations is shared), and a batch is padded to its longest text; alone, each result is
//! reproducible and a core is used best. Several sessions share one copy of the prepared weights, each with the
//! calling thread as its only one.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, PoisonError};

use ndarray::ArrayViewD;
use ort::environment::Environment;
use ort::session::builder::{GraphOptimizationLevel, PrepackedWeights};
use ort::session::{Session, SessionInputValue};
use ort::value::TensorRef;

use super::tokenizer::Tokens;
use crate::error::{Error, Result};

/// Sessions, each used by one thread at a time; who finds none waits.
pub(super) struct Sessions {
    model: String,
    free: Mutex<Vec<Session>>,
    returned: Condvar,
}

impl Sessions {
    /// `count` sessions, at least one, of the model called `model`.
    pub(super) fn open(environment: &Environment, model: &str, weights: &[u8], count: usize) -> Result<Self> {
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
        let sessions: ort::Result<Vec<Session>> = (0..count.max(1)).map(open).collect();
        let sessions = sessions.map_err(|error| failed(model, "loading its weights", error))?;
        Ok(Self { model: model.to_owned(), free: Mutex::new(sessions), returned: Condvar::new() })
    }

    /// Runs one text and takes from the model's first output what `read` does; what `read` finds wrong with it is
    /// the model's failure while `doing`.
    pub(super) fn run<T>(
        &self,
        tokens: &Tokens,
        doing: &'static str,
        read: impl FnOnce(&ArrayViewD<'_, f32>) -> Result<T, &'static str>,
    ) -> Result<T> {
        run(&mut self.take(), tokens, read).map_err(|error| failed(&self.model, doing, error))
    }

    fn take(&self) -> Borrowed<'_> {
        // A list of sessions is whole after any panic: nothing runs while the lock is held.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(session) = free.pop() {
                return Borrowed { sessions: self, session: Some(session) };
            }
            free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn run<T>(
    session: &mut Session,
    tokens: &Tokens,
    read: impl FnOnce(&ArrayViewD<'_, f32>) -> Result<T, &'static str>,
) -> ort::Result<T> {
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
    read(&output.try_extract_array::<f32>()?).map_err(ort::Error::new)
}

fn failed(name: &str, doing: &'static str, error: ort::Error) -> Error {
    Error::Model { name: name.to_owned(), doing, source: Box::new(error) }
}

/// A session that goes back when it is dropped, also by a panic.
struct Borrowed<'a> {
    sessions: &'a Sessions,
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
        self.sessions.free.lock().unwrap_or_else(PoisonError::into_inner).extend(self.session.take());
        self.sessions.returned.notify_one();
    }
}
