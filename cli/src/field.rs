//! A field of a request as a flag, and the flags that were given as a request.
//!
//! Deliberately left out: bounds, and the words of refusals. The contract's checks have both, so that a value is
//! refused alike on every surface.

use std::ffi::OsStr;
use std::io::{self, Read};

use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use clap::error::Error;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use proto::field::{At, Kind};
use proto::settings::{CollectionArgs, Surroundings};
use proto::{Code, Failure, Field, Operation};
use serde_json::{Map, Value};

/// The id of what is given without a flag, where the field of that name is a flag, too.
const POSITIONAL: &str = "positional";

/// What is read of standard input at most: more than any question may have.
const MAX_STDIN_BYTES: u64 = 64 * 1024;

/// The flags of a field of an operation's request.
pub(crate) fn arguments(operation: &Operation, field: &'static Field) -> Vec<Arg> {
    let positional = operation.positional == Some(field.name);
    if positional && field.required {
        return vec![words(field)];
    }
    if let Kind::Object(fields) = field.kind {
        return fields.iter().flat_map(|inner| flags(At::Field(&At::Request, field.name), inner)).collect();
    }
    let flag = if field.name == "collection" { collection() } else { flag(At::Request, field) };
    if !positional {
        return vec![flag];
    }
    vec![flag.conflicts_with(POSITIONAL), without_flag(field)]
}

/// The one flag for a collection that every program of ours has.
fn collection() -> Arg {
    let command = CollectionArgs::augment_args(Command::new(""));
    let mut arguments = command.get_arguments().cloned();
    arguments.next().unwrap_or_else(|| Arg::new("collection").long("collection"))
}

fn words(field: &'static Field) -> Arg {
    Arg::new(field.name)
        .required(true)
        .num_args(1..)
        .value_name("WORDS")
        .allow_negative_numbers(true)
        .help(format!("{} `-` reads standard input.", field.description))
}

fn without_flag(field: &'static Field) -> Arg {
    let argument = Arg::new(POSITIONAL);
    if field.name == "chunk_id" {
        argument.value_name("PASSAGE").help("The passage's id or footnote.")
    } else {
        argument.value_name(field.name.to_uppercase()).help(field.description)
    }
}

/// The flags of a field of the object at `at`: its own, or those of the fields within it.
fn flags(at: At<'_>, field: &'static Field) -> Vec<Arg> {
    match field.kind {
        Kind::Object(fields) => {
            fields.iter().flat_map(|inner| flags(At::Field(&at, field.name), inner)).collect()
        }
        Kind::Text { .. } | Kind::Number { .. } | Kind::Switch | Kind::Word(_) | Kind::List { .. } => {
            vec![flag(at, field)]
        }
    }
}

fn flag(at: At<'_>, field: &'static Field) -> Arg {
    let path = At::Field(&at, field.name).to_string();
    let name = field.flag.map_or_else(|| path.replace(['_', '.'], "-"), str::to_owned);
    let argument = Arg::new(path).help(described(field));
    match field.kind {
        Kind::Switch if field.default == Some("true") => argument
            .long(format!("no-{name}"))
            .action(ArgAction::SetTrue)
            .help(format!("Do not {}", lower(field.description))),
        Kind::Switch => argument.long(name).action(ArgAction::SetTrue),
        Kind::List { item, .. } => valued(argument.long(name).action(ArgAction::Append), field, item),
        Kind::Text { .. } | Kind::Number { .. } | Kind::Word(_) | Kind::Object(_) => {
            valued(argument.long(name), field, &field.kind)
        }
    }
}

/// A flag with a value of this kind.
fn valued(argument: Arg, field: &Field, kind: &Kind) -> Arg {
    let named = |name: &'static str| argument.value_name(field.value_name.unwrap_or(name));
    match kind {
        Kind::Number { .. } => named("N").allow_negative_numbers(true),
        Kind::Word(words) => named("WORD").value_parser(Suggested(words)).hide_possible_values(true),
        Kind::Text { .. } | Kind::Switch | Kind::List { .. } | Kind::Object(_) => named("TEXT"),
    }
}

