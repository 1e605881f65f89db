//! JSON as the contract wants it: words for enums, nothing that is null, unknown fields refused by name.
//!
//! Requests are read here; answers are written by serde with the functions below.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::field::{At, Field, Kind, Violation};

/// An enum of the contract, which JSON writes as a word and never as a number.
pub trait Word: Copy + PartialEq + TryFrom<i32> + Into<i32> + 'static {
    /// Every value but `UNSPECIFIED`, with its word.
    const WORDS: &'static [(Self, &'static str)];

    /// Its word; `None` for `UNSPECIFIED`.
    fn word(self) -> Option<&'static str> {
        Self::WORDS.iter().find(|(value, _)| *value == self).map(|(_, word)| *word)
    }

    /// The value that has this word.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
    }

    /// The value that has this number on the wire; `None` for `UNSPECIFIED` and what this version does not know.
    fn from_number(number: i32) -> Option<Self> {
        Self::WORDS.iter().find(|(value, _)| (*value).into() == number).map(|(value, _)| *value)
    }
}

/// A message of a request: the request itself, or an object within one.
pub trait Asked: Sized {
    /// Its fields.
    const FIELDS: &'static [Field];

    /// Takes its fields out of an object that has no others.
    fn read(object: &mut Object<'_>) -> Result<Self, Violation>;

    /// Checks every value that is present, and that nothing is missing.
    fn check(&self, at: At<'_>) -> Result<(), Violation>;
}

/// Reads the object at `at`. Refuses what is no object, and an unknown field by name, with the nearest known one.
pub fn object<M: Asked>(json: Value, at: At<'_>) -> Result<M, Violation> {
    let Value::Object(values) = json else {
        return Err(Violation {
            field: at.to_string(),
            message: "a request must be a JSON object".to_owned(),
        });
    };
    for name in values.keys() {
        if !M::FIELDS.iter().any(|field| field.name == name) {
            return Err(unknown(name, M::FIELDS, at));
        }
    }
    M::read(&mut Object { values, at })
}

/// An object of a request while it is read.
#[derive(Debug)]
pub struct Object<'a> {
    values: Map<String, Value>,
    at: At<'a>,
}

impl Object<'_> {
    /// Takes a value out, as `read` reads it.
    pub fn one<T>(&mut self, field: &Field, read: fn(&Value) -> Option<T>) -> Result<Option<T>, Violation> {
        let value = self.values.remove(field.name);
        value.map(|value| read(&value).ok_or_else(|| field.refused_at(self.at))).transpose()
    }

    /// Takes a list out, each item as `read` reads it. An absent list is empty.
    pub fn list<T>(&mut self, field: &Field, read: fn(&Value) -> Option<T>) -> Result<Vec<T>, Violation> {
        match self.values.remove(field.name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let item = |(index, item)| read(item).ok_or_else(|| field.refused_item(self.at, index));
                items.iter().enumerate().map(item).collect()
            }
            Some(_) => Err(field.refused_at(self.at)),
        }
    }

    /// Takes an object out.
    pub fn object<M: Asked>(&mut self, field: &Field) -> Result<Option<M>, Violation> {
        match self.values.remove(field.name) {
            None => Ok(None),
            Some(json @ Value::Object(_)) => object(json, At::Field(&self.at, field.name)).map(Some),
            Some(_) => Err(field.refused_at(self.at)),
        }
    }
}

/// Reads a text.
pub fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Reads a switch.
pub fn switch(value: &Value) -> Option<bool> {
    value.as_bool()
}

/// Reads an enum's word, as its number on the wire.
pub fn word_of<W: Word>(value: &Value) -> Option<i32> {
    W::from_word(value.as_str()?).map(Into::into)
}

/// Reads a whole number. `5.0` is one, as JSON Schema has it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the guard admits whole numbers between the bounds of u32 only"
)]
pub fn whole_number(value: &Value) -> Option<u32> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok();
    }
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u32)
}

