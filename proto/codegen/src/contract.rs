//! The contract as code generation sees it, after every rule was looked at.
//!
//! What stands here is right: each rpc only reads, each element has words, each field has a kind that JSON and
//! every surface can express. What breaks a rule is refused by name.

use std::collections::HashSet;

use prost_reflect::{
    DynamicMessage, EnumDescriptor, ExtensionDescriptor, FieldDescriptor, Kind as WireKind,
    MessageDescriptor, MethodDescriptor, Value,
};

use crate::{Compiled, Error, Result};

/// The contract.
#[derive(Debug, Clone)]
pub struct Contract {
    /// The service's name without its package.
    pub service: String,
    /// The operations, in the order of the file.
    pub operations: Vec<Operation>,
    /// The enums, in the order of the file.
    pub words: Vec<WordList>,
}

/// One rpc.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its name in the contract: `FetchChunk`.
    pub rpc: String,
    /// Its name everywhere else: `fetch_chunk`.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// The first sentence of its comment.
    pub summary: String,
    /// All of its comment.
    pub description: String,
    /// The routes, the preferred one first.
    pub rest: Vec<RestBinding>,
    /// The subcommand of the command line.
    pub command: String,
    /// The field that the command line takes without a flag.
    pub positional: Option<String>,
    /// What is asked.
    pub request: Message,
    /// What is answered.
    pub answer: Message,
}

/// One REST route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestBinding {
    /// `GET` or `POST`.
    pub method: String,
    /// The path, fields in braces.
    pub path: String,
}

/// A message with all it holds.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its name without the package.
    pub name: String,
    /// Its comment.
    pub description: String,
    /// Its fields, in the order of the file.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its comment.
    pub description: String,
    /// What it holds.
    pub kind: Kind,
    /// Whether it holds any number of them.
    pub list: bool,
    /// Whether it may be absent.
    pub optional: bool,
    /// What it accepts beyond its kind.
    pub bounds: Bounds,
}

/// What a field holds.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number, 0 upwards.
    Number,
    /// A number.
    Decimal,
    /// Yes or no.
    Switch,
    /// One of a list of words.
    Word(WordList),
    /// A message.
    Message(Message),
}

/// An enum.
#[derive(Debug, Clone)]
pub struct WordList {
    /// Its name without the package.
    pub name: String,
    /// Its comment.
    pub description: String,
    /// Its values without the unspecified one: the word, the number, the comment.
    pub words: Vec<(String, i32, String)>,
}

/// What a request field accepts. See `options.proto`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The field must be present.
    pub required: bool,
    /// The least length in Unicode scalar values.
    pub min_length: Option<u32>,
    /// The greatest length in Unicode scalar values.
    pub max_length: Option<u32>,
    /// Some character must not be white space.
    pub not_blank: bool,
    /// The least number.
    pub minimum: Option<u32>,
    /// The greatest number.
    pub maximum: Option<u32>,
    /// What an unset value means, as JSON.
    pub default: Option<String>,
    /// The named form.
    pub form: Option<String>,
    /// The group of which exactly one field must be present.
    pub one_of: Option<String>,
    /// The greatest number of items of a list.
    pub max_items: Option<u32>,
    /// The flag of the command line, where it is not named as the field is.
    pub flag: Option<String>,
    /// What the command line calls the value.
    pub value_name: Option<String>,
}

impl Contract {
    /// Reads the compiled contract and refuses what breaks a rule.
    pub fn read(compiled: &Compiled) -> Result<Self> {
        let mut services =
            compiled.pool.services().filter(|service| service.parent_file().name() == compiled.file);
        let service = services.next().ok_or_else(|| rule(&compiled.file, "declares no service"))?;
        if services.next().is_some() {
            return Err(rule(&compiled.file, "declares more than one service"));
        }
        let reader = Reader { compiled };
        Ok(Self {
            service: service.name().to_owned(),
            operations: service.methods().map(|method| reader.operation(&method)).collect::<Result<_>>()?,
            words: compiled
                .pool
                .all_enums()
                .filter(|words| words.parent_file().name() == compiled.file)
                .map(|words| reader.words(&words))
                .collect::<Result<_>>()?,
        })
    }

