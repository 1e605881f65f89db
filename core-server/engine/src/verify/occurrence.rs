//! Where a text stands in a file, and which place is meant where there are several.

use memchr::memmem;

/// Places looked at: a text that stands in more is found among the first of them.
pub(super) const MOST: u32 = 10_000;

/// Texts shorter than this are found as whole words only: «no» is not to be found in «note».
const WORDS_BELOW: usize = 64;

/// The offsets at which `text` stands in `bytes`, ascending.
pub(super) fn all(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    if text.is_empty() {
        return Vec::new();
    }
    let whole = |start: &usize| text.len() >= WORDS_BELOW || !cuts_a_word(bytes, *start, start + text.len());
    memmem::find_iter(bytes, text).filter(whole).take(MOST as usize).collect()
}

/// The offset closest to `cited`; of two as close the first.
pub(super) fn nearest(places: &[usize], cited: usize) -> Option<usize> {
    places.iter().copied().min_by_key(|place| place.abs_diff(cited))
}

fn cuts_a_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let joins = |at: usize| {
        let beside = at.checked_sub(1).and_then(|before| Some((bytes.get(before)?, bytes.get(at)?)));
        beside.is_some_and(|(before, after)| before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric())
    };
    joins(start) || joins(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_found_as_whole_words() {
        assert_eq!(all(b"note: no, not no", b"no"), [6, 14]);
        assert_eq!(all(b"", b"no"), [0; 0]);
        assert_eq!(all(b"no", b""), [0; 0]);
        let long = [b'x'; WORDS_BELOW];
        assert_eq!(all(&[b'x'; WORDS_BELOW + 1], &long), [0]);
    }

    #[test]
    fn the_nearest_place_is_meant() {
        assert_eq!(nearest(&[], 5), None);
        assert_eq!(nearest(&[0, 10], 5), Some(0));
        assert_eq!(nearest(&[0, 10], 6), Some(10));
    }
}
