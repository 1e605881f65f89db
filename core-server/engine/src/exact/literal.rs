//! What a question names literally: phrases of several words in quotes, and words that no language has.
//!
//! Looks decide, not a list: `parseConfigFile`, `ERR_CONN_7781`, `/etc/hosts`, `v1.2.3-rc.1`. What prose has as well
//! (`real-time`, `and/or`, `1,000`, `CD4`, `1960s`) is left to the ranking, and what may be a name or a word of a trade
//! (`GitHub`, `siRNA`, `2.4`) to how many passages hold it; unless it is all that was asked.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;

use super::occurrence::{folded, is_wordish, single_spaced};
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

/// What a literal looks like, the least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Looks {
    /// A name, or a word of a trade: `GitHub`, `siRNA`, `IL-10`, `Node.js`.
    Either,
    /// No language has it. It is sought as a whole first.
    Name,
    /// In quotes. It may be part of anything.
    Phrase,
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

/// What separates the parts of a name.
const MARKS: [char; 10] = ['_', '\\', '@', '$', '/', '.', ':', '-', '+', '#'];

/// What a word looks like that was named, not said.
fn looks(word: &str) -> Option<Looks> {
    let has_letters = word.contains(char::is_alphabetic);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if (!has_letters && digits == 0) || word.chars().nth(1).is_none() {
        return None;
    }
    if word.contains(MARKS) && (is_marked(word) || is_path(word)) {
        return Some(Looks::Name);
    }
    let parts: Vec<&str> = word.split(MARKS).filter(|part| !part.is_empty()).collect();
    if !has_letters {
        return looks_of_number(word, &parts);
    }
    let by_digits = if digits > 0 { looks_of_code(word, &parts) } else { None };
    by_digits.max(looks_of_file(word)).max(looks_of_camel_case(&parts))
}

/// `05-0087-009149-0`, `1.0.21`, `192.168.0.1`, `009149`; `123456` and `2.4` may be quantities, and a range has two parts.
fn looks_of_number(word: &str, parts: &[&str]) -> Option<Looks> {
    match parts {
        [number] if number.len() > 5 => {
            Some(if number.starts_with('0') { Looks::Name } else { Looks::Either })
        }
        [_, _] if word.contains('.') => Some(Looks::Either),
        [_, _, _, ..] if !(word.contains('.') && word.contains('-')) => Some(Looks::Name),
        _ => None,
    }
}

/// `v1.2`; `config.toml` and `Node.js` look alike.
fn looks_of_file(word: &str) -> Option<Looks> {
    (word.contains('.') && is_dotted(word)).then(|| {
        let is_told = word.contains(|c: char| c.is_ascii_digit()) || word.starts_with('.');
        if is_told { Looks::Name } else { Looks::Either }
    })
}

/// `parseConfigFile`, `NullPointerException`; `GitHub`, `HTTPServer` and `siRNA` may be words.
fn looks_of_camel_case(parts: &[&str]) -> Option<Looks> {
    let looks_of_part = |part: &&str| {
        // The plural of an abbreviation (`NGOs`) is none.
        let singular = part.strip_suffix('s').filter(|part| part.ends_with(|c: char| c.is_ascii_uppercase()));
        let part = singular.unwrap_or(part);
        crate::analysis::is_camel_case(part).then(|| {
            let letters = part.as_bytes();
            let is_capital = |pair: &&[u8]| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase();
            let capitals = letters.windows(2).filter(is_capital).count();
            let begins_with_word = letters[..2].iter().all(u8::is_ascii_lowercase);
            let is_code = capitals > 2 || (begins_with_word && capitals > 0);
            if is_code { Looks::Name } else { Looks::Either }
        })
    };
    parts.iter().filter_map(looks_of_part).max()
}

