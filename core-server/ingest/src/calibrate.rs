//! Asks a collection senseless questions, to learn what it answers by chance.
//!
//! A question is a few words of the collection itself, each from another passage: all of its words are known, and
//! nothing answers it. What the best passages have of such questions, and how similar they are to them, is what any
//! question about anything reaches here. A real one is well above, or it is not answered
//! (`docs/decisions/0015-evidence.md` has how the quantiles were chosen). The questions are drawn by the passages' ids
//! and a fixed seed, so the same corpus is asked the same.
//!
//! Deliberately left out: when a collection is measured (`update`), and what is made of it (`engine::evidence`).

use std::path::Path;

use engine::analysis::is_in_script_without_spaces;
use engine::dense::{Among, VectorSegment, scan};
use engine::evidence::{Bounds, Calibration, LEADING, held_share};
use engine::lexical::{Lexical, Segment};
use engine::model::Embed;
use engine::stop::Stop;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use tantivy::DocAddress;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::error::Result;
use crate::interrupt::Interrupt;

/// Questions that a collection is asked: as many as it takes for the tenth of them to be about the same whichever are drawn.
const QUESTIONS: usize = 256;

/// Questions that a model is asked in all: half a second of embedding.
const EMBEDDED: usize = 128;

/// Passages that their words are from.
const PASSAGES: usize = 256;

/// Words of a question: what people ask has as many.
const FEWEST_WORDS: usize = 3;
const MOST_WORDS: usize = 10;

/// Characters that make a word where a script does not tell: two pairs, or a triple, of what such a script is indexed by.
const CHARACTERS: usize = 3;

/// The quantiles, in hundredths, of what senseless questions reach that become the bounds.
const WORDS: (usize, usize) = (10, 60);
const SIMILARITY: (usize, usize) = (50, 90);

/// A passage with this share of a question's words has enough of them, however alike all passages of a collection are.
const ENOUGH_WORDS: f64 = 0.6;

const SEED: u64 = 0x0f00_7007_e5ee_d000;

/// Senseless questions for a collection.
#[derive(Debug)]
pub(crate) struct Chance {
    questions: Vec<String>,
    is_small: bool,
}

impl Chance {
    /// Makes them of the collection's own words.
    pub(crate) fn of(lexical: &Lexical) -> Result<Self> {
        let texts = lexical.sample(PASSAGES).into_iter().map(|address| Ok(lexical.record(address)?.text));
        let texts: Vec<String> = texts.collect::<Result<_>>()?;
        let passages: Vec<Vec<&str>> =
            texts.iter().map(|text| words(text)).filter(|words| !words.is_empty()).collect();
        let is_small = lexical.chunks() < u64::from(Calibration::SMALLEST);
        Ok(Self { questions: questions(&passages), is_small })
    }

    /// How much of the weight of a question's words a passage has by chance.
    pub(crate) fn words(&self, lexical: &Lexical, interrupt: &Interrupt) -> Result<Bounds> {
        let mut shares = Vec::new();
        for question in &self.questions {
            interrupt.check()?;
            let query = lexical.query(question);
            if query.is_common || query.terms.is_empty() {
                continue;
            }
            let found = lexical.search(&query, LEADING, &Stop::never())?;
            let addresses: Vec<DocAddress> = found.iter().map(|found| found.address).collect();
            let words = lexical.known_words(&query, &addresses)?;
            shares.extend((0..addresses.len()).map(|at| held_share(&words, at)).reduce(f64::max));
        }
        let measured = bounds(shares, WORDS).filter(|_| !self.is_small);
        let measured = measured.map(|Bounds { none_below, enough_from }| Bounds {
            none_below: none_below.min(ENOUGH_WORDS),
            enough_from: enough_from.min(ENOUGH_WORDS),
        });
        Ok(measured.unwrap_or(Calibration::SMALL))
    }

    /// How similar a passage is by chance. The vectors are those in `folder`, and of `model`.
    pub(crate) fn similarity(
        &self,
        lexical: &Lexical,
        folder: &Path,
        model: &dyn Embed,
        interrupt: &Interrupt,
    ) -> Result<Option<Bounds>> {
        let open = |segment: &Segment| VectorSegment::open(folder.join(format!("{}.vec", segment.id)));
        let vectors: Vec<VectorSegment> = lexical.segments().iter().map(open).collect::<Result<_, _>>()?;
        let alive = lexical.searcher().segment_readers().iter().map(|reader| reader.alive_bitset());
        let segments: Vec<_> = vectors.iter().zip(alive.map(|alive| alive.map(Among::Alive))).collect();
        let tie = |address| lexical.tie(address);
        let best = |question: &String| -> Result<Option<f64>> {
            interrupt.check()?;
            let vector = model.embed_query(question)?;
            let found = scan(&segments, &vector, 1, &tie, &Stop::never())?;
            Ok(found.first().map(|(_, cosine)| f64::from(*cosine)))
        };
        let reached = |questions: &[String]| -> Result<Vec<f64>> {
            let best: Vec<Option<f64>> = questions.par_iter().map(best).collect::<Result<_>>()?;
            Ok(best.into_iter().flatten().collect())
        };
        let count = if self.is_small { EMBEDDED / 2 } else { EMBEDDED };
        let questions = &self.questions[..self.questions.len().min(count)];
        let measured = bounds(reached(questions)?, SIMILARITY);
        if !self.is_small {
            return Ok(measured);
        }
        let scrambled: Vec<String> = questions.iter().map(|question| scrambled(question)).collect();
        let nonsense = bounds(reached(&scrambled)?, (100, 100));
        Ok(measured.zip(nonsense).map(|(measured, nonsense)| Bounds {
            none_below: nonsense.none_below.min(measured.enough_from),
            ..measured
        }))
    }
}

