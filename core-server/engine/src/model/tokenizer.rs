//! A `tokenizer.json` with our own limits: cut at the model's window, never padded.

use tokenizers::{
    EncodeInput, Encoding, Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy,
};

use crate::error::{Error, Result};

/// Turns a text into the numbers that a model reads.
pub(super) struct TextTokenizer {
    model: String,
    tokenizer: Tokenizer,
}

/// A text as the model reads it.
pub(super) struct Tokens {
    pub(super) ids: Vec<i64>,
    pub(super) mask: Vec<i64>,
    pub(super) types: Vec<i64>,
    /// Whether the text went on beyond the window.
    pub(super) truncated: bool,
}

impl TextTokenizer {
    pub(super) fn new(model: &str, json: &[u8], max_tokens: u32) -> Result<Self> {
        let failed = |source| Error::Model { name: model.to_owned(), doing: "reading its tokenizer", source };
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(failed)?;
        // The packaged files carry both: truncation at 128 would cut nearly every chunk, padding to 128 would make
        // every short query cost 128 tokens.
        tokenizer.with_padding(None);
        let window = TruncationParams {
            max_length: max_tokens as usize,
            stride: 0,
            strategy: TruncationStrategy::LongestFirst,
            direction: TruncationDirection::Right,
        };
        tokenizer.with_truncation(Some(window)).map_err(failed)?;
        Ok(Self { model: model.to_owned(), tokenizer })
    }

    /// How many tokens a text is, also beyond the window.
    pub(super) fn count(&self, text: &str) -> Result<u32> {
        let encoding = self.encoding(text)?;
        // What was cut off lies in stretches that each got their own tokens around them.
        let own = |encoding: &Encoding| {
            encoding.get_special_tokens_mask().iter().filter(|is_special| **is_special == 0).count()
        };
        let around = encoding.len() - own(&encoding);
        let beyond: usize = encoding.get_overflowing().iter().map(own).sum();
        Ok(u32::try_from(around + own(&encoding) + beyond).unwrap_or(u32::MAX))
    }

    pub(super) fn encode(&self, text: &str) -> Result<Tokens> {
        self.encoding(text).map(|encoding| Tokens::of(&encoding))
    }

    /// A query and a passage beside each other. Where both do not fit, the longer is cut.
    pub(super) fn encode_pair(&self, query: &str, passage: &str) -> Result<Tokens> {
        self.encoding((query, passage)).map(|encoding| Tokens::of(&encoding))
    }

    fn encoding<'a>(&self, input: impl Into<EncodeInput<'a>>) -> Result<Encoding> {
        self.tokenizer.encode_fast(input, true).map_err(|source| Error::Model {
            name: self.model.clone(),
            doing: "tokenizing",
            source,
        })
    }
}

impl Tokens {
    fn of(encoding: &Encoding) -> Self {
        let wide = |numbers: &[u32]| numbers.iter().map(|number| i64::from(*number)).collect();
        Self {
            ids: wide(encoding.get_ids()),
            mask: wide(encoding.get_attention_mask()),
            types: wide(encoding.get_type_ids()),
            truncated: !encoding.get_overflowing().is_empty(),
        }
    }
}
