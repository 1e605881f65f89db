//! Whether a literal stands in a text: between the borders of words, as written, else without case, else as a part of
//! something longer.

use std::borrow::Cow;
use std::cell::OnceCell;

use memchr::memmem;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::literal::Literal;
use crate::analysis::is_part_of_word;

/// How exactly a text holds a literal, the better the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occurrence {
    /// Within a longer name: `foo.txt` in `foo.txt.bak`.
    Part = 1,
    /// But for case and the kind of apostrophes and dashes.
    Folded = 2,
    /// To the letter.
    AsWritten = 3,
}

/// A text that literals are looked for in, made comparable when first needed.
pub struct Text<'a> {
    stored: &'a str,
    as_written: OnceCell<Cow<'a, str>>,
    spaced: OnceCell<String>,
    folded: OnceCell<String>,
}

impl<'a> Text<'a> {
    /// A text as it is stored.
    pub fn new(text: &'a str) -> Self {
        Self { stored: text, as_written: OnceCell::new(), spaced: OnceCell::new(), folded: OnceCell::new() }
    }

    /// How it holds `literal`, where it does. A phrase may be broken by lines.
    pub fn occurrence(&self, literal: &Literal) -> Option<Occurrence> {
        // What stands as written stands folded, and most texts hold neither.
        let folded = look(self.folded(), &literal.folded, literal.is_phrase())?;
        let as_written = if literal.text.contains(' ') { self.spaced() } else { self.composed() };
        Some(match (look(as_written, &literal.text, literal.is_phrase()), folded) {
            (Some(Place::Whole), _) => Occurrence::AsWritten,
            (_, Place::Whole) => Occurrence::Folded,
            (_, Place::Part) => Occurrence::Part,
        })
    }

    fn composed(&self) -> &str {
        self.as_written.get_or_init(|| match is_nfc_quick(self.stored.chars()) {
            IsNormalized::Yes => Cow::Borrowed(self.stored),
            IsNormalized::No | IsNormalized::Maybe => Cow::Owned(self.stored.nfc().collect()),
        })
    }

    fn spaced(&self) -> &str {
        self.spaced.get_or_init(|| single_spaced(self.composed()))
    }

    fn folded(&self) -> &str {
        self.folded.get_or_init(|| folded(self.composed()))
    }
}

/// With every stretch of white space as one space.
pub(super) fn single_spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        push_spaced(&mut spaced, c);
    }
    spaced
}

/// Without case, with one kind of apostrophe and dash, and with single spaces.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_ascii() => push_spaced(&mut folded, c.to_ascii_lowercase()),
            '‘' | '’' => folded.push('\''),
            '“' | '”' => folded.push('"'),
            '‐' | '‑' | '–' | '−' => folded.push('-'),
            'ς' => folded.push('σ'),
            'ß' | 'ẞ' => folded.push_str("ss"),
            _ if c.is_whitespace() => push_spaced(&mut folded, c),
            _ => folded.extend(c.to_lowercase()),
        }
    }
    folded
}