/// Numbers below an end, always the same.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut generator = Pcg64Mcg::seed_from_u64(SEED);
    move |end| {
        let scaled = u128::from(generator.next_u64()) * end as u128;
        usize::try_from(scaled >> 64).unwrap_or(0)
    }
}

/// A question with the characters of each word in disorder: nobody's words, in the script of the collection. The words of a
/// few passages are all on the subject of one of them, however they are mixed; these are on none.
fn scrambled(question: &str) -> String {
    let mut below = numbers();
    let mut word = |word: &str| -> String {
        let mut characters: Vec<char> = word.chars().collect();
        for at in 1..characters.len() {
            characters.swap(at, below(at + 1));
        }
        characters.into_iter().collect()
    };
    question.split(' ').map(&mut word).collect::<Vec<_>>().join(" ")
}

/// The same questions for the same passages.
fn questions(passages: &[Vec<&str>]) -> Vec<String> {
    let mut below = numbers();
    if passages.is_empty() {
        return Vec::new();
    }
    let mut question = |length: usize| {
        let mut order: Vec<usize> = (0..passages.len()).collect();
        let mut words = Vec::with_capacity(length);
        for at in 0..length {
            // Where there are fewer passages than words, some give two.
            let at = at % order.len();
            let drawn = at + below(order.len() - at);
            order.swap(at, drawn);
            let passage = &passages[order[at]];
            words.push(passage[below(passage.len())]);
        }
        words.join(" ")
    };
    let lengths = (FEWEST_WORDS..=MOST_WORDS).cycle().take(QUESTIONS);
    lengths.map(&mut question).collect()
}

/// The words of a text in order.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<(usize, &str)> = Vec::new();
    for (start, word) in text.unicode_word_indices() {
        let is_unspaced = |word: &str| word.chars().next().is_some_and(is_in_script_without_spaces);
        if let Some((before, last)) = words.last_mut()
            && *before + last.len() == start
            && is_unspaced(last)
            && is_unspaced(word)
            && last.chars().count() < CHARACTERS
        {
            *last = &text[*before..start + word.len()];
        } else {
            words.push((start, word));
        }
    }
    words.into_iter().map(|(_, word)| word).collect()
}

/// The values at two quantiles, in hundredths, by nearest rank.
fn bounds(mut values: Vec<f64>, (lower, upper): (usize, usize)) -> Option<Bounds> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |hundredths: usize| values.get((values.len() * hundredths).div_ceil(100).max(1) - 1).copied();
    Some(Bounds { none_below: at(lower)?, enough_from: at(upper)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_without_spaces_are_a_few_characters() {
        assert_eq!(words("The pump's 3.5 bar."), ["The", "pump's", "3.5", "bar"]);
        assert_eq!(words("黑豹队的防守，丢了"), ["黑豹队", "的防守", "丢了"]);
        assert_eq!(words("ทดสอบระบบ ok"), ["ทดส", "อบร", "ะบบ", "ok"]);
        assert_eq!(words(" … "), Vec::<&str>::new());
    }

    #[test]
    fn the_same_passages_give_the_same_questions() {
        let passages: Vec<Vec<&str>> = vec![vec!["a", "b"], vec!["c"], vec!["d", "e", "f"]];
        let asked = questions(&passages);
        assert_eq!(asked, questions(&passages));
        assert_eq!(asked.len(), QUESTIONS);
        let lengths: Vec<usize> = asked.iter().map(|asked| asked.split(' ').count()).collect();
        assert!(lengths.iter().all(|length| (FEWEST_WORDS..=MOST_WORDS).contains(length)), "{lengths:?}");
        assert!(asked.iter().any(|other| *other != asked[0]));
        assert_eq!(questions(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_question_takes_each_word_from_another_passage() {
        let texts: Vec<String> = (0..40).map(|at| format!("w{at}")).collect();
        let passages: Vec<Vec<&str>> = texts.iter().map(|text| vec![text.as_str()]).collect();
        for question in questions(&passages) {
            let mut words: Vec<&str> = question.split(' ').collect();
            let all = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), all, "{question}");
        }
    }

    #[test]
    fn scrambled_words_have_the_same_characters() {
        let question = "Ventile 循环泵 öffnen slowly";
        let scrambled = scrambled(question);
        assert_ne!(scrambled, question);
        let sorted = |text: &str| -> Vec<String> {
            let sorted = |word: &str| {
                let mut characters: Vec<char> = word.chars().collect();
                characters.sort_unstable();
                characters.into_iter().collect()
            };
            text.split(' ').map(sorted).collect()
        };
        assert_eq!(sorted(&scrambled), sorted(question));
    }

    #[test]
    fn bounds_are_values_at_nearest_ranks() {
        let hundred = || (1..=100).rev().map(f64::from).collect();
        assert_eq!(bounds(hundred(), (5, 40)), Some(Bounds { none_below: 5.0, enough_from: 40.0 }));
        assert_eq!(bounds(hundred(), (0, 100)), Some(Bounds { none_below: 1.0, enough_from: 100.0 }));
        assert_eq!(bounds(vec![2.0], (5, 40)), Some(Bounds { none_below: 2.0, enough_from: 2.0 }));
        assert_eq!(bounds(Vec::new(), (5, 40)), None);
    }
}
