//! `footnote-rest`.
fn main() {}
