//! Front matter: what a Markdown document says of itself before it begins, as YAML between `---` or TOML between `+++`.
//!
//! It is set aside whole and never ranked as prose. One that is broken is a warning, and the text behind it is a document
//! like any other. Deliberately left out: every field but title, tags and dates.

mod date;

use std::collections::BTreeMap;

/// Front matter longer than this is taken for text: a rule at the beginning and another one a book later.
const LONGEST: usize = 64 * 1024;

/// Tags beyond this many are left out.
const MOST_TAGS: usize = 64;

/// Characters of a title or a tag beyond this many are left out.
const LONGEST_WORDS: usize = 300;

/// What a document says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// How many bytes it takes, delimiters and the line end behind them included; 0 where there is none.
    pub bytes: usize,
    /// `title`.
    pub title: Option<String>,
    /// `tags` or `keywords`: a list, or words between commas. Each once, in order.
    pub tags: Vec<String>,
    /// `date` or `created`, RFC 3339: a date, or a time in UTC.
    pub date: Option<String>,
    /// `updated`, `lastmod`, `ms.date` and their like, RFC 3339.
    pub updated: Option<String>,
    /// What was not understood, as sentences.
    pub warnings: Vec<String>,
}

const TITLE: &[&str] = &["title"];
const TAGS: &[&str] = &["tags", "tag", "keywords"];
const DATE: &[&str] =
    &["date", "created", "created_at", "creationdate", "published", "publishdate", "pubdate"];
const UPDATED: &[&str] = &[
    "updated",
    "updated_at",
    "lastmod",
    "last_modified",
    "last_updated",
    "lastupdated",
    "modified",
    "ms.date",
];

/// Reads the front matter at the beginning of `text`, which is without a byte order mark.
pub fn read(text: &str) -> FrontMatter {
    let Some(block) = Block::at_beginning(text) else {
        return FrontMatter::default();
    };
    match block.fields() {
        Ok(Some(fields)) => {
            let mut front_matter = FrontMatter { bytes: block.bytes, ..FrontMatter::default() };
            front_matter.take(&fields);
            front_matter
        }
        Err(problem) if block.looks_like_fields() => FrontMatter {
            bytes: block.bytes,
            warnings: vec![format!("the front matter was not understood and is left out: {problem}")],
            ..FrontMatter::default()
        },
        Ok(None) | Err(_) => FrontMatter::default(),
    }
}

impl FrontMatter {
    fn take(&mut self, fields: &Fields) {
        self.title = first(fields, TITLE).and_then(Value::words);
        let tags = TAGS.iter().filter_map(|name| fields.get(*name)).flat_map(Value::tags);
        for tag in tags {
            if self.tags.len() < MOST_TAGS && !self.tags.contains(&tag) {
                self.tags.push(tag);
            }
        }
        self.date = self.date_of(fields, DATE);
        self.updated = self.date_of(fields, UPDATED);
    }

    /// The first of the fields `names` that is a date; those that are none are warned of.
    fn date_of(&mut self, fields: &Fields, names: &[&str]) -> Option<String> {
        for name in names {
            let Some(words) = fields.get(*name).and_then(Value::words) else { continue };
            match date::rfc3339(&words) {
                Some(date) => return Some(date),
                None => self.warnings.push(format!("`{name}` in the front matter is not a date: {words:?}")),
            }
        }
        None
    }
}

/// Fields by their names in lower case.
type Fields = BTreeMap<String, Value>;

fn first<'a>(fields: &'a Fields, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| fields.get(*name))
}

/// What a field holds, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Words(String),
    List(Vec<String>),
    Other,
}

impl Value {
    fn words(&self) -> Option<String> {
        match self {
            Self::Words(words) => trimmed(words),
            Self::List(_) | Self::Other => None,
        }
    }

    fn tags(&self) -> Vec<String> {
        match self {
            Self::Words(words) => words.split([',', '，']).filter_map(trimmed).collect(),
            Self::List(list) => list.iter().filter_map(|tag| trimmed(tag)).collect(),
            Self::Other => Vec::new(),
        }
    }

