//! What a word looks like that was named, not said.

use super::occurrence::is_wordish;

/// What a literal looks like, the least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Looks {
    /// A name, or a word of a trade: `GitHub`, `siRNA`, `IL-10`, `Node.js`.
    Either,
    /// No language has it. It is sought as a whole first.
    Name,
    /// In quotes. It may be part of anything.
    Phrase,
}

/// What separates the parts of a name.
const MARKS: [char; 10] = ['_', '\\', '@', '$', '/', '.', ':', '-', '+', '#'];

/// What a word looks like that was named, not said.
pub(super) fn looks(word: &str) -> Option<Looks> {
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