    /// Every message that occurs in a request, each once.
    pub fn requests(&self) -> Vec<&Message> {
        all(self.operations.iter().map(|operation| &operation.request))
    }

    /// Every message that occurs in an answer, each once.
    pub fn answers(&self) -> Vec<&Message> {
        all(self.operations.iter().map(|operation| &operation.answer))
    }
}

fn all<'a>(roots: impl Iterator<Item = &'a Message>) -> Vec<&'a Message> {
    let mut seen = HashSet::new();
    let mut messages = Vec::new();
    for root in roots {
        collect(root, &mut seen, &mut messages);
    }
    messages
}

fn collect<'a>(message: &'a Message, seen: &mut HashSet<&'a str>, messages: &mut Vec<&'a Message>) {
    if !seen.insert(&message.name) {
        return;
    }
    messages.push(message);
    for field in &message.fields {
        if let Kind::Message(inner) = &field.kind {
            collect(inner, seen, messages);
        }
    }
}

/// Which rules a message's fields obey.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Request,
    Answer,
}

struct Reader<'a> {
    compiled: &'a Compiled,
}

impl Reader<'_> {
    fn operation(&self, method: &MethodDescriptor) -> Result<Operation> {
        let what = method.full_name();
        if !only_reads(method) {
            return Err(Error::SideEffects { rpc: what.to_owned() });
        }
        if method.is_client_streaming() || method.is_server_streaming() {
            return Err(rule(what, "streams; an operation is one question and one answer"));
        }
        let description = self.comment(method.parent_file().name(), method.path(), what)?;
        let options = self
            .extension(&method.options(), "footnote.v1.operation")
            .ok_or_else(|| Error::NoOperation { rpc: what.to_owned() })?;
        let request = self.message(&method.input(), Side::Request)?;
        let operation = Operation {
            rpc: method.name().to_owned(),
            name: snake_case(method.name()),
            title: text(&options, "title"),
            summary: first_sentence(&description),
            description,
            rest: bindings(&options),
            command: text(&options, "command"),
            positional: Some(text(&options, "positional")).filter(|name| !name.is_empty()),
            request,
            answer: self.message(&method.output(), Side::Answer)?,
        };
        check_operation(what, &operation)?;
        Ok(operation)
    }

    fn message(&self, message: &MessageDescriptor, side: Side) -> Result<Message> {
        let what = message.full_name();
        if message.oneofs().any(|oneof| !oneof.is_synthetic()) {
            return Err(rule(
                what,
                "uses `oneof`, which plain schemas cannot express; use the bound `one_of`",
            ));
        }
        Ok(Message {
            name: message.name().to_owned(),
            description: self.comment(message.parent_file().name(), message.path(), what)?,
            fields: message.fields().map(|field| self.field(&field, side)).collect::<Result<_>>()?,
        })
    }

    fn field(&self, descriptor: &FieldDescriptor, side: Side) -> Result<Field> {
        let what = descriptor.full_name();
        let field = Field {
            name: descriptor.name().to_owned(),
            description: self.comment(descriptor.parent_file().name(), descriptor.path(), what)?,
            kind: self.kind(descriptor, side)?,
            list: descriptor.is_list(),
            optional: descriptor.field_descriptor_proto().proto3_optional(),
            bounds: self
                .extension(&descriptor.options(), "footnote.v1.bounds")
                .map(|options| bounds(&options))
                .unwrap_or_default(),
        };
        match side {
            Side::Request => check_request_field(what, &field)?,
            Side::Answer if field.bounds != Bounds::default() => {
                return Err(rule(what, "has bounds, which only fields of requests have"));
            }
            Side::Answer => {}
        }
        Ok(field)
    }

    fn kind(&self, field: &FieldDescriptor, side: Side) -> Result<Kind> {
        if field.is_map() {
            return Err(rule(field.full_name(), "is a map, which a closed schema cannot list"));
        }
        Ok(match field.kind() {
            WireKind::String => Kind::Text,
            WireKind::Uint32 => Kind::Number,
            WireKind::Double => Kind::Decimal,
            WireKind::Bool => Kind::Switch,
            WireKind::Enum(words) => Kind::Word(self.words(&words)?),
            WireKind::Message(message) => Kind::Message(self.message(&message, side)?),
            WireKind::Float
            | WireKind::Int32
            | WireKind::Int64
            | WireKind::Uint64
            | WireKind::Sint32
            | WireKind::Sint64
            | WireKind::Fixed32
            | WireKind::Fixed64
            | WireKind::Sfixed32
            | WireKind::Sfixed64
            | WireKind::Bytes => {
                return Err(rule(
                    field.full_name(),
                    "must be string, bool, uint32, double, an enum or a message: JSON has no 64-bit numbers",
                ));
            }
        })
    }

    fn words(&self, descriptor: &EnumDescriptor) -> Result<WordList> {
        let what = descriptor.full_name();
        let file = descriptor.parent_file();
        let prefix = format!("{}_", snake_case(descriptor.name()).to_uppercase());
        let mut words = Vec::new();
        for value in descriptor.values() {
            let description = self.comment(file.name(), value.path(), value.full_name())?;
            let word = value
                .name()
                .strip_prefix(&prefix)
                .ok_or_else(|| rule(value.full_name(), "does not begin with the enum's name"))?;
            if value.number() != 0 {
                words.push((word.to_lowercase(), value.number(), description));
            } else if word != "UNSPECIFIED" {
                return Err(rule(value.full_name(), "is 0, which must be UNSPECIFIED"));
            }
        }
        Ok(WordList {
            name: descriptor.name().to_owned(),
            description: self.comment(file.name(), descriptor.path(), what)?,
            words,
        })
    }

    fn comment(&self, file: &str, path: &[i32], what: &str) -> Result<String> {
        self.compiled
            .comment(file, path)
            .map(str::to_owned)
            .ok_or_else(|| Error::NoComment { what: what.to_owned() })
    }

    fn extension(&self, options: &DynamicMessage, name: &str) -> Option<DynamicMessage> {
        let extension: ExtensionDescriptor = self.compiled.pool.get_extension_by_name(name)?;
        if !options.has_extension(&extension) {
            return None;
        }
        options.get_extension(&extension).as_message().cloned()
    }
}

