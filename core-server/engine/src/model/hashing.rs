//! The models of tests, which need no runtime and no files: an embedder that hashes words and pairs of words into a
//! vector, and a reranker that counts common words.
//!
//! Texts that share words are similar, texts that share none are nearly orthogonal: all that a test of the
//! machinery needs. Deliberately left out: meaning.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation as _;

use super::descriptor::Descriptor;
use super::{Embed, Embedding, Rerank, normalize};
use crate::error::Result;
use crate::generation::manifest::ModelIdentity;
use crate::id::Sha256;

/// Part of the identity: changes whenever the vectors would.
const VERSION: &[u8] = b"hashing/1";

/// A pair of neighbouring words counts less than a word.
const PAIR_WEIGHT: f32 = 0.5;

/// Hashes words into vectors.
#[derive(Debug)]
pub(super) struct HashingEmbedder {
    identity: ModelIdentity,
}

impl HashingEmbedder {
    pub(super) fn new(name: &str, descriptor: &Descriptor) -> Self {
        let identity = descriptor.identity(name, Sha256::of(VERSION), Sha256::of(VERSION));
        Self { identity }
    }

    fn embed(&self, prefix: &str, text: &str) -> Embedding {
        let mut vector = vec![0.0; self.identity.dimensions as usize];
        let mut add = |hash: u64, weight: f32| {
            let sign = if hash >> 63 == 0 { weight } else { -weight };
            #[expect(clippy::cast_possible_truncation, reason = "a remainder of a usize")]
            let index = (hash % vector.len() as u64) as usize;
            vector[index] += sign;
        };
        let mut words = prefix.unicode_words().chain(text.unicode_words());
        let mut before = None;
        for word in words.by_ref().take(self.identity.max_tokens as usize) {
            let hash = fnv(FNV_OFFSET, word.to_lowercase().as_bytes());
            add(mixed(hash), 1.0);
            if let Some(before) = before {
                add(mixed(fnv(before, &hash.to_le_bytes())), PAIR_WEIGHT);
            }
            before = Some(hash);
        }
        let truncated = words.next().is_some();
        normalize(&mut vector);
        Embedding { vector, truncated }
    }
}

impl Embed for HashingEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.embed(&self.identity.query_prefix, text).vector)
    }

    fn embed_passage(&self, text: &str) -> Result<Embedding> {
        Ok(self.embed(&self.identity.passage_prefix, text))
    }

    fn tokens(&self, prefix: &str, text: &str) -> Result<u32> {
        let words = prefix.unicode_words().chain(text.unicode_words()).count();
        Ok(u32::try_from(words).unwrap_or(u32::MAX))
    }
}

/// Counts the query's words that a passage has.
#[derive(Debug)]
pub(super) struct HashingReranker {
    name: String,
    languages: Vec<String>,
}

impl HashingReranker {
    pub(super) fn new(name: &str, descriptor: &Descriptor) -> Self {
        Self { name: name.to_owned(), languages: descriptor.languages.clone() }
    }
}

impl Rerank for HashingReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn languages(&self) -> &[String] {
        &self.languages
    }

    /// From −5, no word in common, to 5, all of them.
    fn score(&self, query: &str, passage: &str) -> Result<f64> {
        let words = |text: &str| text.unicode_words().map(str::to_lowercase).collect::<HashSet<_>>();
        let (query, passage) = (words(query), words(passage));
        #[expect(clippy::cast_precision_loss, reason = "far fewer words than that")]
        let share = query.intersection(&passage).count() as f64 / query.len().max(1) as f64;
        Ok(10.0 * share - 5.0)
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The finaliser of `SplitMix64`: FNV's upper bits, of which one is the sign, are poor for short words.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedder() -> HashingEmbedder {
        HashingEmbedder::new("hashing", &Descriptor { max_tokens: 8, ..Descriptor::hashing(256) })
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let embedder = embedder();
        let (a, b) = (embedder.embed("", a).vector, embedder.embed("", b).vector);
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn texts_that_share_words_are_closer() {
        assert!(cosine("restart the billing service", "Restart the Billing service!") > 0.999);
        let near = cosine("restart the billing service", "the billing service stopped");
        let far = cosine("restart the billing service", "quarterly holiday calendar");
        assert!(near > 0.4 && far.abs() < 0.3, "{near} {far}");
    }

    #[test]
    fn every_text_has_a_place_of_length_one() {
        for text in ["", "   ", "?!", "word", "数据库 日本語", "a b c d e f g h i j"] {
            let vector = embedder().embed("", text).vector;
            let length: f32 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5, "{text:?} {length}");
        }
    }

    #[test]
    fn a_text_beyond_the_window_says_so() {
        assert!(!embedder().embed("", "1 2 3 4 5 6 7 8").truncated);
        assert!(embedder().embed("", "1 2 3 4 5 6 7 8 9").truncated);
        assert_eq!(embedder().tokens("1 2 ", "3 4 5 6 7 8 9").unwrap(), 9);
    }
}
