//! What is asked and what answers it: queries as JSON lines, grades by document as tab-separated lines.
//!
//! ```text
//! queries.jsonl   {"id": "q1", "text": "how long are backups kept"}
//! qrels.tsv       q1 <tab> backup-policy <tab> 2          query, document, grade; or TREC's four columns
//! ```
//!
//! A grade above 0 makes a document relevant, and more so the higher it is. Negative grades, by which some collections
//! mark a query's own source, are 0.
//!
//! Deliberately left out: which file a document's name means (`corpus`), and judgments by quotation (`quotes`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its name, unique within a run.
    pub id: String,
    /// What is asked.
    pub text: String,
}

/// Grades by query and by what was judged; 0 is judged and not relevant.
pub type Grades = BTreeMap<String, BTreeMap<String, u32>>;

/// A line of queries.
#[derive(Deserialize)]
struct QueryLine {
    id: Value,
    text: String,
}

/// The queries in the file at `path`, in its order. Other fields of a line are not looked at.
pub fn read_queries(path: &Path) -> Result<Vec<Query>> {
    let mut queries = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (line, text) in lines(path)? {
        let bad = bad_line(path, line);
        let parsed: QueryLine = serde_json::from_str(&text).map_err(|error| {
            bad(format!("{}; write an object a line: {{\"id\": \"q1\", \"text\": \"…\"}}", cause(&error)))
        })?;
        let id = id(&parsed.id).map_err(&bad)?;
        if parsed.text.trim().is_empty() {
            return Err(bad(format!("the query {id} has no text; write what is asked, or remove the line")));
        }
        if let Some(first) = first.insert(id.clone(), line) {
            return Err(bad(format!("the query {id} stands in line {first} already; give each its own id")));
        }
        queries.push(Query { id, text: parsed.text });
    }
    Ok(queries)
}

/// The grades in the file at `path`. A first line of column names is none.
pub fn read_grades(path: &Path) -> Result<Grades> {
    let mut grades = Grades::new();
    for (line, text) in lines(path)? {
        let bad = bad_line(path, line);
        let columns: Vec<&str> = if text.contains('\t') {
            text.split('\t').map(str::trim).collect()
        } else {
            text.split_whitespace().collect()
        };
        let ([query, document, grade] | [query, _, document, grade]) = columns[..] else {
            let number = columns.len();
            return Err(bad(format!("{number} columns; write query, document and grade, tabs between them")));
        };
        let Ok(parsed) = grade.parse::<i32>() else {
            if line == 1 && grade.chars().all(char::is_alphabetic) {
                continue;
            }
            return Err(bad(format!("the grade {grade:?} is no whole number; write 0, 1, 2 …")));
        };
        let parsed = u32::try_from(parsed).unwrap_or(0);
        let before = grades.entry(query.to_owned()).or_default().insert(document.to_owned(), parsed);
        if let Some(before) = before.filter(|before| *before != parsed) {
            return Err(bad(format!(
                "{document} was given the grade {before} for {query} before; keep one of the lines"
            )));
        }
    }
    Ok(grades)
}

/// The lines of a text file that are not blank, with their numbers, from 1.
pub(super) fn lines(path: &Path) -> Result<Vec<(usize, String)>> {
    let bytes = fs::read(path).map_err(Error::file("read", path))?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let line = std::str::from_utf8(line)
            .map_err(|_| bad_line(path, number)("it is not UTF-8; store the file as UTF-8".to_owned()))?;
        if !line.trim().is_empty() {
            lines.push((number, line.trim_end_matches('\r').to_owned()));
        }
    }
    Ok(lines)
}

/// For `map_err`: what is wrong with a line of the file at `path`, and what to do.
pub(super) fn bad_line(path: &Path, line: usize) -> impl Fn(String) -> Error {
    let path = path.to_owned();
    move |what| Error::BadLine { path: path.clone(), line, what }
}

/// An id as it is written in JSON: a text, or a whole number.
pub(super) fn id(id: &Value) -> Result<String, String> {
    match id {
        Value::String(id) if !id.trim().is_empty() => Ok(id.clone()),
        Value::Number(id) if id.is_u64() => Ok(id.to_string()),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            Err("`id` is no name; write a text that is not empty, or a whole number".to_owned())
        }
    }
}

/// What serde says, without the position within the line, which it calls line 1.
pub(super) fn cause(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(cause, _)| cause.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: impl AsRef<[u8]>) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    fn fault<T: std::fmt::Debug>(result: Result<T>) -> (usize, String) {
        match result {
            Err(Error::BadLine { line, what, .. }) => (line, what),
            other => panic!("no line is at fault: {other:?}"),
        }
    }

    #[test]
    fn queries_keep_their_order() {
        let file = file(
            "\u{feff}{\"id\": \"b\", \"text\": \"two\"}\r\n\n{\"id\": 7, \"text\": \"one\", \"more\": 1}\n",
        );
        let queries = read_queries(file.path()).unwrap();
        let pairs: Vec<_> = queries.iter().map(|query| (&*query.id, &*query.text)).collect();
        assert_eq!(pairs, [("b", "two"), ("7", "one")]);
    }

    #[test]
    fn a_bad_query_is_named_by_its_line() {
        for (text, line, word) in [
            ("{\"id\": \"a\", \"text\": \"x\"}\n\n{\"id\": \"b\"}", 3, "text"),
            ("{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"a\", \"text\": \"y\"}", 2, "line 1"),
            ("{\"id\": \"a\", \"text\": \"  \"}", 1, "no text"),
            ("{\"id\": null, \"text\": \"x\"}", 1, "`id`"),
            ("what is this", 1, "an object a line"),
        ] {
            let (found, what) = fault(read_queries(file(text).path()));
            assert_eq!(found, line, "{text}: {what}");
            assert!(what.contains(word) && !what.contains("column"), "{text}: {what}");
        }
        let (line, what) = fault(read_queries(file(b"{\"id\": 1, \"text\": \"x\"}\n\xff\n").path()));
        assert!(line == 2 && what.contains("UTF-8"), "{line}: {what}");
    }

    #[test]
    fn grades_are_read_in_three_columns_or_four() {
        for text in [
            "qid\tdocid\tgrade\nq\ta b\t2\nq\tc\t-1\n",
            "q\t0\ta b\t2\nq\tQ0\tc\t0\n",
            "q\ta b\t2\nq\tc\t0\nq\tc\t0",
        ] {
            let grades = read_grades(file(text).path()).unwrap();
            let expected: BTreeMap<_, _> = [("a b".to_owned(), 2), ("c".to_owned(), 0)].into();
            assert_eq!(grades, Grades::from([("q".to_owned(), expected)]), "{text}");
        }
        let spaces = read_grades(file("q 0 a 1").path()).unwrap();
        assert_eq!(spaces["q"]["a"], 1);
    }

    #[test]
    fn a_bad_grade_is_named_by_its_line() {
        for (text, line, word) in [
            ("q\ta\t1\nq\ta\t2", 2, "keep one"),
            ("q\ta\t1\nq\tb\thigh", 2, "whole number"),
            ("q\ta\t1.5", 1, "whole number"),
            ("q\ta", 1, "2 columns"),
        ] {
            let (found, what) = fault(read_grades(file(text).path()));
            assert_eq!(found, line, "{text}: {what}");
            assert!(what.contains(word), "{text}: {what}");
        }
    }
}