fn unknown(name: &str, fields: &[Field], at: At<'_>) -> Violation {
    // The name is the caller's own and may be anything: it is quoted shortened and without control characters.
    let quoted: String = name.chars().filter(|character| !character.is_control()).take(64).collect();
    let path = At::Field(&at, &quoted).to_string();
    let hint = match nearest(&quoted, fields, at) {
        Some((_, nearest)) => format!("did you mean `{nearest}`?"),
        None if fields.is_empty() => "this request has none".to_owned(),
        None => {
            let names: Vec<_> =
                fields.iter().map(|field| format!("`{}`", At::Field(&at, field.name))).collect();
            format!("known are {}", names.join(", "))
        }
    };
    Violation { message: format!("unknown field `{path}`; {hint}"), field: path }
}

/// The field most like `name`, here or in an object beneath: how alike they are, and where it stands.
fn nearest(name: &str, fields: &[Field], at: At<'_>) -> Option<(f64, String)> {
    let mut nearest: Option<(f64, String)> = None;
    for field in fields {
        let here = At::Field(&at, field.name);
        let own = Some((strsim::jaro_winkler(name, field.name), here.to_string()));
        let beneath = match field.kind {
            Kind::Object(fields) => self::nearest(name, fields, here),
            Kind::Text { .. } | Kind::Number { .. } | Kind::Switch | Kind::Word(_) | Kind::List { .. } => {
                None
            }
        };
        for (likeness, path) in own.into_iter().chain(beneath) {
            if likeness > nearest.as_ref().map_or(0.75, |(best, _)| *best) {
                nearest = Some((likeness, path));
            }
        }
    }
    nearest
}

/// An answer as JSON; `None` where it holds what the contract never sends.
pub fn answer<A: Serialize>(answer: &A) -> Option<Value> {
    serde_json::to_value(answer).ok()
}

/// Numbers that JSON can write.
pub mod decimal {
    use serde::ser::{Error, Serializer};

    /// Writes a number; refuses infinities and NaN, which would become null.
    pub fn one<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if number.is_finite() {
            serializer.serialize_f64(*number)
        } else {
            Err(Error::custom("a number is not finite"))
        }
    }

    /// Writes a number that is present.
    pub fn optional<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => one(number, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Writes numbers.
    pub fn list<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        if numbers.iter().all(|number| number.is_finite()) {
            serializer.collect_seq(numbers)
        } else {
            Err(Error::custom("a number is not finite"))
        }
    }
}

/// Enums as words.
pub mod word {
    use serde::de::{Deserialize, Deserializer};

    use super::Word;