fn described(field: &Field) -> String {
    let accepts = match field.kind {
        Kind::Word(words) => format!(" [{}]", words.join(", ")),
        Kind::Number { minimum, maximum } => format!(" [{minimum} to {maximum}]"),
        Kind::List { .. } => " [may be given again]".to_owned(),
        Kind::Switch | Kind::Text { .. } | Kind::Object(_) => String::new(),
    };
    let default = field.default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
    format!("{}{accepts}{default}", field.description.trim_end_matches('.'))
}

fn lower(text: &str) -> String {
    let mut characters = text.trim_end_matches('.').chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

/// Makes the request of an operation from the flags given.
pub fn request(
    operation: &Operation,
    given: &ArgMatches,
    surroundings: &Surroundings,
) -> Result<Value, Failure> {
    let mut request = Map::new();
    for field in operation.fields.iter().filter(|field| field.name != "collection") {
        if let Some(value) = value(operation, At::Request, field, given)? {
            request.insert(field.name.to_owned(), value);
        }
    }
    if let (Some("chunk_id"), Some(passage)) = (operation.positional, positional(given)) {
        let name = if is_footnote(&passage) { "footnote" } else { "chunk_id" };
        request.insert(name.to_owned(), Value::String(passage));
    }
    if operation.fields.iter().any(|field| field.name == "collection")
        && let Some(name) = collection_of(operation, given, surroundings, request.contains_key("footnote"))
    {
        request.insert("collection".to_owned(), Value::String(name));
    }
    Ok(Value::Object(request))
}

/// What was given of a field of the object at `at`.
fn value(
    operation: &Operation,
    at: At<'_>,
    field: &Field,
    given: &ArgMatches,
) -> Result<Option<Value>, Failure> {
    let at = At::Field(&at, field.name);
    let id = at.to_string();
    let texts = || given.get_many::<String>(&id).into_iter().flatten();
    Ok(match field.kind {
        Kind::Switch => given.get_flag(&id).then_some(Value::Bool(field.default != Some("true"))),
        Kind::Text { .. } if operation.positional == Some(field.name) && field.required => {
            let words: Vec<_> = texts().map(String::as_str).collect();
            Some(Value::String(match words[..] {
                ["-"] => standard_input(io::stdin().lock())?,
                _ => words.join(" "),
            }))
        }
        Kind::Number { .. } | Kind::Word(_) | Kind::Text { .. } => {
            texts().next().map(|text| field.parse_at(at, text)).transpose()?
        }
        Kind::List { .. } => {
            let item = |(index, text): (usize, &String)| field.parse_at(At::Item(&at, index), text);
            let items = texts().enumerate().map(item).collect::<Result<Vec<_>, _>>()?;
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Kind::Object(fields) => {
            let mut object = Map::new();
            for field in fields {
                if let Some(value) = value(operation, at, field, given)? {
                    object.insert(field.name.to_owned(), value);
                }
            }
            (!object.is_empty()).then_some(Value::Object(object))
        }
    })
}

/// What was given without a flag, where the operation takes that.
fn positional(given: &ArgMatches) -> Option<String> {
    given.try_get_one::<String>(POSITIONAL).ok()?.cloned()
}

/// A footnote names its own collection, so a default of ours must not contradict it; a flag may.
fn collection_of(
    operation: &Operation,
    given: &ArgMatches,
    surroundings: &Surroundings,
    by_footnote: bool,
) -> Option<String> {
    if operation.positional == Some("collection")
        && let Some(name) = positional(given)
    {
        return Some(name);
    }
    if by_footnote && given.value_source("collection") != Some(ValueSource::CommandLine) {
        return None;
    }
    CollectionArgs::from_arg_matches(given).ok()?.settle(surroundings)
}

fn is_footnote(text: &str) -> bool {
    text.starts_with('[') || text.starts_with("footnote:")
}

fn standard_input(input: impl Read) -> Result<String, Failure> {
    let refused = |message: String| Failure::with_message(Code::InvalidArgument, message).of_field("query");
    let mut bytes = Vec::new();
    input
        .take(MAX_STDIN_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(format!("standard input cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("standard input is not UTF-8".to_owned()))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Offers words to help and completions, and takes any.
#[derive(Clone, Copy, Debug)]
struct Suggested(&'static [&'static str]);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        NonEmptyStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use proto::config_file::ConfigFile;
    use proto::places::BaseDirs;
    use serde_json::json;

    use super::*;

    fn request_of(words: &[&str], file: ConfigFile) -> Value {
        try_request_of(words, file).unwrap()
    }

    fn try_request_of(words: &[&str], file: ConfigFile) -> Result<Value, Failure> {
        let base = BaseDirs::look_up(|_| None, Some("/home/ada".into())).unwrap();
        let matches = crate::args::command().try_get_matches_from([&["footnote"], words].concat()).unwrap();
        let (name, given) = matches.subcommand().unwrap();
        let operation = proto::OPERATIONS.iter().find(|operation| operation.command == name).unwrap();
        request(operation, given, &Surroundings { base, file })
    }

    #[test]
    fn flags_are_the_request() {
        for (words, expected) in [
            (vec!["search", "how", "to", "restart"], json!({"query": "how to restart"})),
            (
                vec![
                    "search",
                    "x",
                    "--top-k",
                    "3",
                    "--mode",
                    "bm25",
                    "--no-verify",
                    "-c",
                    "docs",
                    "--max-bytes=2048",
                ],
                json!({"query": "x", "top_k": 3, "mode": "bm25", "verify": false, "collection": "docs", "max_bytes": 2048}),
            ),
            (
                vec![
                    "search",
                    "x",
                    "--path",
                    "docs/**",
                    "--path=!drafts",
                    "--tag",
                    "a,b",
                    "--all-tags",
                    "c",
                    "--since",
                    "2026-01-31",
                    "--until",
                    "soon",
                ],
                json!({"query": "x", "filter": {
                    "paths": ["docs/**", "!drafts"], "tags_any": ["a,b"], "tags_all": ["c"],
                    "from": "2026-01-31", "until": "soon"
                }}),
            ),
            (vec!["fetch", "0123"], json!({"chunk_id": "0123"})),
            (vec!["fetch", "--chunk-id", "0123"], json!({"chunk_id": "0123"})),
            (vec!["fetch"], json!({})),
            (
                vec!["fetch", "footnote:a/b.md#L1;00000000"],
                json!({"footnote": "footnote:a/b.md#L1;00000000"}),
            ),
            (vec!["fetch", "[b](footnote:a/b)"], json!({"footnote": "[b](footnote:a/b)"})),
            (vec!["collections", "--page-size", "2"], json!({"page_size": 2})),
            (vec!["status"], json!({})),
            (vec!["status", "docs"], json!({"collection": "docs"})),
            (vec!["status", "-c", "docs"], json!({"collection": "docs"})),
        ] {
            assert_eq!(request_of(&words, ConfigFile::default()), expected, "{words:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused_in_the_words_of_the_contract() {
        for typed in ["-1", "5.0", "many", "1e999", "NaN", ""] {
            let flag = format!("--top-k={typed}");
            let failure = try_request_of(&["search", "x", &flag], ConfigFile::default()).unwrap_err();
            assert_eq!(failure.message, "`top_k` must be a whole number from 1 to 50", "{typed}");
        }
    }

    #[test]
    fn bounds_are_left_to_the_checks() {
        let words = ["search", " ", "--top-k", "99", "--mode", "fuzzy", "-c", "../x"];
        let expected = json!({"query": " ", "top_k": 99, "mode": "fuzzy", "collection": "../x"});
        assert_eq!(request_of(&words, ConfigFile::default()), expected);
    }

    #[test]
    fn the_default_collection_does_not_contradict_a_footnote() {
        let file = || ConfigFile { collection: Some("notes".into()), ..ConfigFile::default() };
        assert_eq!(request_of(&["search", "x"], file())["collection"], "notes");
        assert_eq!(request_of(&["search", "x", "-c", "docs"], file())["collection"], "docs");
        assert_eq!(request_of(&["fetch", "footnote:docs/a"], file()).get("collection"), None);
        assert_eq!(request_of(&["fetch", "footnote:docs/a", "-c", "docs"], file())["collection"], "docs");
    }

    #[test]
    fn standard_input_is_text_without_its_last_line_end() {
        assert_eq!(standard_input(&b"a \"b\"\nc\r\n"[..]).unwrap(), "a \"b\"\nc");
        let failure = standard_input(&b"\xff"[..]).unwrap_err();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (Code::InvalidArgument, "standard input is not UTF-8")
        );
    }
}
