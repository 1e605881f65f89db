//! A corpus of made-up words by Zipf's law, and questions of them: the same in every run.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "its numbers are small"
)]

use proto::v1::{Mode, SearchRequest};
use tests::World;

/// Files of ten sections each; a section is about one chunk.
pub(crate) fn write(world: &World, chunks: usize) {
    for file in 0..chunks.div_ceil(10) {
        world.write(&format!("part{}/file{file}.md", file / 100), document(file));
    }
}

/// One file.
pub(crate) fn document(seed: usize) -> String {
    let mut text = format!("# File {seed}\n\n");
    let mut random = Random(seed as u64 + 1);
    for section in 0..10 {
        text.extend(["## Section ", &section.to_string(), "\n\n"]);
        for _ in 0..130 {
            text += &word(random.zipf());
            text.push(' ');
        }
        text.push_str("\n\n");
    }
    text
}

/// Four words, none of the most common.
pub(crate) fn question(n: usize) -> String {
    let mut random = Random(n as u64 + 77);
    (0..4).map(|_| word(random.zipf() + 20)).collect::<Vec<_>>().join(" ")
}

/// The `n`th question as a request.
pub(crate) fn search(n: usize, collection: &str, mode: Mode) -> SearchRequest {
    SearchRequest {
        query: question(n),
        collection: Some(collection.to_owned()),
        mode: Some(mode.into()),
        ..SearchRequest::default()
    }
}

/// The word of a rank: letters only, so that no stemmer or splitter makes two of it, and beginning with any of them, as words do.
fn word(rank: usize) -> String {
    let mut rest = rank + 26;
    let mut letters = String::new();
    while rest > 0 {
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    letters + "word"
}

/// A small generator with a fixed seed, so that every run asks the same of the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A rank of Zipf's law over 30,000 words.
    fn zipf(&mut self) -> usize {
        (30_000_f64.powf(self.next()) - 1.0) as usize
    }
}
