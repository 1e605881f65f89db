//! What a question names literally: phrases of several words in quotes, and words that no language has.
//!
//! Looks decide, not a list: `parseConfigFile`, `ERR_CONN_7781`, `/etc/hosts`, `v1.2.3-rc.1`. What prose has as well
//! (`real-time`, `and/or`, `1,000`, `CD4`, `1960s`) is left to the ranking, and what may be a name or a word of a trade
//! (`GitHub`, `siRNA`, `2.4`) to how many passages hold it; unless it is all that was asked.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;

use super::looks::{Looks, looks};
use super::occurrence::{folded, single_spaced};
use crate::analysis::is_in_script_without_spaces;

/// A text that passages are searched for as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// In NFC, white space made single spaces.
    pub(super) text: String,
    /// The same without case.
    pub(super) folded: String,
    looks: Looks,
}

/// Literals of a question at most; more than a handful is a pasted log.
const MOST: usize = 8;

impl Literal {
    fn new(text: &str, looks: Looks) -> Option<Self> {
        let text = single_spaced(&text.nfc().collect::<String>()).trim().to_owned();
        text.chars().any(char::is_alphanumeric).then(|| Self { folded: folded(&text), text, looks })
    }

    pub(super) fn is_phrase(&self) -> bool {
        self.looks == Looks::Phrase
    }

    /// Whether it may be a word of a trade, and names something only where few passages hold it.
    pub fn may_be_a_word(&self) -> bool {
        self.looks == Looks::Either
    }

    /// Its text in NFC, white space made single spaces.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What `query` names literally, in the order in which it does, without repetitions.
pub fn literals(query: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut rest = query;
    while let Some((before, phrase, behind)) = next_phrase(rest) {
        found.extend(names(before));
        let is_alone = [before, behind].iter().all(|beside| !beside.contains(char::is_alphanumeric));
        if is_alone || !is_one_plain_word(phrase) {
            found.extend(Literal::new(phrase, Looks::Phrase));
        }
        rest = behind;
    }
    found.extend(names(rest));
    let word = trimmed(query.trim());
    if !word.contains(is_border) && (!found.is_empty() || has_more_than_letters(word)) {
        found = Literal::new(word, Looks::Name).into_iter().collect();
    }
    let mut seen = HashSet::new();
    found.retain(|literal| seen.insert(literal.text.clone()));
    found.truncate(MOST);
    found
}

/// The next phrase in quotes, and what stands before and behind it.
fn next_phrase(text: &str) -> Option<(&str, &str, &str)> {
    for (start, open) in text.char_indices() {
        let (before, inner) = (&text[..start], &text[start + open.len_utf8()..]);
        let Some(closing) = closing_quotes(open) else { continue };
        let is_straight = matches!(open, '"' | '\'' | '`');
        // A straight quote within a word is an apostrophe or inches.
        if is_straight && before.chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        let ends = |(at, c): &(usize, char)| {
            let behind = inner[at + c.len_utf8()..].chars().next();
            let is_apostrophe = matches!(c, '\'' | '’' | '"') && behind.is_some_and(char::is_alphanumeric);
            closing.contains(c) && !is_apostrophe
        };
        if let Some((end, close)) = inner.char_indices().find(ends)
            && !inner[..end].trim().is_empty()
        {
            return Some((before, &inner[..end], &inner[end + close.len_utf8()..]));
        }
    }
    None
}

/// One ordinary word in quotes is mostly called in question or coined, not looked for: a "matching" module.
fn is_one_plain_word(phrase: &str) -> bool {
    let word = phrase.trim();
    !word.contains(is_border) && looks(word).is_none()
}

/// What closes a phrase that was opened so.
fn closing_quotes(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' | '＂' => &['"', '＂'],
        '“' | '”' => &['”', '“'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '»' => &['«'],
        '‹' => &['›'],
        '「' => &['」'],
        '『' => &['』'],
        '‘' => &['’'],
        '\'' => &['\''],
        '`' => &['`'],
        _ => return None,
    })
}