fn push_spaced(text: &mut String, c: char) {
    if !c.is_whitespace() {
        text.push(c);
    } else if !text.ends_with(' ') {
        text.push(' ');
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Whole,
    Part,
}

/// The best place of `literal` in `text` between the borders of words.
fn look(text: &str, literal: &str, is_phrase: bool) -> Option<Place> {
    let mut best = None;
    for start in memmem::find_iter(text.as_bytes(), literal.as_bytes()) {
        let (before, behind) = (&text[..start], &text[start + literal.len()..]);
        if !ends_before(before, literal) || !ends_behind(literal, behind) {
            continue;
        }
        if is_phrase || (is_begin(before, literal) && is_end(literal, behind)) {
            return Some(Place::Whole);
        }
        best = Some(Place::Part);
    }
    best
}

/// Whether no word goes on from what stands before into the literal. `v1.0.21` holds `1.0.21`.
fn ends_before(before: &str, literal: &str) -> bool {
    let is_inside = |before: &str| before.ends_with(is_wordish) && literal.starts_with(is_wordish);
    let is_version = before.ends_with(['v', 'V']) && literal.starts_with(|c: char| c.is_ascii_digit());
    !is_inside(before) || (is_version && !is_inside(&before[..before.len() - 1]))
}

fn ends_behind(literal: &str, behind: &str) -> bool {
    !(literal.ends_with(is_wordish) && behind.starts_with(is_wordish))
}

/// Whether a name begins here, not in the middle of a longer one. What qualifies it (`std::`, `src/`, `self.`) does not
/// make it another.
fn is_begin(before: &str, literal: &str) -> bool {
    let mut back = before.chars().rev();
    let Some(last) = back.next() else { return true };
    if !literal.starts_with(is_wordish) {
        return !is_wordish(last) && !literal.starts_with(last);
    }
    let goes_on = match last {
        '-' => literal.contains('-'),
        '.' | ',' => literal.starts_with(|c: char| c.is_ascii_digit()),
        _ => false,
    };
    !(goes_on && back.next().is_some_and(is_wordish))
}

/// Whether the name ends here: `v1.2.3` does not in `v1.2.3-rc.1`, nor `/etc/hosts` in `/etc/hosts.allow`.
fn is_end(literal: &str, behind: &str) -> bool {
    let mut on = behind.chars();
    let Some(next) = on.next() else { return true };
    if !literal.ends_with(is_wordish) {
        return !is_wordish(next) && !literal.ends_with(next);
    }
    let is_version = literal.contains('.') && literal.ends_with(|c: char| c.is_ascii_digit());
    let goes_on = match next {
        '-' | '.' | '+' => literal.contains(next) || literal.contains('/') || is_version,
        ':' | '/' | '@' => literal.contains(next),
        _ => false,
    };
    let next = on.find(|&c| c != ':');
    !(goes_on && next.is_some_and(is_wordish))
}

/// Whether a character beside another of its kind is in the same word.
pub(super) fn is_wordish(c: char) -> bool {
    c == '_' || is_part_of_word(c)
}

#[cfg(test)]
mod tests {
    use super::Occurrence::{AsWritten, Folded, Part};
    use super::*;
    use crate::exact::literals;

    fn occurrence(query: &str, text: &str) -> Option<Occurrence> {
        let literals = literals(query);
        assert_eq!(literals.len(), 1, "{query}");
        Text::new(text).occurrence(&literals[0])
    }

    #[test]
    fn a_name_is_found_whole_else_as_a_part() {
        for (query, text, expected) in [
            ("ERR_CONN_7781", "It says ERR_CONN_7781.", Some(AsWritten)),
            ("ERR_CONN_7781", "it says err_conn_7781", Some(Folded)),
            ("ERR_CONN_7781", "ERR_CONN_77810 MY_ERR_CONN_7781 ERR CONN 7781 ERR_CONN_7782", None),
            ("parseConfigFile", "parseConfigFileName, reparseConfigFile, parse config file", None),
            ("parseConfigFile", "self.parseConfigFile(path)", Some(AsWritten)),
            ("05-0087-009149-0", "part 05-0087-009149-0,", Some(AsWritten)),
            ("05-0087-009149-0", "part 05-0087-009149-01", None),
            ("05-0087-009149-0", "part 05-0087-009149-0-7", Some(Part)),
            ("1.0.21", "Since v1.0.21.", Some(AsWritten)),
            ("1.0.21", "1.0.21.4 2.1.0.21 1.0.210", Some(Part)),
            ("v1.2.3", "v1.2.3-rc.1", Some(Part)),
            ("/etc/hosts", "see /etc/hosts.", Some(AsWritten)),
            ("/etc/hosts", "/etc/hosts.allow", Some(Part)),
            ("foo::bar", "crate::foo::bar(", Some(AsWritten)),
            ("foo::bar", "foo::bar::baz", Some(Part)),
            ("--no-verify", "`--no-verify`", Some(AsWritten)),
            ("--no-verify", "---no-verify", Some(Part)),
            ("C++", "in C++, or", Some(AsWritten)),
            ("C++", "in C++11", Some(Part)),
            ("user@host", "user@host: user@hostess", Some(AsWritten)),
            ("config.toml", "app/config.toml", Some(AsWritten)),
            ("config.toml", "config.toml.bak", Some(Part)),
            ("ERR_CONN_7781", "エラーERR_CONN_7781が", Some(AsWritten)),
        ] {
            assert_eq!(occurrence(query, text), expected, "{query} in {text}");
        }
    }

    #[test]
    fn a_phrase_is_found_over_lines_and_forms() {
        for (query, text, expected) in [
            ("\"to be or not to be\"", "whether to be\n  or not\tto be: that", Some(AsWritten)),
            ("\"to be or not to be\"", "To be, or not to be", None),
            ("\"to be or not\"", "TO BE OR NOT", Some(Folded)),
            ("\"to be\"", "into bed to begin", None),
            ("\"don't panic\"", "Don’t panic", Some(Folded)),
            ("\"caf\u{e9}\"", "a cafe\u{301} near", Some(AsWritten)),
            ("\"cafe\u{301}\"", "a caf\u{e9} near", Some(AsWritten)),
            ("\"cafe\"", "a caf\u{e9} near", None),
            ("「全文検索」", "軽量な全文検索エンジン", Some(AsWritten)),
            ("“STRASSE”", "eine Straße weiter", Some(Folded)),
        ] {
            assert_eq!(occurrence(query, text), expected, "{query} in {text}");
        }
    }
}
