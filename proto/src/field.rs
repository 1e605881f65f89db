//! A request's field: what it accepts, and the words in which everything else is refused.
//!
//! The same rows make checks, schemas, command line and reference, so that every surface refuses the same values
//! with the same words. Reading JSON is [`json`](crate::json)'s.

use std::fmt;

use serde_json::Value;

use crate::form::Form;
use crate::json::{Asked, Word};

/// One field of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name, snake case.
    pub name: &'static str,
    /// What it means, for the caller.
    pub description: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// Whether a request without it is refused.
    pub required: bool,
    /// What its absence means, as JSON; `None` where the description says it.
    pub default: Option<&'static str>,
    /// The group of fields of which exactly one must be present.
    pub one_of: Option<&'static str>,
    /// Its flag on the command line, without dashes, where that is not its name.
    pub flag: Option<&'static str>,
    /// What the command line calls its value, in capitals.
    pub value_name: Option<&'static str>,
}

/// What a field accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text without the character NUL. Lengths count Unicode scalar values.
    Text {
        /// The least length.
        min_length: u32,
        /// The greatest length; `None` where the form bounds it.
        max_length: Option<u32>,
        /// Whether some character must not be white space.
        not_blank: bool,
        /// The form it must have.
        form: Option<Form>,
    },
    /// A whole number.
    Number {
        /// The least.
        minimum: u32,
        /// The greatest.
        maximum: u32,
    },
    /// True or false.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any number of these up to a bound, none of them an object. An empty list says nothing.
    List {
        /// What each of them is.
        item: &'static Kind,
        /// How many at most.
        max_items: u32,
    },
    /// An object with these fields and no others.
    Object(&'static [Field]),
}

/// Where in a request a value stands; written `filter.paths[2]`.
#[derive(Debug, Clone, Copy)]
pub enum At<'a> {
    /// It is the request.
    Request,
    /// It is a field of the object there.
    Field(&'a At<'a>, &'a str),
    /// It is an item of the list there, counted from 0.
    Item(&'a At<'a>, usize),
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => Ok(()),
            Self::Field(Self::Request, name) => f.write_str(name),
            Self::Field(object, name) => write!(f, "{object}.{name}"),
            Self::Item(list, index) => write!(f, "{list}[{index}]"),
        }
    }
}

/// A value that is refused: which field, and what it accepts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Violation {
    /// Where it stands, `top_k` or `filter.paths[2]`; empty where the request as a whole is meant.
    pub field: String,
    /// What is accepted, naming the field.
    pub message: String,
}

impl Field {
    /// What it accepts, as the end of «must be …».
    pub fn accepts(&self) -> impl fmt::Display {
        Accepts(self.kind)
    }

    /// Refuses a value of a field of the request itself.
    pub fn refused(&self) -> Violation {
        self.refused_at(At::Request)
    }

    /// Refuses a value of a field of the object at `at`.
    pub(crate) fn refused_at(&self, at: At<'_>) -> Violation {
        self.kind.refused(At::Field(&at, self.name))
    }

    /// Refuses an item of a list of the object at `at`.
    pub(crate) fn refused_item(&self, at: At<'_>, index: usize) -> Violation {
        self.kind.item().refused(At::Item(&At::Field(&at, self.name), index))
    }