fn only_reads(method: &MethodDescriptor) -> bool {
    const NO_SIDE_EFFECTS: i32 = 1;
    method
        .options()
        .get_field_by_name("idempotency_level")
        .and_then(|level| level.as_enum_number())
        .is_some_and(|level| level == NO_SIDE_EFFECTS)
}

fn check_operation(what: &str, operation: &Operation) -> Result<()> {
    let has = |name: &str| operation.request.fields.iter().any(|field| field.name == name);
    if operation.title.is_empty() || operation.command.is_empty() || operation.rest.is_empty() {
        return Err(rule(what, "needs a title, a command and at least one REST route"));
    }
    if operation.summary.chars().count() >= 80 {
        return Err(rule(what, "has a first sentence of 80 characters or more"));
    }
    if operation.positional.as_ref().is_some_and(|name| !has(name)) {
        return Err(rule(what, "names a positional that is no field of its request"));
    }
    for binding in &operation.rest {
        if binding.method != "GET" && binding.method != "POST" {
            return Err(rule(what, "has a REST route whose method is neither GET nor POST"));
        }
        if path_fields(&binding.path).any(|name| !has(name)) {
            return Err(rule(what, "has a REST route with a field that its request does not have"));
        }
    }
    Ok(())
}

/// The fields that a route's path names in braces.
fn path_fields(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn check_request_field(what: &str, field: &Field) -> Result<()> {
    let bounds = &field.bounds;
    if matches!(field.kind, Kind::Decimal) {
        return Err(rule(what, "is of a kind that code generation does not read in requests yet"));
    }
    if field.list {
        check_list(what, field)?;
    } else if bounds.max_items.is_some() {
        return Err(rule(what, "has a greatest number of items and is no list"));
    } else if bounds.required == field.optional {
        return Err(rule(what, "must be either `optional` or bound as required"));
    }
    if bounds.required && !matches!(field.kind, Kind::Text) {
        return Err(rule(what, "is required and no string: its absence could not be told from 0"));
    }
    if bounds.required && bounds.min_length.is_none_or(|length| length == 0) {
        return Err(rule(what, "is required and may be empty: its absence could not be told from that"));
    }
    let is_text = matches!(field.kind, Kind::Text);
    let has_text_bounds = bounds.min_length.is_some()
        || bounds.max_length.is_some()
        || bounds.not_blank
        || bounds.form.is_some();
    if has_text_bounds && !is_text {
        return Err(rule(what, "has bounds of a string and is none"));
    }
    if is_text && bounds.max_length.is_none() && bounds.form.is_none() {
        return Err(rule(what, "is a string without a greatest length"));
    }
    let is_number = matches!(field.kind, Kind::Number);
    if is_number != (bounds.minimum.is_some() && bounds.maximum.is_some()) {
        return Err(rule(what, "must have both a minimum and a maximum if it is a number, else neither"));
    }
    if let Some(form) = &bounds.form
        && !["collection", "id", "footnote", "date"].contains(&form.as_str())
    {
        return Err(rule(what, "has a form that code generation does not know"));
    }
    Ok(())
}

/// A list is never absent: an empty one says nothing.
fn check_list(what: &str, field: &Field) -> Result<()> {
    let bounds = &field.bounds;
    if matches!(field.kind, Kind::Message(_) | Kind::Switch) {
        return Err(rule(what, "is a list of what no command line can write down"));
    }
    if bounds.max_items.is_none_or(|items| items == 0) {
        return Err(rule(what, "is a list without a greatest number of items"));
    }
    if bounds.required || bounds.default.is_some() || bounds.one_of.is_some() {
        return Err(rule(what, "is a list, whose absence cannot be told from its being empty"));
    }
    Ok(())
}

fn bindings(options: &DynamicMessage) -> Vec<RestBinding> {
    let Some(value) = options.get_field_by_name("rest") else { return Vec::new() };
    value
        .as_list()
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_message)
        .map(|binding| RestBinding { method: text(binding, "method"), path: text(binding, "path") })
        .collect()
}