    fn of_json(value: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match value {
            Json::String(words) => Self::Words(words),
            Json::Number(number) => Self::Words(number.to_string()),
            Json::Bool(word) => Self::Words(word.to_string()),
            Json::Array(list) => {
                Self::List(list.into_iter().map(Self::of_json).filter_map(|value| value.words()).collect())
            }
            Json::Null | Json::Object(_) => Self::Other,
        }
    }

    fn of_toml(value: toml::Value) -> Self {
        match value {
            toml::Value::String(words) => Self::Words(words),
            toml::Value::Array(list) => {
                Self::List(list.into_iter().map(Self::of_toml).filter_map(|value| value.words()).collect())
            }
            toml::Value::Datetime(date) => Self::Words(date.to_string()),
            toml::Value::Integer(number) => Self::Words(number.to_string()),
            toml::Value::Float(number) => Self::Words(number.to_string()),
            toml::Value::Boolean(word) => Self::Words(word.to_string()),
            toml::Value::Table(_) => Self::Other,
        }
    }
}

/// Words without white space around them and line ends within; `None` where none are left.
fn trimmed(words: &str) -> Option<String> {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then(|| words.chars().take(LONGEST_WORDS).collect())
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Yaml,
    Toml,
}

/// The text between two delimiters at the beginning.
struct Block<'a> {
    language: Language,
    inner: &'a str,
    bytes: usize,
}

impl<'a> Block<'a> {
    fn at_beginning(text: &'a str) -> Option<Self> {
        let mut lines = crate::chunk::lines(text, 0);
        let (_, opening) = lines.next()?;
        let language = match opening.trim_end() {
            "---" => Language::Yaml,
            "+++" => Language::Toml,
            _ => return None,
        };
        for (at, line) in lines {
            if at > LONGEST {
                return None;
            }
            let closes = match language {
                Language::Yaml => matches!(line.trim_end(), "---" | "..."),
                Language::Toml => line.trim_end() == "+++",
            };
            if closes {
                return Some(Self { language, inner: &text[opening.len()..at], bytes: at + line.len() });
            }
        }
        None
    }

    /// The fields; `None` where it is well written and yet holds no fields, as a sentence between two rules does.
    fn fields(&self) -> Result<Option<Fields>, String> {
        match self.language {
            Language::Yaml => self.yaml(),
            Language::Toml => {
                let table: toml::Table =
                    toml::from_str(self.inner).map_err(|error| one_line(error.message()))?;
                Ok(Some(
                    table
                        .into_iter()
                        .map(|(name, value)| (name.to_lowercase(), Value::of_toml(value)))
                        .collect(),
                ))
            }
        }
    }

    fn yaml(&self) -> Result<Option<Fields>, String> {
        if self.inner.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Ok(Some(Fields::new()));
        }
        // A lone CR ends a line for people; for YAML as it is read here, only with them replaced.
        let inner = self.inner.replace("\r\n", "\n").replace('\r', "\n");
        let value: serde_json::Value = serde_saphyr::from_str_with_options(&inner, bounded())
            .map_err(|error| one_line(&error.to_string()))?;
        match value {
            serde_json::Value::Object(fields) => Ok(Some(
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_lowercase(), Value::of_json(value)))
                    .collect(),
            )),
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::String(_)
            | serde_json::Value::Array(_) => Ok(None),
        }
    }

    /// Whether most of its lines that begin something begin a field: otherwise it is text between two rules.
    fn looks_like_fields(&self) -> bool {
        let begins =
            |line: &&str| !line.trim().is_empty() && !line.starts_with([' ', '\t', '-', '#', '[', ']', '}']);
        let is_field = |line: &&str| {
            let name = line.split([':', '=']).next().unwrap_or_default().trim();
            name.len() < line.trim_end().len()
                && !name.is_empty()
                && name.chars().all(|character| character.is_alphanumeric() || "_-. \"'".contains(character))
                && name.split(' ').count() <= 3
        };
        let lines: Vec<&str> = self.inner.lines().filter(begins).collect();
        let fields = lines.iter().copied().filter(|line| is_field(line)).count();
        fields > 0 && fields * 2 >= lines.len()
    }
}

/// Limits for what a stranger wrote: nesting, repetition by aliases, sheer number.
fn bounded() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_nodes: 10_000,
            max_events: 40_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 20_000 },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    }
}