/// The names in a text without quotes.
fn names(text: &str) -> impl Iterator<Item = Literal> {
    let by_looks = text.split(is_border).map(trimmed).filter_map(|word| Literal::new(word, looks(word)?));
    by_looks.chain(calls(text))
}

/// `connect()`: an ordinary word, but for what stands behind it.
fn calls(text: &str) -> impl Iterator<Item = Literal> {
    text.match_indices("()").filter_map(|(end, parentheses)| {
        let word = text[..end].rsplit(is_border).next()?;
        let is_plain = word.ends_with(char::is_alphanumeric) && looks(word).is_none();
        if is_plain { Literal::new(&format!("{word}{parentheses}"), Looks::Name) } else { None }
    })
}

fn has_more_than_letters(word: &str) -> bool {
    word.contains(|c: char| !c.is_alphabetic() && c != '\'' && c != '’')
}

fn is_border(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|' | '"' | '`')
        || matches!(u32::from(c), 0x3000..=0x303f | 0xff00..=0xff0f | 0xff1a..=0xff20 | 0x2018..=0x201f)
        || is_in_script_without_spaces(c)
}

/// Without the punctuation of the sentence around it.
fn trimmed(word: &str) -> &str {
    let word = word.trim_start_matches(['\'', '*', '!', '?', ':', '=', '…', '¿', '¡']);
    let word = word.strip_suffix("'s").unwrap_or(word);
    let word = word.trim_end_matches(['\'', '*', '!', '?', ':', '=', '…', '.', ',', ';', '-', '&']);
    if word.len() > 1 { word.trim_end_matches('/') } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<String> {
        literals(query).into_iter().map(|literal| literal.text).collect()
    }

    #[test]
    fn names_are_told_by_their_looks() {
        for name in [
            "parseConfigFile",
            "HTTPServer",
            "ERR_CONN_7781",
            "05-0087-009149-0",
            "1.0.21",
            "foo::bar",
            "C++",
            "C#",
            "--no-verify",
            "/etc/hosts",
            "./run.sh",
            "~/notes",
            "src/main.rs",
            "user@host",
            "v1.2.3-rc.1",
            "v1.2",
            "2.0-rc.1",
            "0x7ff",
            "550e8400-e29b-41d4-a716-446655440000",
            "snake_case",
            "SCREAMING_CASE",
            "snake_case_2",
            "__init__",
            "CVE-2021-44228",
            "ISO-8859-1",
            "E1001",
            "ERR7781",
            "a1b2c3d4",
            "config.toml",
            "docker-compose.yml",
            ".gitignore",
            "$HOME",
            "#123",
            "192.168.0.1",
            "009149",
            "https://a.example/x?y=1",
            "C:\\Users\\me",
            "größe_max",
        ] {
            assert_eq!(found(&format!("what is {name}, please?")), [name]);
            assert_eq!(found(&format!("何が{name}ですか")), [name], "between scripts without spaces");
        }
    }

    #[test]
    fn a_word_of_a_trade_looks_like_a_name() {
        let may_be_a_word = |name: &str| literals(&format!("what is {name}, please?"))[0].may_be_a_word();
        for word in [
            "GitHub",
            "JavaScript",
            "HTTPServer",
            "siRNA",
            "miRNAs",
            "LaTeX",
            "Node.js",
            "config.toml",
            "IL-10",
            "COVID-19",
            "ABT-737",
            "H3K27",
            "H3K27me3",
            "E404",
            "2.4",
            "123456",
        ] {
            assert!(may_be_a_word(word), "{word}");
            assert!(!literals(&format!("{word}?"))[0].may_be_a_word(), "{word} is all that was asked");
            assert!(!literals(&format!("what is `{word}`"))[0].may_be_a_word(), "{word} in quotes");
        }
        for name in [
            "parseConfigFile",
            "onClick",
            "NullPointerException",
            "ERR_CONN_7781",
            "ERR7781",
            "E1001",
            "KB-5005565",
            "CVE-2021-44228",
            "ISO-8859-1",
            "009149",
            "0x7ff",
            "a1b2c3d4",
            "1.0.21",
            "v1.2",
            "2.0-rc.1",
            "foo::bar",
            ".gitignore",
            "src/main.rs",
            "C++",
            "--no-verify",
            "user@host",
            "connect()",
        ] {
            assert!(!may_be_a_word(name), "{name}");
        }
    }

    #[test]
    fn prose_names_nothing() {
        for query in [
            "what is real-time and/or on-line processing, e.g. of 35 and 1,000 items?",
            "who won in the 1960s, 2nd or 20th, at 100mg or 10km, 50% or 3.5mm?",
            "does CD4 bind p53 or H1N1 at 12:30 between 1999-2000 and 10/20?",
            "don't stop the dogs' dinner at O'Brien's, say NGOs and ILCs",
            "U.S.A. and i.e. the a.m. - or p.m. -- TCP/IP I/O",
            "日本語の文章、例えば「」です。",
            "a 5\" pipe and a 6\" pipe",
            "C",
            "?!",
            "",
        ] {
            assert_eq!(found(query), <[&str; 0]>::default(), "{query}");
        }
    }

    #[test]
    fn phrases_stand_in_quotes_of_any_kind() {
        for query in [
            "where does \"to be or  not to be\" come from",
            "where does “to be or not to be” come from",
            "where does „to be or not to be“ come from",
            "where does « to be or\nnot to be » come from",
            "where does 'to be or not to be' come from",
            "where does ‘to be or not to be’ come from",
            "「to be or not to be」はどこから",
            "`to be or not to be`?",
        ] {
            assert_eq!(found(query), ["to be or not to be"], "{query}");
        }
        assert_eq!(found("is \"don't panic\" in 'the dog's dinner'?"), ["don't panic", "the dog's dinner"]);
        assert_eq!(found("a \"matching\" module, and 'so called' ones"), ["so called"]);
        assert_eq!(found("\"matching\"?"), ["matching"]);
        assert_eq!(found("「全文」とは"), ["全文"]);
        assert_eq!(found("\"unbalanced and ERR_CONN_7781"), ["ERR_CONN_7781"]);
        assert_eq!(found("\"a_b\" a_b \"c_d\""), ["a_b", "c_d"]);
    }

    #[test]
    fn a_word_that_is_all_there_is_is_named() {
        assert_eq!(found("covid-19"), ["covid-19"]);
        assert_eq!(found("3.5?"), ["3.5"]);
        assert_eq!(found("CD4"), ["CD4"]);
        assert_eq!(found("GitHub?"), ["GitHub"]);
        assert_eq!(found("kubernetes"), <[&str; 0]>::default());
    }

    #[test]
    fn a_word_is_named_by_the_parentheses_behind_it() {
        assert_eq!(found("what does connect() return, or socket.close()?"), ["socket.close", "connect()"]);
        assert_eq!(found("parseConfigFile() (not run() twice)"), ["parseConfigFile", "run()"]);
        assert_eq!(found("nothing () here(), (), or f(x)"), ["here()"]);
    }

    #[test]
    fn a_pasted_log_names_a_handful() {
        let log: Vec<String> = (0..400).map(|number| format!("ERR_{number}_X")).collect();
        assert_eq!(found(&log.join(" ")).len(), MOST);
    }

    proptest::proptest! {
        #[test]
        fn any_query_may_be_asked(query in "[\\PC\"'“”«»「」`_./ -]{0,80}") {
            for literal in literals(&query) {
                proptest::prop_assert!(literal.text.contains(char::is_alphanumeric));
            }
        }
    }
}
