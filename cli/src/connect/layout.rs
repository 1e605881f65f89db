//! How a piece of JSON is laid out: like what stands around it.

use serde_json::Value;

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// A string.
    Text(String),
    /// A list of strings, always on one line.
    List(Vec<String>),
    /// An object, in this order.
    Object(Vec<(&'static str, Tree)>),
}

/// How the members of an object are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each on a line of its own.
    Lines {
        /// What the line begins with.
        indent: String,
        /// What the lines of an object within it begin with besides.
        unit: String,
        /// What ends a line.
        newline: &'static str,
    },
    /// All on one line.
    Inline {
        /// What follows a comma or colon.
        space: &'static str,
    },
}

impl Layout {
    /// How the members of an object are laid out that is itself a member.
    pub(crate) fn deeper(&self) -> Self {
        match self {
            Self::Lines { indent, unit, newline } => {
                Self::Lines { indent: format!("{indent}{unit}"), unit: unit.clone(), newline }
            }
            Self::Inline { .. } => self.clone(),
        }
    }

    /// What stands before a member.
    pub(crate) fn lead(&self) -> String {
        match self {
            Self::Lines { indent, newline, .. } => format!("{newline}{indent}"),
            Self::Inline { space } => (*space).to_owned(),
        }
    }

    /// A member.
    pub(crate) fn member(&self, name: &str, tree: &Tree) -> String {
        format!("{}:{}{}", quoted(name), self.colon_space(), self.value(tree))
    }

    /// A member's value.
    pub(crate) fn value(&self, tree: &Tree) -> String {
        match tree {
            Tree::Text(text) => quoted(text),
            Tree::List(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(&format!(",{}", self.colon_space())))
            }
            Tree::Object(members) => self.object(members),
        }
    }

    fn object(&self, members: &[(&'static str, Tree)]) -> String {
        let inner = self.deeper();
        let members: Vec<_> = members.iter().map(|(name, tree)| inner.member(name, tree)).collect();
        match self {
            Self::Lines { .. } => {
                format!("{{{}{}{}}}", inner.lead(), members.join(&format!(",{}", inner.lead())), self.lead())
            }
            Self::Inline { space } => format!("{{{}}}", members.join(&format!(",{space}"))),
        }
    }

    fn colon_space(&self) -> &'static str {
        match self {
            Self::Lines { .. } => " ",
            Self::Inline { space } => space,
        }
    }
}

/// What ends the lines of a text: what ends its first.
pub(crate) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