/// `snake_case`, `foo::bar`, `a\b`, `user@host`, `$HOME`, `#123`, `--no-verify`, `C++`, `F#`.
fn is_marked(word: &str) -> bool {
    let is_inner = |mark: &str| {
        word.match_indices(mark).any(|(at, mark)| {
            word[..at].ends_with(char::is_alphanumeric)
                && word[at + mark.len()..].starts_with(char::is_alphanumeric)
        })
    };
    let begins =
        |mark: &str| word.strip_prefix(mark).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let suffixed = word.strip_suffix("++").or_else(|| word.strip_suffix('#'));
    word.contains("__")
        || ["_", "::", "\\", "@", "://"].into_iter().any(is_inner)
        || ["--", "$", "@", "_"].into_iter().any(begins)
        || word.strip_prefix('#').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        || suffixed.is_some_and(|name| name.len() <= 5 && name.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// `/etc/hosts`, `./run`, `~/notes`, `src/main.rs`, `a/b/c`; not `and/or`.
fn is_path(word: &str) -> bool {
    let begins = ["/", "./", "../", "~/"].iter().any(|begin| {
        word.strip_prefix(begin).is_some_and(|rest| rest.starts_with(|c| is_wordish(c) || c == '.'))
    });
    let names: Vec<&str> = word.split('/').collect();
    begins || names.len() > 2 || (names.len() == 2 && names.iter().any(|name| is_dotted(name)))
}

/// `config.toml`, `Node.js`, `.gitignore`, `v1.2`; not `e.g`, `3.5`, `3.5mm`.
fn is_dotted(word: &str) -> bool {
    if word.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic())) {
        return true;
    }
    if !word.contains(char::is_alphabetic) {
        return false;
    }
    let parts: Vec<&str> = word.split('.').collect();
    let is_version = |part: &str| {
        part.strip_prefix(['v', 'V']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let has_letters = |part: &&str| part.chars().any(char::is_alphabetic);
    parts.len() > 1
        && parts.iter().all(|part| !part.is_empty())
        && (is_version(parts[0]) || parts.len() > 2 || parts.iter().all(has_letters))
        && parts.iter().any(|part| part.chars().nth(1).is_some())
        && (parts.len() < 3 || word.contains(|c: char| c.is_ascii_digit()) || parts.iter().all(has_letters))
}

/// Letters and digits that no measure, year or ordinal has: `0x7ff`, `ERR7781`, `CVE-2021-44228`, a UUID, a hash;
/// `IL-10` and `H3K27` may be words.
fn looks_of_code(word: &str, parts: &[&str]) -> Option<Looks> {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = |part: &&str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_loud = |part: &&str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_long = |part: &str| part.len() > 3 && part.bytes().rev().take(4).all(|byte| byte.is_ascii_digit());
    let (is_code, is_told) = if let [part] = parts {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let is_measure =
            part.trim_start_matches(|c: char| c.is_ascii_digit()).chars().all(char::is_alphabetic)
                && part.starts_with(|c: char| c.is_ascii_digit());
        let is_hash = part.len() > 6 && digits > 0 && is_hex(part);
        let is_address = part.strip_prefix("0x").is_some_and(|rest| !rest.is_empty() && is_hex(rest));
        let is_mixed = !is_measure && (part.len() > 4 && digits > 1 || is_numbered(part));
        (is_address || is_hash || is_mixed, is_address || is_hash || is_long(part))
    } else {
        let is_uuid = parts.len() > 3 && parts.iter().all(|part| is_hex(part));
        // `ISO-8859-1`, `2.0-rc.1`
        let is_release =
            word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && word.contains('-');
        let is_numbered = parts.iter().any(is_number) && parts.iter().any(is_loud);
        let is_told = is_uuid || is_release || parts.iter().any(|part| is_number(part) && is_long(part));
        (is_uuid || is_release || is_numbered, is_told)
    };
    is_code.then_some(if is_told { Looks::Name } else { Looks::Either })
}

/// `E404`
fn is_numbered(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    number.len() > 2 && number.len() < word.len() && number.bytes().all(|byte| byte.is_ascii_digit())
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