    /// Checks a value in the object at `at`; an absent one passes.
    pub fn check<T>(
        &self,
        at: At<'_>,
        value: Option<T>,
        check: fn(&Kind, At<'_>, T) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        value.map_or(Ok(()), |value| check(&self.kind, At::Field(&at, self.name), value))
    }

    /// Checks a list in the object at `at`.
    pub fn check_each<T>(
        &self,
        at: At<'_>,
        items: impl ExactSizeIterator<Item = T>,
        check: fn(&Kind, At<'_>, T) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        if let Kind::List { max_items, .. } = self.kind
            && items.len() > max_items as usize
        {
            return Err(self.refused_at(at));
        }
        let (list, kind) = (At::Field(&at, self.name), self.kind.item());
        items.enumerate().try_for_each(|(index, item)| check(kind, At::Item(&list, index), item))
    }

    /// Checks an object in the object at `at`; an absent one passes.
    pub fn check_object<M: Asked>(&self, at: At<'_>, object: Option<&M>) -> Result<(), Violation> {
        object.map_or(Ok(()), |object| object.check(At::Field(&at, self.name)))
    }

    /// Reads what was typed or stood in a URL as the JSON of this field of the request itself: digits as a number,
    /// `true` and `false` as a switch, all else as text. Bounds are checked later. A list and an object have no such
    /// form and are refused.
    pub fn parse(&self, text: &str) -> Result<Value, Violation> {
        match self.kind {
            Kind::List { .. } | Kind::Object(_) => Err(self.refused()),
            Kind::Text { .. } | Kind::Number { .. } | Kind::Switch | Kind::Word(_) => {
                self.parse_at(At::Field(&At::Request, self.name), text)
            }
        }
    }

    /// The same for the value at `at`: this field's, or an item's where it is a list.
    pub fn parse_at(&self, at: At<'_>, text: &str) -> Result<Value, Violation> {
        self.kind.item().parse(at, text)
    }
}

impl Kind {
    fn parse(&self, at: At<'_>, text: &str) -> Result<Value, Violation> {
        let value = match self {
            Kind::Text { .. } | Kind::Word(_) => Some(Value::from(text)),
            Kind::Number { .. } => text.parse::<u32>().ok().map(Value::from),
            Kind::Switch => text.parse::<bool>().ok().map(Value::from),
            Kind::List { .. } | Kind::Object(_) => None,
        };
        value.ok_or_else(|| self.refused(at))
    }

    /// What an item is; itself where it is no list.
    fn item(&self) -> &Self {
        if let Self::List { item, .. } = self { item } else { self }
    }

    fn refused(&self, at: At<'_>) -> Violation {
        Violation { field: at.to_string(), message: format!("`{at}` must be {}", Accepts(*self)) }
    }

    /// Checks the text at `at`.
    pub fn check_text(&self, at: At<'_>, text: &str) -> Result<(), Violation> {
        let Self::Text { min_length, max_length, not_blank, form } = *self else { return Ok(()) };
        if text.contains('\0') {
            let message = format!("`{at}` must not contain the character NUL");
            return Err(Violation { field: at.to_string(), message });
        }
        let length = text.chars().count();
        let is_long_enough = length >= min_length as usize;
        let is_short_enough = max_length.is_none_or(|bound| length <= bound as usize);
        let says_something = !not_blank || text.chars().any(|character| !character.is_whitespace());
        let has_form = form.is_none_or(|form| form.matches(text));
        if is_long_enough && is_short_enough && says_something && has_form {
            Ok(())
        } else {
            Err(self.refused(at))
        }
    }

    /// Checks the number at `at`.
    pub fn check_number(&self, at: At<'_>, number: u32) -> Result<(), Violation> {
        let Self::Number { minimum, maximum } = self else { return Ok(()) };
        if (minimum..=maximum).contains(&&number) { Ok(()) } else { Err(self.refused(at)) }
    }

    /// Checks the number that an enum's word at `at` is on the wire; `UNSPECIFIED` does not pass.
    pub fn check_word<W: Word>(&self, at: At<'_>, number: i32) -> Result<(), Violation> {
        W::from_number(number).map(drop).ok_or_else(|| self.refused(at))
    }
}

struct Accepts(Kind);

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Text { form: Some(form), .. } => f.write_str(form.words()),
            Kind::Text { min_length, max_length, not_blank, form: None } => {
                match (min_length, max_length) {
                    (0, None) => f.write_str("text")?,
                    (least, None) => write!(f, "text of at least {least} characters")?,
                    (least, Some(most)) => write!(f, "text of {least} to {most} characters")?,
                }
                f.write_str(if not_blank { ", not only white space" } else { "" })
            }
            Kind::Number { minimum, maximum } => write!(f, "a whole number from {minimum} to {maximum}"),
            Kind::Switch => f.write_str("true or false"),
            Kind::Word(words) => {
                f.write_str("one of ")?;
                for (index, word) in words.iter().enumerate() {
                    write!(f, "{}`{word}`", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Kind::List { item, max_items } => {
                write!(f, "a list of at most {max_items}, each {}", Accepts(*item))
            }
            Kind::Object(fields) => {
                f.write_str("an object of ")?;
                for (index, field) in fields.iter().enumerate() {
                    write!(f, "{}`{}`", if index == 0 { "" } else { ", " }, field.name)?;
                }
                Ok(())
            }
        }
    }
}

/// Refuses the object at `at` if none or more than one of these fields is present. The first is the one named.
pub fn exactly_one(at: At<'_>, fields: &[(&'static str, bool)]) -> Result<(), Violation> {
    if fields.iter().filter(|(_, is_present)| *is_present).count() == 1 {
        return Ok(());
    }
    let path = |name| At::Field(&at, name).to_string();
    let names: Vec<_> = fields.iter().map(|(name, _)| format!("`{}`", path(name))).collect();
    Err(Violation {
        field: fields.first().map(|(name, _)| path(name)).unwrap_or_default(),
        message: format!("exactly one of {} must be present", names.join(" and ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::{FetchChunkRequest, ListCollectionsRequest, Mode, SearchRequest};

    fn search(query: &str) -> SearchRequest {
        SearchRequest { query: query.to_owned(), ..SearchRequest::default() }
    }

    fn refusal(result: Result<(), Violation>) -> String {
        result.expect_err("refused").message
    }

    #[test]
    fn text_is_counted_in_scalar_values() {
        assert_eq!(search(&"é".repeat(4096)).validate(), Ok(()));
        assert_eq!(
            refusal(search(&"e".repeat(4097)).validate()),
            "`query` must be text of 1 to 4096 characters, not only white space"
        );
    }

    #[test]
    fn absent_empty_and_blank_queries_are_refused_in_the_same_words() {
        let words = refusal(SearchRequest::default().validate());
        for query in ["", " ", "\n\t\u{3000}"] {
            assert_eq!(refusal(search(query).validate()), words);
        }
    }

    #[test]
    fn nul_is_refused_by_name() {
        assert_eq!(refusal(search("a\0b").validate()), "`query` must not contain the character NUL");
    }

    #[test]
    fn present_but_empty_is_checked_like_any_value() {
        let request = SearchRequest { collection: Some(String::new()), ..search("x") };
        assert!(refusal(request.validate()).starts_with("`collection` must be a collection's name"));
        let request = ListCollectionsRequest { page_token: Some(String::new()), ..Default::default() };
        assert_eq!(refusal(request.validate()), "`page_token` must be text of 1 to 256 characters");
    }

    #[test]
    fn numbers_keep_to_their_bounds() {
        for (top_k, is_fine) in [(0, false), (1, true), (50, true), (51, false), (u32::MAX, false)] {
            let request = SearchRequest { top_k: Some(top_k), ..search("x") };
            assert_eq!(request.validate().is_ok(), is_fine, "{top_k}");
        }
    }

    #[test]
    fn unspecified_and_unknown_words_are_refused() {
        for mode in [0, 99, -1] {
            let request = SearchRequest { mode: Some(mode), ..search("x") };
            assert_eq!(refusal(request.validate()), "`mode` must be one of `hybrid`, `bm25`, `dense`");
        }
        assert_eq!(SearchRequest { mode: Some(Mode::Dense.into()), ..search("x") }.validate(), Ok(()));
    }

    #[test]
    fn exactly_one_name_of_a_passage_is_asked_for() {
        let id = Some("0123456789abcdef0123456789abcdef".to_owned());
        let footnote = Some("footnote:docs/a.md#L1-L2;9f3c2a1b".to_owned());
        let words = "exactly one of `chunk_id` and `footnote` must be present";
        let request = |chunk_id: &Option<String>, footnote: &Option<String>| FetchChunkRequest {
            chunk_id: chunk_id.clone(),
            footnote: footnote.clone(),
            ..Default::default()
        };
        assert_eq!(refusal(request(&None, &None).validate()), words);
        assert_eq!(refusal(request(&id, &footnote).validate()), words);
        assert_eq!(request(&id, &None).validate(), Ok(()));
        assert_eq!(request(&None, &footnote).validate(), Ok(()));
    }

    #[test]
    fn what_was_typed_is_read_by_kind() {
        let field = |name| SearchRequest::FIELDS.iter().find(|field| field.name == name).expect("known");
        assert_eq!(field("top_k").parse("7"), Ok(Value::from(7)));
        assert_eq!(field("verify").parse("false"), Ok(Value::from(false)));
        assert_eq!(field("query").parse("7"), Ok(Value::from("7")));
        for (name, text) in [("top_k", "7.5"), ("top_k", "-1"), ("verify", "yes")] {
            assert!(field(name).parse(text).is_err(), "{name}={text}");
        }
    }
}