    fn write_one<W: Word, E: serde::ser::Error>(number: i32) -> Result<&'static str, E> {
        W::from_number(number).and_then(W::word).ok_or_else(|| E::custom("an enum has no word"))
    }

    fn read_one<W: Word, E: serde::de::Error>(word: &str) -> Result<i32, E> {
        W::from_word(word).map(Into::into).ok_or_else(|| E::custom("an enum's word is unknown"))
    }

    /// A field that is always there.
    pub mod one {
        use serde::Serializer;

        use super::{Deserialize, Deserializer, Word, read_one, write_one};

        /// Writes it; refuses `UNSPECIFIED`.
        pub fn write<W: Word, S: Serializer>(number: &i32, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(write_one::<W, S::Error>(*number)?)
        }

        /// Reads it.
        pub fn read<'de, W: Word, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
            read_one::<W, _>(&String::deserialize(deserializer)?)
        }
    }

    /// A field that may be absent.
    pub mod optional {
        use serde::Serializer;

        use super::{Deserialize, Deserializer, Word, read_one, write_one};

        /// Writes it; refuses `UNSPECIFIED`.
        pub fn write<W: Word, S: Serializer>(number: &Option<i32>, serializer: S) -> Result<S::Ok, S::Error> {
            match number {
                Some(number) => serializer.serialize_str(write_one::<W, S::Error>(*number)?),
                None => serializer.serialize_none(),
            }
        }

        /// Reads it.
        pub fn read<'de, W: Word, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
            Option::<String>::deserialize(deserializer)?.map(|word| read_one::<W, _>(&word)).transpose()
        }
    }

    /// A field with any number of them.
    pub mod list {
        use serde::Serializer;

        use super::{Deserialize, Deserializer, Word, read_one, write_one};

        /// Writes them; refuses `UNSPECIFIED`.
        pub fn write<W: Word, S: Serializer>(numbers: &[i32], serializer: S) -> Result<S::Ok, S::Error> {
            let words = numbers.iter().map(|number| write_one::<W, S::Error>(*number));
            serializer.collect_seq(words.collect::<Result<Vec<_>, _>>()?)
        }

        /// Reads them.
        pub fn read<'de, W: Word, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i32>, D::Error> {
            Vec::<String>::deserialize(deserializer)?.iter().map(|word| read_one::<W, _>(word)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::v1::{
        Collection, FetchChunkResponse, Filter, Hit, Mode, SearchRequest, SearchResponse, Verdict,
    };

    fn refusal(json: Value) -> String {
        SearchRequest::from_json(json).expect_err("refused").message
    }

    #[test]
    fn a_request_is_read() {
        let request = SearchRequest::from_json(json!({
            "query": "q", "collection": "c", "top_k": 7.0, "mode": "bm25", "max_bytes": 2048, "verify": false,
            "filter": {"paths": ["a/**", "!b"], "tags_all": [], "from": "2026-01-31"},
            "rerank": true
        }));
        assert_eq!(
            request,
            Ok(SearchRequest {
                query: "q".to_owned(),
                collection: Some("c".to_owned()),
                top_k: Some(7),
                mode: Some(Mode::Bm25.into()),
                max_bytes: Some(2048),
                verify: Some(false),
                filter: Some(Filter {
                    paths: vec!["a/**".to_owned(), "!b".to_owned()],
                    from: Some("2026-01-31".to_owned()),
                    ..Filter::default()
                }),
                rerank: Some(true),
                ..SearchRequest::default()
            })
        );
    }

    #[test]
    fn a_field_within_is_refused_by_its_path() {
        let refused = |filter: Value| {
            let request = SearchRequest::from_json(json!({"query": "q", "filter": filter}));
            let violation = request.and_then(|request| request.validate()).expect_err("refused");
            (violation.field, violation.message)
        };
        for (filter, field, message) in [
            (
                json!({"path": ["a"]}),
                "filter.path",
                "unknown field `filter.path`; did you mean `filter.paths`?",
            ),
            (
                json!({"zzz": 1}),
                "filter.zzz",
                "unknown field `filter.zzz`; known are `filter.paths`, `filter.tags_any`, `filter.tags_all`, \
                 `filter.from`, `filter.until`",
            ),
            (
                json!("a"),
                "filter",
                "`filter` must be an object of `paths`, `tags_any`, `tags_all`, `from`, `until`",
            ),
            (
                json!({"paths": "a"}),
                "filter.paths",
                "`filter.paths` must be a list of at most 64, each text of 1 to 1024 characters",
            ),
            (
                json!({"paths": vec!["a"; 65]}),
                "filter.paths",
                "`filter.paths` must be a list of at most 64, each text of 1 to 1024 characters",
            ),
            (
                json!({"paths": ["a", "b", 3]}),
                "filter.paths[2]",
                "`filter.paths[2]` must be text of 1 to 1024 characters",
            ),
            (
                json!({"tags_any": ["a", ""]}),
                "filter.tags_any[1]",
                "`filter.tags_any[1]` must be text of 1 to 256 characters",
            ),
            (
                json!({"tags_all": ["a\0"]}),
                "filter.tags_all[0]",
                "`filter.tags_all[0]` must not contain the character NUL",
            ),
            (
                json!({"from": "yesterday"}),
                "filter.from",
                "`filter.from` must be a date as RFC 3339 has it: `2026-01-31`, or with a time `2026-01-31T12:00:00Z`",
            ),
        ] {
            assert_eq!(refused(filter), (field.to_owned(), message.to_owned()));
        }
    }

    #[test]
    fn what_belongs_into_an_object_is_found_there() {
        assert_eq!(
            refusal(json!({"query": "q", "paths": ["a"]})),
            "unknown field `paths`; did you mean `filter.paths`?"
        );
    }

    #[test]
    fn unknown_fields_are_refused_with_the_nearest_known_one() {
        assert_eq!(refusal(json!({"query": "q", "topk": 5})), "unknown field `topk`; did you mean `top_k`?");
        assert_eq!(
            refusal(json!({"zzz": 1})),
            "unknown field `zzz`; known are `query`, `collection`, `top_k`, `mode`, `max_bytes`, `verify`, \
             `filter`, `neighbors`, `explain`, `rerank`, `section`"
        );
    }

    #[test]
    fn the_wrong_type_is_refused_in_the_words_of_the_wrong_value() {
        for top_k in [json!("5"), json!(5.5), json!(-1), json!(null), json!(4_294_967_296_u64), json!([])] {
            assert_eq!(
                refusal(json!({"query": "q", "top_k": top_k})),
                "`top_k` must be a whole number from 1 to 50"
            );
        }
        for mode in [json!(1), json!("Hybrid"), json!("unspecified"), json!("MODE_HYBRID"), json!(null)] {
            assert_eq!(
                refusal(json!({"query": "q", "mode": mode})),
                "`mode` must be one of `hybrid`, `bm25`, `dense`"
            );
        }
        assert_eq!(refusal(json!({"query": "q", "verify": "true"})), "`verify` must be true or false");
        assert_eq!(refusal(json!([])), "a request must be a JSON object");
    }

    #[test]
    fn answers_write_every_field_and_nothing_null() {
        let hit = Hit {
            score_scale: crate::v1::ScoreScale::Bm25.into(),
            verdict: Verdict::Drifted.into(),
            ..Hit::default()
        };
        let json = answer(&hit).expect("writable");
        assert_eq!(
            json,
            json!({
                "chunk_id": "", "document_id": "", "footnote": "", "score": 0.0, "score_scale": "bm25",
                "heading_path": [], "verdict": "drifted", "reason": "", "tags": [],
                "neighbors": [], "highlights": [], "also_at": [], "copies": 0
            })
        );
    }

    #[test]
    fn unspecified_is_never_sent() {
        assert_eq!(answer(&SearchResponse::default()), None);
        let response = Collection { modes: vec![Mode::Unspecified.into()], ..Collection::default() };
        assert_eq!(answer(&response), None);
    }

    #[test]
    fn numbers_that_json_lacks_are_never_sent() {
        let hit = Hit {
            score: f64::NAN,
            score_scale: crate::v1::ScoreScale::Bm25.into(),
            verdict: Verdict::Verified.into(),
            ..Hit::default()
        };
        assert_eq!(answer(&hit), None);
        let hit = Hit { score: 1.0, dense_score: Some(f64::INFINITY), ..hit };
        assert_eq!(answer(&hit), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let collection = Collection {
            modes: vec![Mode::Bm25.into(), Mode::Hybrid.into()],
            chunks: 7,
            ..Collection::default()
        };
        let json = answer(&collection).expect("writable");
        assert_eq!(json["modes"], json!(["bm25", "hybrid"]));
        assert_eq!(serde_json::from_value::<Collection>(json).expect("readable"), collection);
        let later = json!({"collection": "c", "of_a_later_version": true});
        assert!(serde_json::from_value::<FetchChunkResponse>(later).is_ok());
    }
}
