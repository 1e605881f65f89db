//! A `tokenizer.json` with our own limits: cut at the model's window, never padded.

use std::sync::OnceLock;

use tokenizers::{
    EncodeInput, Encoding, Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy,
};

use crate::error::{Error, Result};

/// Turns a text into the numbers that a model reads.
pub(super) struct TextTokenizer {
    model: String,
    tokenizer: Tokenizer,
    /// The same without a window, made when first asked for.
    whole: OnceLock<Tokenizer>,
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
        Ok(Self { model: model.to_owned(), tokenizer, whole: OnceLock::new() })
    }

    /// How many tokens a text is, also beyond the window.
    pub(super) fn count(&self, text: &str) -> Result<u32> {
        // One that cuts stops reading not far behind the window, so it cannot say.
        let whole = self.whole.get_or_init(|| {
            let mut whole = self.tokenizer.clone();
            drop(whole.with_truncation(None));
            whole
        });
        let encoding = whole.encode_fast(text, true).map_err(|source| self.failed(source))?;
        Ok(u32::try_from(encoding.len()).unwrap_or(u32::MAX))
    }

    pub(super) fn encode(&self, text: &str) -> Result<Tokens> {
        self.encoding(text).map(|encoding| Tokens::of(&encoding))
    }

    /// A query and a passage beside each other. Where both do not fit, the longer is cut.
    pub(super) fn encode_pair(&self, query: &str, passage: &str) -> Result<Tokens> {
        self.encoding((query, passage)).map(|encoding| Tokens::of(&encoding))
    }

    fn encoding<'a>(&self, input: impl Into<EncodeInput<'a>>) -> Result<Encoding> {
        self.tokenizer.encode_fast(input, true).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Model { name: self.model.clone(), doing: "tokenizing", source }
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

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &[u8] = br#"{
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]}, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3}, "unk_token": "[UNK]"}
    }"#;

    #[test]
    fn tokens_beyond_the_window_are_counted_and_not_read() {
        let tokenizer = TextTokenizer::new("test", JSON, 5).unwrap();
        for words in [0, 1, 3, 4, 7, 100] {
            let text = "a ".repeat(words);
            assert_eq!(tokenizer.count(&text).unwrap() as usize, words + 2, "{words}");
            let tokens = tokenizer.encode(&text).unwrap();
            assert_eq!((tokens.ids.len(), tokens.truncated), ((words + 2).min(5), words > 3), "{words}");
        }
    }
}