fn one_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> (Option<String>, Vec<String>, Option<String>, Option<String>) {
        let FrontMatter { title, tags, date, updated, warnings, bytes } = read(text);
        assert_eq!(warnings, Vec::<String>::new(), "{text:?}");
        assert_eq!(&text[bytes..], "Body.\n", "{text:?}");
        (title, tags, date, updated)
    }

    fn owned(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn yaml_and_toml_give_title_tags_and_dates() {
        let yaml = "---\ntitle: \"On: backups\"\ntags: [db, ops, db]\ndate: 2024-05-01\nlastmod: 2024-05-02T10:00:00+02:00\n---\nBody.\n";
        let expected = (
            Some(owned("On: backups")),
            vec!["db".to_owned(), "ops".to_owned()],
            Some(owned("2024-05-01")),
            Some(owned("2024-05-02T08:00:00Z")),
        );
        assert_eq!(fields(yaml), expected);
        assert_eq!(fields(&yaml.replace('\n', "\r\n").replace("Body.\r\n", "Body.\n")), expected);
        assert_eq!(fields(&yaml.replace('\n', "\r").replace("Body.\r", "Body.\n")), expected);
        let toml = "+++\ntitle = \"On: backups\"\ntags = [\"db\", \"ops\"]\ndate = 2024-05-01\nupdated = 2024-05-02T10:00:00+02:00\n+++\nBody.\n";
        assert_eq!(fields(toml), expected);
    }

    #[test]
    fn other_names_and_forms_are_known() {
        let text =
            "---\nms.date: 01/07/2025\nkeywords: one, two words,,\nschema: 2.0.0\nTitle: 5\n---\nBody.\n";
        let tags = vec!["one".to_owned(), "two words".to_owned()];
        assert_eq!(fields(text), (Some(owned("5")), tags, None, Some(owned("2025-01-07"))));
        assert_eq!(fields("---\n---\nBody.\n"), (None, Vec::new(), None, None));
        assert_eq!(fields("---\n# none\n...\nBody.\n"), (None, Vec::new(), None, None));
        assert_eq!(fields("---\ntags:\n  - a\n  - 2\nauthor: {name: x}\n---\nBody.\n").1, ["a", "2"]);
    }

    #[test]
    fn broken_front_matter_is_a_warning_and_set_aside() {
        for text in [
            "---\ntitle: \"never closed\ntags: [a\n---\nBody.\n",
            "---\ntitle: a: b: c\n\tx: y\n---\nBody.\n",
            "+++\ntitle = never quoted\n+++\nBody.\n",
        ] {
            let front_matter = read(text);
            assert_eq!(front_matter.warnings.len(), 1, "{text:?}");
            assert_eq!(&text[front_matter.bytes..], "Body.\n", "{text:?}");
            assert_eq!(front_matter.title, None);
        }
        let odd_date = read("---\ntitle: a\ndate: soon\n---\n");
        assert_eq!(odd_date.title, Some(owned("a")));
        assert_eq!(odd_date.warnings.len(), 1);
    }

    #[test]
    fn text_between_rules_is_text() {
        for text in [
            "",
            "---",
            "---\nNo end",
            "---\nA sentence between rules.\n---\nBody.\n",
            "---\n- a list\n- between rules\n---\n",
            "---\n> *Quoted*: a [link](x)\n\nAnd prose: this\nis, not fields: at all.\n---\n",
            "----\ntitle: a\n----\n",
            " ---\ntitle: a\n---\n",
        ] {
            assert_eq!(read(text), FrontMatter::default(), "{text:?}");
        }
        let long = format!("---\n{}---\n", "word: more\n".repeat(10_000));
        assert_eq!(read(&long), FrontMatter::default());
    }

    #[test]
    fn bombs_are_defused() {
        let mut bomb = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb = format!("{bomb}a{level}: &a{level} [{aliases}]\n");
        }
        bomb.push_str("---\nBody.\n");
        assert_eq!(read(&bomb).warnings.len(), 1);
        let deep = format!("---\na: {}{}\n---\nBody.\n", "[".repeat(20_000), "]".repeat(20_000));
        assert_eq!(read(&deep).warnings.len(), 1);
    }
}
