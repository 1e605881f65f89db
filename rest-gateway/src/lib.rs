//! `footnote-rest`.
