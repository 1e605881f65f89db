//! Why a configuration's text is left alone.

use super::entry::NAME;

/// What is unusual about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusual {
    /// It is not what its client writes.
    #[error("it cannot be understood ({0})")]
    Syntax(String),
    /// What should hold the servers does not.
    #[error("{0} is not {1}")]
    Shape(String, &'static str),
    /// A key of interest stands twice, and only one of them counts.
    #[error("`{0}` stands there twice")]
    Twice(String),
    /// Our name is taken.
    #[error("it has an entry `{NAME}` that was made by hand")]
    Foreign,
    /// Our words would not mean there what they should.
    #[error("a path has `${{` in it, which would be replaced")]
    Template,
}