fn bounds(options: &DynamicMessage) -> Bounds {
    let switch = |name| options.get_field_by_name(name).and_then(|value| value.as_bool()).unwrap_or_default();
    let number = |name| {
        options
            .has_field_by_name(name)
            .then(|| options.get_field_by_name(name).and_then(|value| value.as_u32()))
            .flatten()
    };
    let word = |name| Some(text(options, name)).filter(|text| !text.is_empty());
    Bounds {
        required: switch("required"),
        min_length: number("min_length"),
        max_length: number("max_length"),
        not_blank: switch("not_blank"),
        minimum: number("minimum"),
        maximum: number("maximum"),
        default: word("default"),
        form: word("form"),
        one_of: word("one_of"),
        max_items: number("max_items"),
        flag: word("flag"),
        value_name: word("value_name"),
    }
}

fn text(options: &DynamicMessage, name: &str) -> String {
    options.get_field_by_name(name).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn rule(what: &str, rule: &'static str) -> Error {
    Error::Rule { what: what.to_owned(), rule }
}

/// The first sentence, without its full stop.
fn first_sentence(description: &str) -> String {
    let paragraph = description.split("\n\n").next().unwrap_or_default();
    paragraph.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn snake_case(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(character.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case() {
        for (name, words) in
            [("Search", "search"), ("FetchChunk", "fetch_chunk"), ("SourceClass", "source_class")]
        {
            assert_eq!(snake_case(name), words);
        }
    }

    #[test]
    fn the_summary_is_the_first_sentence() {
        for (description, summary) in
            [("Find it.", "Find it"), ("Find it. Or not.", "Find it"), ("Find it.\n\nThen more.", "Find it")]
        {
            assert_eq!(first_sentence(description), summary);
        }
    }
}
